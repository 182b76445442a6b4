package interp

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// gradientCase is the gradient of an attention with its sizes known.
type gradientCase struct {
	*attentionCase
	lse, dout, delta []float64 // lse and delta by rows of q
}

func newGradient(c *call) (*gradientCase, error) {
	a, err := newAttention(c)
	if err != nil {
		return nil, err
	}
	n := len(c.in) - ir.GradOperands
	return &gradientCase{a, c.in[n].float64s(), c.in[n+1].float64s(), c.in[n+2].float64s()}, nil
}

// pairs calls f for every pair of a query's row and the row of a key that it
// sees, with the score, mask and all. Rows whose scores are all -Inf have no
// pairs.
func (g *gradientCase) pairs(f func(row, key int, score, mask float64)) error {
	return g.each(func(s sequence, head, i, row int, key func(int) int) error {
		if math.IsInf(g.lse[row], -1) {
			return nil
		}
		from, to := g.keys(s, i)
		for j := from; j < to; j++ {
			mask := 0.0
			if g.Mask {
				at, err := g.maskAt(s.batch, head, i, j)
				if err != nil {
					return err
				}
				mask = g.mask[at]
			}
			f(row, key(j), g.score(row, key(j)), mask)
		}
		return nil
	})
}

// slope is that of the soft cap, where the score came out as it did.
func (g *gradientCase) slope(score float64) float64 {
	if g.SoftCap == 0 {
		return 1
	}
	t := score / g.SoftCap
	return 1 - float64(t*t)
}

// attentionGrad sums in float64 and rounds once.
func attentionGrad(c *call) error {
	g, err := newGradient(c)
	if err != nil {
		return err
	}
	dq, dk, dv := make([]float64, len(g.q)), make([]float64, len(g.k)), make([]float64, len(g.v))
	err = g.pairs(func(row, key int, score, mask float64) {
		w := math.Exp(score + mask - g.lse[row])
		dout := g.dout[row*g.vWidth:][:g.vWidth]
		asked := dotProduct(dout, g.v[key*g.vWidth:][:g.vWidth])
		ds := w * (asked - g.delta[row]) * g.slope(score) * g.Scale
		for d, v := range dout {
			dv[key*g.vWidth+d] += float64(w * v)
		}
		for d := range g.width {
			dq[row*g.width+d] += float64(ds * g.k[key*g.width+d])
			dk[key*g.width+d] += float64(ds * g.q[row*g.width+d])
		}
	})
	if err != nil {
		return err
	}
	for i, sums := range [][]float64{dq, dk, dv} {
		store(c.out[i], 0, sums...)
	}
	return nil
}

// productSums is what is known of sums of products, element by element.
type productSums struct {
	n, abs, err []float64
	unsure      []bool // a term may be infinite on one device and not on another
}

func newProductSums(n int) *productSums {
	return &productSums{make([]float64, n), make([]float64, n), make([]float64, n), make([]bool, n)}
}

// add adds the terms x*y[i] of a row.
func (p *productSums) add(at int, x uncertain, y, ey []float64) {
	for i, v := range y {
		p.n[at+i]++
		p.unsure[at+i] = p.unsure[at+i] || x.unsure
		if !finite(v) && ey[i] == 0 || !finite(x.v) && x.e == 0 {
			continue // certainly infinite or NaN
		}
		p.abs[at+i] += (math.Abs(x.v) + x.e) * (math.Abs(v) + ey[i])
		p.err[at+i] += x.e*math.Abs(v) + (math.Abs(x.v)+x.e)*ey[i]
	}
}

// bound sets the bounds of the sums' rounded values.
func (p *productSums) bound(out *value, allExact bool) {
	t := out.t
	for i, y := range out.float64s() {
		relative := (8*p.n[i] + 32) * unit(t.Compute())
		if narrow(t) {
			relative += 3 * unit(t) // of what is multiplied
		}
		b := p.err[i] + relative*p.abs[i] + p.n[i]*tiny(t.Compute()) + rounding(t, 1, p.abs[i])
		switch {
		case p.unsure[i] || !(p.n[i]*p.abs[i] <= maxFinite(t.Compute())) || !finite(y) && !allExact:
			b = math.Inf(1)
		case !finite(y):
			b = 0
		}
		out.setBound(i, b)
	}
}

// uncertain is a value and its error.
type uncertain struct {
	v, e   float64
	unsure bool
}

// boundAttentionGrad takes weights and what is asked of them as devices may
// compute them, each for itself: sums of products with their own errors, an
// exponential, a few multiplications.
func boundAttentionGrad(c *call) {
	g, err := newGradient(c)
	if err != nil {
		return // eval has reported it
	}
	n := len(c.in) - ir.GradOperands
	e := attentionErrors{q: c.in[0].errors(), k: c.in[1].errors(), v: c.in[2].errors()}
	if g.Mask {
		e.mask = c.in[n-1].errors()
	}
	b := &gradientBounds{gradientCase: g, e: &e, lse: c.in[n].errors(), dout: c.in[n+1].errors(), delta: c.in[n+2].errors(), t: c.out[0].t}
	dq, dk, dv := newProductSums(len(g.q)), newProductSums(len(g.k)), newProductSums(len(g.v))
	_ = g.each(func(s sequence, head, i, row int, key func(int) int) error {
		if math.IsInf(g.lse[row], -1) && b.lse[row] == 0 {
			return nil
		}
		from, to := g.keys(s, i)
		for j := from; j < to; j++ {
			mask := uncertain{}
			if g.Mask {
				at, _ := g.maskAt(s.batch, head, i, j)
				mask.v, mask.e = g.mask[at], e.mask[at]
			}
			k := key(j)
			w, ds := b.pair(row, k, mask)
			q, kAt, v := row*g.width, k*g.width, k*g.vWidth
			dq.add(q, ds, g.k[kAt:][:g.width], e.k[kAt:])
			dk.add(kAt, ds, g.q[q:][:g.width], e.q[q:])
			dv.add(v, w, g.dout[row*g.vWidth:][:g.vWidth], b.dout[row*g.vWidth:])
		}
		return nil
	})
	allExact := exact(c.in)
	for i, sums := range []*productSums{dq, dk, dv} {
		sums.bound(c.out[i], allExact)
		if g.Ragged {
			spoil(c.out[i], c.in[3].err)
			spoil(c.out[i], c.in[4].err)
		}
	}
}

// gradientBounds has the errors of the operands beside them.
type gradientBounds struct {
	*gradientCase
	e                *attentionErrors
	lse, dout, delta []float64
	t                ir.DType
}

// pair is the weight of a key for a query, and the gradient of their product.
func (b *gradientBounds) pair(row, key int, mask uncertain) (w, ds uncertain) {
	u := unit(b.t.Compute())
	lse := b.gradientCase.lse[row]
	score, es := b.scoreBound(b.e, b.t, row, key)
	x := score + mask.v - lse
	ex := es + mask.e + b.lse[row] + 8*u*(math.Abs(score)+math.Abs(mask.v)+math.Abs(lse))
	w.v = math.Exp(x)
	w.unsure = math.IsNaN(ex) && !math.IsInf(x, -1) && !math.IsNaN(x) || math.IsInf(es, 1)
	switch {
	case math.IsInf(x, -1) && es+mask.e+b.lse[row] == 0: // no weight, anywhere
	case !finite(x):
		w.unsure = w.unsure || es+mask.e+b.lse[row] > 0
	default:
		w.e = w.v*math.Expm1(ex) + 8*transcendental*u*w.v*math.Exp(ex) + tiny(b.t.Compute())
		w.unsure = w.unsure || !(w.v+w.e <= maxFinite(b.t.Compute()))
	}

	asked, abs, spread := b.asked(row, key)
	delta := b.gradientCase.delta[row]
	g := uncertain{v: asked - delta}
	g.e = spread + b.delta[row] + u*float64(b.vWidth+8)*(abs+spread) + 2*u*(math.Abs(delta)+b.delta[row])
	slope, eSlope := b.slope(score), 0.0
	if b.SoftCap != 0 {
		t := math.Abs(score / b.SoftCap)
		et := es/b.SoftCap + 4*transcendental*u*t
		eSlope = 2*t*et + et*et + 8*u
	}
	scale := math.Abs(b.Scale)
	unscaled := (w.v + w.e) * (math.Abs(g.v) + g.e) // may leave the range before it is scaled
	most := unscaled * (slope + eSlope) * scale
	ds.v = w.v * g.v * slope * b.Scale
	ds.unsure = w.unsure || !(max(most, unscaled) <= maxFinite(b.t.Compute())) && finite(ds.v) || !(abs <= maxFinite(b.t.Compute()))
	if !finite(ds.v) { // where a factor may be 0 in a narrower type than this one
		ds.unsure = ds.unsure || w.v < 0x1p-100 && w.v > 0 || b.SoftCap != 0
		return w, ds
	}
	ds.e = most - math.Abs(ds.v) + 16*u*most + 4*tiny(b.t.Compute())
	return w, ds
}

// asked is the product of the result's gradient with a value, the sum of its
// terms' magnitudes and that of their errors.
func (b *gradientBounds) asked(row, key int) (sum, abs, spread float64) {
	x, y := b.gradientCase.dout[row*b.vWidth:][:b.vWidth], b.v[key*b.vWidth:][:b.vWidth]
	ex, ey := b.dout[row*b.vWidth:], b.e.v[key*b.vWidth:]
	for i := range x {
		p := x[i] * y[i]
		sum += p
		if !finite(p) && ex[i] == 0 && ey[i] == 0 {
			continue // certainly infinite or NaN
		}
		abs += math.Abs(p)
		spread += math.Abs(x[i])*ey[i] + math.Abs(y[i])*ex[i] + ex[i]*ey[i]
	}
	return sum, abs, spread
}
