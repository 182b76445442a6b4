package interp

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// reduced collects what is known of each result of a reduction.
func reduced[S any](c *call, start S, add func(s *S, x, e float64)) []S {
	in := c.in[0]
	x, e := in.float64s(), in.errors()
	all := make([]S, c.out[0].len())
	fill(all, start)
	rows(in.shape, outStrides(c), 0, func(flat, at, n, step int) {
		for j := range n {
			add(&all[at], x[flat+j], e[flat+j])
			at += step
		}
	})
	return all
}

// inexact says that integers have an error where an operand has one, and tells
// whether out is of integers or bools at all.
func inexact(c *call) bool {
	out := c.out[0]
	if out.t.IsFloat() {
		return false
	}
	for _, x := range c.in {
		spoil(out, x.err)
	}
	return true
}

func boundSum(c *call) {
	if inexact(c) {
		return
	}
	all := reduced(c, noTerms(), (*terms).add)
	for i, r := range c.out[0].float64s() {
		c.out[0].setBound(i, all[i].bound(c.out[0].t, r))
	}
}

func boundProd(c *call) {
	if inexact(c) {
		return
	}
	for i, p := range reduced(c, noFactors(), (*factors).mul) {
		c.out[0].setBound(i, p.bound(c.out[0].t))
	}
}

func boundExtreme(c *call) {
	if exact(c.in) {
		return
	}
	sign := 1.0
	if c.Op == ir.ReduceMin {
		sign = -1
	}
	all := reduced(c, noReach(), func(m *reach, x, e float64) { m.max(sign*x, e) })
	for i, r := range c.out[0].float64s() {
		c.out[0].setBound(i, all[i].bound(sign*r))
	}
}

// boundArg: the index is certain where the winner stays ahead of every other
// within their errors, or all are exact.
func boundArg(c *call) {
	if exact(c.in) {
		return
	}
	in, out := c.in[0], c.out[0]
	x, e := in.float64s(), in.errors()
	outer, n, inner := split(in.shape, c.Attr.Axis())
	for o := range outer {
		for j := range inner {
			at := o*inner + j
			won := (o*n+int(view[int64](out)[at]))*inner + j
			for i := range n {
				k := (o*n+i)*inner + j
				if k != won && !(math.Abs(x[won]-x[k]) > e[won]+e[k]) && e[won]+e[k] > 0 {
					out.setBound(at, math.Inf(1))
				}
			}
		}
	}
}

func boundScan(c *call) {
	if inexact(c) {
		return
	}
	in, out := c.in[0], c.out[0]
	x, e, y := in.float64s(), in.errors(), out.float64s()
	outer, n, inner := split(in.shape, c.Attr.Axis())
	for o := range outer {
		for j := range inner {
			sum, prod, top := noTerms(), noFactors(), noReach()
			for i := range n {
				at := (o*n+i)*inner + j
				switch c.Attr.Mode {
				case "sum":
					sum.add(x[at], e[at])
					out.setBound(at, sum.bound(out.t, y[at]))
				case "prod":
					prod.mul(x[at], e[at])
					out.setBound(at, prod.bound(out.t))
				case "max":
					top.max(x[at], e[at])
					out.setBound(at, top.bound(y[at]))
				}
			}
		}
	}
}

func boundSegmentReduce(c *call) {
	if inexact(c) {
		return
	}
	in, out := c.in[0], c.out[0]
	x, e, y := in.float64s(), in.errors(), out.float64s()
	offsets := view[int32](c.in[1])
	width := numel(in.shape[1:])
	for s := range len(offsets) - 1 {
		for j := range width {
			sum, top := noTerms(), noReach()
			for i := int(offsets[s]); i < int(offsets[s+1]); i++ {
				sum.add(x[i*width+j], e[i*width+j])
				top.max(x[i*width+j], e[i*width+j])
			}
			at := s*width + j
			if c.Attr.Mode == "sum" {
				out.setBound(at, sum.bound(out.t, y[at]))
			} else {
				out.setBound(at, top.bound(y[at]))
			}
		}
	}
	spoil(out, c.in[1].err)
}

func boundScatter(c *call) {
	x, index, updates, out := c.in[0], c.in[1], c.in[2], c.out[0]
	if c.Attr.Mode == "add" && inexact(c) || exact(c.in) && c.Attr.Mode == "set" {
		return
	}
	at, err := places(x, index, c.Attr.Axis(), c.Op)
	if err != nil {
		return // eval has reported it
	}
	v, e := x.float64s(), x.errors()
	u, eu := updates.float64s(), updates.errors()
	if c.Attr.Mode == "set" {
		out.err = append([]float64(nil), e...)
		put(out.err, eu, at)
	} else {
		sums := make([]terms, len(v))
		for i := range sums {
			sums[i] = noTerms()
			sums[i].add(v[i], e[i])
		}
		for i, p := range at {
			sums[p].add(u[i], eu[i])
		}
		for i, r := range out.float64s() {
			if sums[i].n == 1 {
				out.setBound(i, e[i])
			} else {
				out.setBound(i, sums[i].bound(out.t, r))
			}
		}
	}
	spoil(out, index.err)
}

// boundSort: moving each element by e at most moves each sorted element by the
// largest e at most; an index is certain where its value stands apart.
func boundSort(c *call) {
	if exact(c.in) {
		return
	}
	values, order := c.out[0], c.out[1]
	e, y := c.in[0].errors(), values.float64s()
	outer, n, inner := split(values.shape, c.Attr.Axis())
	for o := range outer {
		for j := range inner {
			worst := 0.0
			at := func(i int) int { return (o*n+i)*inner + j }
			for i := range n {
				worst = max(worst, e[at(i)])
				if math.IsNaN(y[at(i)]) {
					worst = math.Inf(1)
				}
			}
			for i := range n {
				values.setBound(at(i), worst)
				apart := func(k int) bool { return k < 0 || k >= n || math.Abs(y[at(k)]-y[at(i)]) > 2*worst }
				if !apart(i-1) || !apart(i+1) {
					order.setBound(at(i), math.Inf(1))
				}
			}
		}
	}
}
