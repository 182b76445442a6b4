package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The methods of this file are for machines that have instructions for matrices,
// whose emitters go through the keys themselves.

// Apart is t with rows of dense operands taken apart: where an index divides Row
// by the length of a sequence it names Seq and I instead. Ragged ones are as they
// were.
func (t *Attention) Apart() *Attention {
	if t.Attr.Ragged {
		return t
	}
	a := *t
	operand := func(e *loop.Expr, length ir.Dim) *loop.Expr {
		return loop.Rewrite([]loop.Stmt{&loop.Set{Value: e}}, t.apart(length))[0].(*loop.Set).Value
	}
	a.Q, a.K, a.V = operand(t.Q, t.QLen), operand(t.K, t.KLen), operand(t.V, t.KLen)
	a.Epilogue = loop.Rewrite(t.Epilogue, t.apart(t.QLen))
	if t.Sums != nil {
		a.Sums = loop.Rewrite(t.Sums, t.apart(t.QLen))
	}
	return &a
}

// Scored is the score of a product of q and k, without the mask.
func (t *Attention) Scored(product *loop.Expr) *loop.Expr {
	c := &attentionLoops{Attention: t, ct: t.DType.Compute()}
	return c.scaled(product)
}

// Bare is t with operands as they are before they are widened to f32.
func (t *Attention) Bare() *Attention {
	a := *t
	for _, e := range []**loop.Expr{&a.Q, &a.K, &a.V} {
		if x := *e; x.Kind == loop.KindApply && x.Op == ir.Cast && x.DType == ir.F32 && holdsHalf(x.Args[0].DType) {
			*e = x.Args[0]
		}
	}
	return &a
}

func holdsHalf(d ir.DType) bool { return d == ir.F16 || d == ir.BF16 }
