package interp

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// absolutes is |x| and |x| + error of the finite elements, 0 for the others,
// and x with its infinities and NaNs, nil if there are none.
func absolutes(v *value) (abs, with, special []float64) {
	x, e := v.float64s(), v.errors()
	abs, with = make([]float64, len(x)), make([]float64, len(x))
	for i, f := range x {
		if !finite(f) {
			special = x
			continue
		}
		abs[i] = math.Abs(f)
		with[i] = abs[i] + e[i]
	}
	return abs, with, special
}

// boundProducts bounds sums of n products x*y. times computes, for matrices or
// images, such sums in float64: that of |x||y| bounds the rounding, and what
// (|x|+ex)(|y|+ey) has above it is the spread. Where x and y were widened from
// bf16, devices may multiply by instructions that take subnormal operands,
// products and sums for 0.
func boundProducts(c *call, n int, times func(x, y []float64) []float64) {
	if inexact(c) {
		return
	}
	least := 0.0 // what a term may lose
	if widenedFrom(ir.BF16, c.In[:2]) {
		short := *c
		short.in = []*value{flushable(c.in[0]), flushable(c.in[1])}
		c, least = &short, 2*leastNormal
	}
	x, withX, specialX := absolutes(c.in[0])
	y, withY, specialY := absolutes(c.in[1])
	sums, allExact := times(x, y), exact(c.in)
	high, special := sums, sums
	if !allExact {
		high = times(withX, withY)
	}
	if specialX != nil || specialY != nil {
		special = times(c.in[0].float64s(), c.in[1].float64s())
	}
	out := c.out[0]
	s := terms{n: float64(n) + 1, grain: grains(x) * grains(y)}
	for i, r := range out.float64s() {
		s.abs, s.err = sums[i], high[i]-sums[i]
		if s.grain < leastNormal {
			s.err += float64(n) * least
		}
		s.special = allExact && !finite(special[i])
		// Sums of f64 may overflow here as they may there.
		s.unknown = !finite(high[i]) || !s.special && !finite(special[i])
		out.setBound(i, s.bound(out.t, r))
	}
}

func boundMatMul(c *call) {
	if c.Attr.TF32 {
		rounded := *c
		rounded.in = []*value{roundable(c.in[0]), roundable(c.in[1])}
		c = &rounded
	}
	x, y := c.in[0].shape, c.in[1].shape
	r := len(x)
	m, k, n := x[r-2], x[r-1], y[r-1]
	boundProducts(c, k, func(a, b []float64) []float64 {
		out := make([]float64, c.out[0].len())
		for i := range numel(x[:r-2]) {
			product[float64, float64](out[i*m*n:][:m*n], a[i*m*k:][:m*k], b[i*k*n:][:k*n], k, n)
		}
		return out
	})
}

// roundable is f32 that a device may round to TF32, or leave as it is. Where
// that is subnormal, it may take 0 for it.
func roundable(v *value) *value {
	r := *v
	r.err = nil
	for i, x := range view[float32](v) {
		e := 0.0
		if v.err != nil {
			e = v.err[i]
		}
		if f := float64(x); finite(f) {
			lost := math.Abs(float64(ir.RoundTF32(x)) - f)
			if e > 0 { // another number is rounded, perhaps the other way
				lost = min(lost+e, 0x1p-11*(math.Abs(f)+e)*slack+0x1p-137)
				if r := ir.RoundTF32(float32(math.Abs(f) + e)); !finite(float64(r)) {
					lost = math.Inf(1)
				}
			}
			if math.Abs(f) < leastNormal {
				lost += math.Abs(f)
			}
			e += lost
		}
		if e > 0 {
			r.setBound(i, e)
		}
	}
	return &r
}

func boundConv(c *call) {
	g := geometry(c.Attr.Conv, c.in[0].shape, c.in[1].shape, c.out[0].shape)
	boundProducts(c, g.inC*len(g.taps), func(x, w []float64) []float64 {
		out := make([]float64, c.out[0].len())
		convolve(g, x, w, func(i int, sum float64) { out[i] = sum })
		return out
	})
}

// attentionErrors are the errors of an attention's operands, nil where exact.
type attentionErrors struct {
	q, k, v, mask []float64
	// short is what weights may be off by through the format that devices may hold
	// them in, whose instructions may take 0 for what is subnormal; 0: that of f32.
	// sums is likewise of the logarithm of their sum. least is what any weight may be
	// off by, as part of the greatest.
	short, sums, least float64
}

// Weights are rounded to bf16, their exponentials no better than they need be, but
// cut off in TF32, and summed before that where their logarithm is asked for.
const (
	shortBF16 = 0x1p-8*slack + 0x1p-13
	shortTF32 = 0x1p-10 * slack
	leastHalf = 0x1p-39 // in f16, times 2^15, where units know that alone
)

// widenedFrom tells whether values were widened from a format, whatever views there
// are on them.
func widenedFrom(from ir.DType, nodes []*ir.Node) bool {
	for _, n := range nodes {
		for n.Op.Class() == ir.ClassMovement && len(n.In) == 1 {
			n = n.In[0]
		}
		if n.Op != ir.Cast || n.In[0].DType != from {
			return false
		}
	}
	return true
}

// leastNormal is the least f32 that is not subnormal.
const leastNormal = 0x1p-126

// flushed are errors of values that may be taken for 0 where they are
// subnormal.
func flushed(x, errs []float64) []float64 {
	errs = slices.Clone(errs)
	for i, v := range x {
		if math.Abs(v) < leastNormal {
			errs[i] += math.Abs(v)
		}
	}
	return errs
}

// flushable is v where subnormal values may be taken for 0.
func flushable(v *value) *value {
	r := *v
	r.err = flushed(v.float64s(), v.errors())
	return &r
}

// boundAttention: the weight of a key lies between the least it can have while
// the others have their most, and the other way round. Devices may keep
// running sums and rescale them for each block of keys, and hold weights and
// scaled queries in the storage type. Where q, k and v were widened from bf16
// they may hold weights in it, and multiply by instructions that take subnormal
// numbers for 0; where TF32 is allowed they may hold weights in that, and round q,
// k and v to it.
func boundAttention(c *call) {
	a, err := newAttention(c)
	if err != nil {
		return // eval has reported it
	}
	e := attentionErrors{q: c.in[0].errors(), k: c.in[1].errors(), v: c.in[2].errors()}
	switch {
	case c.Attr.TF32:
		e.short, e.least = shortTF32, leastHalf
		if !widenedFrom(ir.F16, c.In[:3]) {
			e.q, e.k, e.v = roundable(c.in[0]).errors(), roundable(c.in[1]).errors(), roundable(c.in[2]).errors()
		}
	case widenedFrom(ir.BF16, c.In[:3]):
		e.short, e.sums, e.least = shortBF16, shortBF16, leastNormal
		e.q, e.k, e.v = flushed(a.q, e.q), flushed(a.k, e.k), flushed(a.v, e.v)
	}
	if a.Mask {
		e.mask = c.in[len(c.in)-1].errors()
	}
	if a.Ragged {
		for _, out := range c.out {
			defer spoil(out, c.in[3].err)
			defer spoil(out, c.in[4].err)
		}
	}
	allExact := exact(c.in)
	t := c.out[0].t
	y, lse := c.out[0].float64s(), c.out[1].float64s()
	_ = a.each(func(s sequence, head, i, row int, key func(int) int) error {
		w := a.weights(&e, t, s, head, i, row, key)
		for d := range a.vWidth {
			b := w.output(a, &e, t, d)
			switch at := row*a.vWidth + d; {
			case finite(y[at]) || w.overflow || math.IsInf(b, 1):
				c.out[0].setBound(at, b)
			case !allExact || w.underflow(): // no weight, times an infinity, is NaN
				c.out[0].setBound(at, math.Inf(1))
			}
		}
		switch {
		case w.overflow || !finite(lse[row]) && !allExact && w.n > 0:
			c.out[1].setBound(row, math.Inf(1))
		case finite(lse[row]):
			c.out[1].setBound(row, w.logError+(8*w.n+32)*unit(ir.F32)+8*rounding(c.out[1].t, 1, math.Abs(lse[row])))
		}
		return nil
	})
}

// weights is what is known of one row's softmax.
type weights struct {
	n         float64
	keys      []int     // rows of v
	w, spread []float64 // each key's weight and its error
	relative  float64   // error of every weight through the order of the sums
	logError  float64   // of the logarithm of their sum
	overflow  bool      // a score may leave the range of the compute type
}

// underflow tells whether a weight may be 0 in a narrower type than this one.
func (w *weights) underflow() bool {
	for _, x := range w.w {
		if x < 0x1p-100 {
			return true
		}
	}
	return false
}

func (a *attentionCase) weights(e *attentionErrors, t ir.DType, s sequence, head, i, row int, key func(int) int) *weights {
	w := &weights{}
	var scores, errs []float64
	top := math.Inf(-1)
	from, to := a.keys(s, i)
	for j := from; j < to; j++ {
		score, err := a.scoreBound(e, t, row, key(j))
		if a.Mask {
			at, _ := a.maskAt(s.batch, head, i, j)
			score += a.mask[at]
			err += e.mask[at]
		}
		w.overflow = w.overflow || finite(score) && math.Abs(score)+err > maxFinite(t.Compute()) || math.IsInf(err, 1)
		w.keys = append(w.keys, key(j))
		scores, errs = append(scores, score), append(errs, err)
		top = max(top, score)
	}
	u := unit(t.Compute())
	var sum, low, high float64
	for j := range scores {
		if math.IsInf(scores[j], -1) && !math.IsInf(errs[j], 1) && !math.IsNaN(errs[j]) {
			errs[j] = 0 // no weight, whatever the sum
		} else {
			errs[j] += 8 * u * (math.Abs(scores[j]) + math.Abs(top))
		}
		sum += math.Exp(scores[j] - top)
		low += math.Exp(scores[j] - errs[j] - top)
		high += math.Exp(scores[j] + errs[j] - top)
	}
	for j := range scores {
		p := math.Exp(scores[j]-top) / sum
		w.w = append(w.w, p)
		w.spread = append(w.spread, max(math.Exp(scores[j]+errs[j]-top)/low-p, p-math.Exp(scores[j]-errs[j]-top)/high))
	}
	w.n = float64(len(scores))
	w.relative = (8*w.n + 32) * u
	switch {
	case narrow(t):
		w.relative += 3 * unit(t)
	case e.short > 0: // of weights and of their sum: (1+u)/(1-u)
		w.relative += 2 * e.short * (1 + 2*e.short)
		for j := range w.spread {
			w.spread[j] += e.least / sum
		}
	}
	w.logError = max(math.Log(high/sum), math.Log(sum/low))
	w.logError += e.sums * (1 + 2*e.sums) // of every weight of the sum
	return w
}

// scoreBound is the score of a query and a key, and its error.
func (a *attentionCase) scoreBound(e *attentionErrors, t ir.DType, q, k int) (score, err float64) {
	x, y := a.q[q*a.width:][:a.width], a.k[k*a.width:][:a.width]
	ex, ey := e.q[q*a.width:][:a.width], e.k[k*a.width:][:a.width]
	var sum, abs, spread float64
	for i := range x {
		p := x[i] * y[i]
		sum += p
		if !finite(p) && ex[i] == 0 && ey[i] == 0 {
			continue // certainly infinite or NaN
		}
		abs += math.Abs(p)
		spread += math.Abs(x[i])*ey[i] + math.Abs(y[i])*ex[i] + ex[i]*ey[i]
	}
	u := unit(t.Compute())
	relative := (float64(a.width) + 8) * u
	if narrow(t) {
		relative += unit(t) // of the scaled query
	}
	if e.short > 0 {
		spread += float64(a.width) * leastNormal
	}
	scale := math.Abs(a.Scale)
	score, err = a.Scale*sum, scale*(spread+relative*(abs+spread))
	if m := max(1, scale) * (abs + spread); !(m <= maxFinite(t.Compute())) {
		return score, math.Inf(1)
	}
	if a.SoftCap != 0 { // its slope is 1 at most
		score = a.SoftCap * math.Tanh(score/a.SoftCap)
		err += 4 * transcendental * u * math.Abs(score)
	}
	return score, err
}

// output is the bound of component d of the result.
func (w *weights) output(a *attentionCase, e *attentionErrors, t ir.DType, d int) float64 {
	var err, abs, most float64
	for j, k := range w.keys {
		at := k*a.vWidth + d
		p, v := w.w[j]+w.spread[j], math.Abs(a.v[at])+e.v[at]
		if !finite(v) && e.v[at] == 0 {
			continue // certainly infinite or NaN
		}
		err += w.spread[j]*math.Abs(a.v[at]) + p*e.v[at]
		abs += p * v
		most = max(most, v)
	}
	// What is summed before it is divided by the sum of the weights may have had the
	// weight 1 each, as long as a higher score had not come.
	if w.overflow || w.n*max(abs, most) > maxFinite(t.Compute()) {
		return math.Inf(1)
	}
	if e.short > 0 {
		err += w.n * leastNormal
	}
	return err + w.relative*abs + rounding(t, 1, abs)
}
