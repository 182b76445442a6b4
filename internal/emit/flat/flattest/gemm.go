package flattest

import (
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Sizes are those of a product of matrices, batch by batch.
type Sizes struct{ Batch, Rows, Cols, K int }

// Gemm makes a product of type d, out = tanh(x y) for f32 and x y else, with its
// arguments. The number of rows is a symbol; turned says that both operands lie
// the other way round.
func Gemm(rng *rand.Rand, d ir.DType, s Sizes, turned bool) (*template.Gemm, *loop.Args) {
	return GemmLying(rng, d, s, turned, turned)
}

// GemmLying is Gemm, with a way to lie for each operand.
func GemmLying(rng *rand.Rand, d ir.DType, s Sizes, turnedX, turnedY bool) (*template.Gemm, *loop.Args) {
	rows := ir.Sym("n", 0, 4096)
	g := &template.Gemm{Name: "product", DType: d, BatchSize: ir.N(s.Batch), Rows: rows, Cols: ir.N(s.Cols), K: ir.N(s.K),
		Batch: &loop.Var{Name: "b"}, Row: &loop.Var{Name: "m"}, Col: &loop.Var{Name: "n"}, Inner: &loop.Var{Name: "k"}, Acc: &loop.Local{Name: "acc", DType: d}}
	// at is element [batch, row, col] of an array with so many columns.
	at := func(row, col *loop.Var, height, width ir.Dim) *loop.Expr {
		first := loop.MulIndex(g.Batch.Ref(), loop.SizeOf(height.Mul(width)))
		return loop.AddIndex(loop.AddIndex(first, loop.MulIndex(row.Ref(), loop.SizeOf(width))), col.Ref())
	}
	k, cols := ir.N(s.K), ir.N(s.Cols)
	x, y := at(g.Row, g.Inner, rows, k), at(g.Inner, g.Col, k, cols)
	if turnedX {
		x = at(g.Inner, g.Row, k, rows)
	}
	if turnedY {
		y = at(g.Col, g.Inner, cols, k)
	}
	g.X, g.Y = loop.Load(0, d, x, nil), loop.Load(1, d, y, nil)
	value := g.Acc.Ref()
	if d == ir.F32 {
		value = loop.Apply(ir.Tanh, d, value)
	}
	g.Epilogue = []loop.Stmt{&loop.Store{Param: 2, Index: at(g.Row, g.Col, rows, cols), Value: value}}
	a := &loop.Args{Sizes: ir.Env{"n": s.Rows}}
	a.End = s.Batch
	for i, size := range []ir.Dim{rows.Mul(k), k.Mul(cols), rows.Mul(cols)} {
		use := loop.Read
		if i == 2 {
			use = loop.Write
		}
		size = size.Mul(ir.N(s.Batch))
		g.Params = append(g.Params, loop.Param{Name: string("xyo"[i]), DType: d, Len: size, Use: use})
		n, _ := size.Eval(a.Sizes) // n is bound
		b := make([]byte, n*d.Size())
		for at := 0; use == loop.Read && at < len(b); at += d.Size() {
			v := rng.Uint64()
			if d.IsFloat() {
				v, _ = ir.Bits(d, rng.NormFloat64()) // floats round
			}
			for i := range d.Size() {
				b[at+i] = byte(v >> (8 * i))
			}
		}
		a.Buffers = append(a.Buffers, b)
	}
	return g, a
}

// Tasks is how many tasks the product has on groups with such tiles: what a launch runs.
func Tasks(s Sizes, rows, cols int) int {
	return s.Batch * ((s.Rows + rows - 1) / rows) * ((s.Cols + cols - 1) / cols)
}
