package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Format is what both products of t may be computed in: BF16 where q, k and v
// were widened from it, and rows of q and k are whole lanes. The logsumexp is
// then that of rounded weights, off by at most 2^-8.
func (t *Attention) Format() Format {
	if t.DType != ir.F32 || t.Width%BF16.Group() != 0 {
		return Single
	}
	for _, e := range []*loop.Expr{t.Q, t.K, t.V} {
		if short(e) == nil {
			return Single
		}
	}
	return BF16
}

// Widened is t, of f16 or bf16, with operands that were widened: its scores,
// weights and sums are f32, and each result is rounded once.
func (t *Attention) Widened() *Attention {
	wide := *t
	wide.DType = t.DType.Compute()
	c := &attentionLoops{Attention: &wide, ct: wide.DType}
	wide.Q, wide.K, wide.V = c.widen(t.Q), c.widen(t.K), c.widen(t.V)
	if t.Mask != nil {
		wide.Mask = c.widen(t.Mask)
	}
	return &wide
}

// Narrow is t with operands in a format that it has: those before widening.
func (t *Attention) Narrow(f Format) *Attention {
	if f == Single {
		return t
	}
	narrow := *t
	narrow.Q, narrow.K, narrow.V = short(t.Q), short(t.K), short(t.V)
	return &narrow
}

// short is an operand in bf16: before it was widened, or as it is; nil if it
// never was.
func short(e *loop.Expr) *loop.Expr {
	if e.Kind == loop.KindApply && e.Op == ir.Cast {
		e = e.Args[0]
	}
	if e.DType != ir.BF16 {
		return nil
	}
	return e
}
