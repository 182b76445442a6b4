package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Format is how operands of a product are packed: into lanes of 32 bits, each
// with the values of one or more successive k.
type Format uint8

const (
	Single Format = iota // one value of the dtype that sums have
	BF16                 // two values of bf16, widened to f32 by the product
	Bytes                // four: u8 of X, i8 of Y, widened to i32
)

// Group is the values of k in a lane.
func (f Format) Group() int { return [...]int{1, 2, 4}[f] }

func (f Format) String() string { return [...]string{"f32", "bf16", "int8"}[f] }

// laneType is the dtype of panels of lanes, for sums of a dtype.
func (f Format) laneType(sums ir.DType) ir.DType {
	if f == Single {
		return sums.Compute()
	}
	return ir.U32
}

// FormatOf is the format of operands of dtypes x and y that are widened to the
// dtype of sums.
func FormatOf(sums, x, y ir.DType) Format {
	switch {
	case sums == ir.F32 && x == ir.BF16 && y == ir.BF16:
		return BF16
	case sums == ir.I32 && x == ir.U8 && y == ir.I8:
		return Bytes
	}
	return Single
}

// Format is the narrowest in which nothing is lost: operands whose last step is
// to widen a shorter type are as good before it.
func (g *Gemm) Format() Format {
	for _, e := range []*loop.Expr{g.X, g.Y} {
		if e.Kind != loop.KindApply || e.Op != ir.Cast {
			return Single
		}
	}
	return FormatOf(g.DType, g.X.Args[0].DType, g.Y.Args[0].DType)
}

// Narrow is g with operands in a format that it has: those before widening.
func (g *Gemm) Narrow(f Format) *Gemm {
	if f == Single {
		return g
	}
	narrow := *g
	narrow.X, narrow.Y = g.X.Args[0], g.Y.Args[0]
	return &narrow
}

// Halves tells whether memory has less than a byte for each value of Y: those of
// two successive k come of the same elements. Then Y is not to be kept as packed,
// which would take a multiple of that.
func (g *Gemm) Halves() bool {
	step := (&loop.Var{Name: "step"}).Ref()
	at := func(index *loop.Expr, i int) *loop.Expr {
		k := loop.AddIndex(loop.MulIndex(step, loop.Int(2)), loop.Int(i))
		return loop.Fold(loop.Substitute(index, map[*loop.Var]*loop.Expr{g.Inner: k}))
	}
	some, all := false, true
	g.Y.Walk(func(e *loop.Expr) {
		if e.Kind == loop.KindLoad && e.Uses(g.Inner) {
			some, all = true, all && loop.SameIndex(at(e.Args[0], 0), at(e.Args[0], 1))
		}
	})
	return some && all
}

// lane joins the values of X or Y of one K step to a lane of u32, the first in
// the lowest bits; those behind the last k are 0.
func (g *Gemm) lane(f Format, value, step *loop.Expr, whole bool) *loop.Expr {
	group, size := f.Group(), loop.SizeOf(g.K)
	bits := 32 / group
	var lane *loop.Expr
	for i := range group {
		k := loop.AddIndex(loop.MulIndex(step, loop.Int(group)), loop.Int(i))
		at := k
		if !whole {
			at = loop.Apply(ir.Min, ir.I64, k, loop.AddIndex(size, loop.Int(-1)))
		}
		v := loop.Substitute(value, map[*loop.Var]*loop.Expr{g.Inner: at})
		unsigned := map[int]ir.DType{8: ir.U8, 16: ir.U16}[bits]
		if v.DType.IsFloat() {
			v = loop.Apply(ir.Bitcast, unsigned, v)
		}
		v = loop.Fold(loop.Apply(ir.Cast, ir.U32, convert(v, unsigned)))
		if !whole {
			inside := loop.Apply(ir.Less, ir.Bool, k, size)
			v = loop.Apply(ir.Where, ir.U32, inside, v, loop.Const(ir.U32, 0))
		}
		if i > 0 {
			v = loop.Apply(ir.Shl, ir.U32, v, loop.Const(ir.U32, uint64(bits*i)))
			v = loop.Apply(ir.Or, ir.U32, lane, v)
		}
		lane = v
	}
	return lane
}
