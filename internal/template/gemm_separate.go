package template

import "github.com/sinterml/sinter/internal/loop"

// Separate is a matrix of which element (i, j) of a batch is Param[Base + Row(i) +
// Col(j)]: the windows of a convolution, for example, whose places and steps are counted
// by quotients. Base depends on sizes and the batch, Row and Col on sizes and the
// matrix's own variable of that axis.
type Separate struct {
	Param          int
	Base, Row, Col *loop.Expr
}

// SeparateY tells whether Y(k, col) is a Separate, read without a condition or a
// conversion. Every Plain is one.
func (g *Gemm) SeparateY() (s Separate, ok bool) {
	if g.Y.Kind != loop.KindLoad || len(g.Y.Args) != 1 {
		return Separate{}, false
	}
	rest, row, col, ok := loop.Separate(g.Y.Args[0], g.Inner, g.Col)
	if !ok || variesBut(rest, g.Batch) || variesBut(row, g.Inner) || variesBut(col, g.Col) {
		return Separate{}, false
	}
	return Separate{g.Y.Param, rest, row, col}, true
}
