package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Plain is a matrix that lies in memory as it is: element (i, j) of a batch is
// Param[Base + i*Row + j*Col]. Base depends on sizes and the batch, Row and
// Col on sizes alone.
type Plain struct {
	Param          int
	Base, Row, Col *loop.Expr
}

// Batched takes Base apart: where the first batch begins, and elements from one
// to the next, both of sizes alone. It is false where batches lie otherwise.
func (p Plain) Batched(g *Gemm) (first, apart *loop.Expr, ok bool) {
	first, apart, ok = loop.Affine(p.Base, g.Batch)
	return first, apart, ok && !varies(first) && !varies(apart)
}

// PlainX tells whether X(row, k) is a Plain.
func (g *Gemm) PlainX() (Plain, bool) { return g.plainLoad(g.X, g.Row, g.Inner) }

// PlainY tells whether Y(k, col) is a Plain.
func (g *Gemm) PlainY() (Plain, bool) { return g.plainLoad(g.Y, g.Inner, g.Col) }

// TurnedX tells whether X, but for widening, lies by columns: its rows side by
// side.
func (g *Gemm) TurnedX() bool {
	x := g.X
	for x.Kind == loop.KindApply && x.Op == ir.Cast {
		x = x.Args[0]
	}
	if x.Kind != loop.KindLoad || len(x.Args) != 1 {
		return false
	}
	rest, row, ok := loop.Affine(x.Args[0], g.Row)
	if !ok || !row.IsInt(1) {
		return false
	}
	_, k, ok := loop.Affine(rest, g.Inner)
	return !ok || !k.IsInt(1)
}

// Bare tells whether the epilogue does no more than store the sums.
func (g *Gemm) Bare() bool {
	if len(g.Epilogue) != 1 {
		return false
	}
	s, ok := g.Epilogue[0].(*loop.Store)
	return ok && s.Valid == nil && s.Value.Kind == loop.KindLocal && s.Value.Local == g.Acc
}

// StoreAt tells where the last store of the epilogue goes, whatever it stores.
func (g *Gemm) StoreAt() (Plain, bool) {
	if n := len(g.Epilogue); n > 0 {
		if s, ok := g.Epilogue[n-1].(*loop.Store); ok {
			return g.plain(s.Param, s.Index, g.Row, g.Col)
		}
	}
	return Plain{}, false
}

// Beside is a matrix of elements as long as sums that the epilogue reads at the place
// of each result, such as a residual: the first whose rows lie apart from each
// other and whose columns side by side.
func (g *Gemm) Beside() (p Plain, ok bool) {
	size := g.DType.Compute().Size()
	look := func(e *loop.Expr) {
		at, plain := g.plainLoad(e, g.Row, g.Col)
		if plain && !ok && e.DType.Size() == size && at.Col.IsInt(1) && !at.Row.IsInt(0) {
			p, ok = at, true
		}
	}
	for _, s := range g.Epilogue {
		switch s := s.(type) {
		case *loop.Set:
			s.Value.Walk(look)
		case *loop.Store:
			s.Value.Walk(look)
		}
	}
	return p, ok
}

func (g *Gemm) plainLoad(e *loop.Expr, row, col *loop.Var) (Plain, bool) {
	if e.Kind != loop.KindLoad || len(e.Args) != 1 {
		return Plain{}, false
	}
	return g.plain(e.Param, e.Args[0], row, col)
}

func (g *Gemm) plain(param int, index *loop.Expr, row, col *loop.Var) (Plain, bool) {
	p := Plain{Param: param}
	rest, c, ok := loop.Affine(index, col)
	if !ok {
		return p, false
	}
	base, r, ok := loop.Affine(rest, row)
	if !ok {
		return p, false
	}
	p.Base, p.Row, p.Col = base, r, c
	return p, !varies(r) && !varies(c) && !variesBut(base, g.Batch)
}

func varies(e *loop.Expr) bool { return variesBut(e, nil) }

// variesBut tells whether e needs more than sizes and v.
func variesBut(e *loop.Expr, v *loop.Var) bool {
	found := false
	e.Walk(func(x *loop.Expr) {
		switch x.Kind {
		case loop.KindConst, loop.KindSize:
		case loop.KindVar:
			found = found || v == nil || x.Var != v
		case loop.KindApply:
			switch x.Op {
			case ir.Add, ir.Sub, ir.Mul, ir.IDiv, ir.Mod, ir.Min, ir.Max:
				found = found || x.DType != ir.I64
			default:
				found = true
			}
		default:
			found = true
		}
	})
	return found
}
