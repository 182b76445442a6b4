package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// AttentionGrad computes the gradients with respect to q, k and v of an
// attention, without ever holding all scores. For a query and a key that it
// sees, ir.GradientOperands says what the gradient of their score is,
//
//	w  = exp(score - Logsumexp)
//	ds = w * (DOut*v - Delta) * slope of the soft cap * Scale
//
// and with it dq is the sum of ds*k over keys, dk that of ds*q and dv that of
// w*DOut over queries, and over the query heads that share a key head. Pairs
// that do not see each other, and rows with a Logsumexp of -Inf, add nothing,
// whatever they hold.
type AttentionGrad struct {
	Attention // but for Acc, LSE, Epilogue and Sums

	DOut             *loop.Expr // at (Row, Head, Lane)
	Logsumexp, Delta *loop.Expr // at (Row, Head)

	Grads [3]Gradient // of q, k and v
}

// PlainOperand tells whether q, k, v or DOut, in this order, is a PlainRows, and
// what type it has in memory: bf16 may become f32 as it is read.
func (t *AttentionGrad) PlainOperand(i int) (p PlainRows, d ir.DType, ok bool) {
	e := [...]*loop.Expr{t.Q, t.K, t.V, t.DOut}[i]
	if s := short(e); s != nil {
		e = s
	}
	p, ok = t.plainRows(e, [...]ir.Dim{t.QLen, t.KLen, t.KLen, t.QLen}[i])
	return p, e.DType, ok
}

// PlainResult tells whether the first memory that a gradient is written to is a
// PlainRows, and of what type.
func (t *AttentionGrad) PlainResult(i int) (p PlainRows, d ir.DType, ok bool) {
	for _, st := range t.Grads[i].Store {
		if st, is := st.(*loop.Store); is {
			d = t.Params[st.Param].DType
			p, ok = t.plainRows(loop.Load(st.Param, d, st.Index, nil), [...]ir.Dim{t.QLen, t.KLen, t.KLen}[i])
			return p, d, ok
		}
	}
	return p, d, false
}

// Gradient is what is done with a result: Store runs at (Row, Head, Lane), of
// keys and their heads for dk and dv, with the element in Acc. It is nil where
// nobody asks.
type Gradient struct {
	Acc   *loop.Local
	Store []loop.Stmt
}

// Wanted tells whether anyone asks for dq, dk or dv.
func (g *Gradient) Wanted() bool { return g.Store != nil }

// alone is 0 in the place of x, at (Row, Head), in rows that see nothing: an
// infinity would be NaN when it meets their weights.
func (t *AttentionGrad) alone(x *loop.Expr) *loop.Expr {
	lowest := loop.Const(t.Logsumexp.DType, ir.Lowest(t.Logsumexp.DType))
	none := loop.Apply(ir.Equal, ir.Bool, t.Logsumexp, lowest)
	return loop.Apply(ir.Where, x.DType, none, loop.Const(x.DType, 0), x)
}

// gradientPair is what the pair of a query and a key has.
type gradientPair struct {
	*attentionLoops
	t           *AttentionGrad
	none        *loop.Expr // the row sees nothing
	sums, delta *loop.Local
}

// newPair makes the row's own values, set by the statements.
func (t *AttentionGrad) newPair(c *attentionLoops, row map[*loop.Var]*loop.Expr) (*gradientPair, []loop.Stmt) {
	return t.pair(c, c.widen(loop.Substitute(t.Logsumexp, row)), c.widen(loop.Substitute(t.Delta, row)))
}

// pair is newPair with these values.
func (t *AttentionGrad) pair(c *attentionLoops, sums, delta *loop.Expr) (*gradientPair, []loop.Stmt) {
	p := &gradientPair{attentionLoops: c, t: t}
	p.sums, p.delta = &loop.Local{Name: "lse", DType: c.ct}, &loop.Local{Name: "delta", DType: c.ct}
	p.none = loop.Apply(ir.Equal, ir.Bool, p.sums.Ref(), c.number(math.Inf(-1)))
	return p, []loop.Stmt{&loop.Set{Local: p.sums, Value: sums}, &loop.Set{Local: p.delta, Value: delta}}
}

// weigh gives w and ds from the products q*k and DOut*v.
func (p *gradientPair) weigh(product, asked, mask *loop.Expr) (w, ds *loop.Expr) {
	limit := p.Attr.SoftCap
	scale, below := p.number(p.Attr.Scale), p.op(ir.Neg, p.sums.Ref())
	if limit == 0 && mask == nil {
		w = p.op(ir.FMA, product, scale, below)
	} else {
		w = p.op(ir.Mul, product, scale)
	}
	var slope *loop.Expr
	if limit != 0 {
		flat := p.op(ir.Tanh, p.op(ir.Div, w, p.number(limit)))
		w, slope = p.op(ir.Mul, p.number(limit), flat), p.op(ir.FMA, p.op(ir.Neg, flat), flat, p.number(1))
	}
	if mask != nil {
		w = p.op(ir.Add, w, mask)
	}
	if limit != 0 || mask != nil {
		w = p.op(ir.Add, w, below)
	}
	w = p.op(ir.Where, p.none, p.number(0), p.op(ir.Exp, w))
	ds = p.op(ir.Mul, w, p.op(ir.Sub, asked, p.delta.Ref()))
	if slope != nil {
		ds = p.op(ir.Mul, ds, slope)
	}
	return w, p.op(ir.Where, p.none, p.number(0), p.op(ir.Mul, ds, scale))
}
