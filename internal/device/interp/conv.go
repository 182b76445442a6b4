package interp

import "github.com/sinterml/sinter/internal/ir"

// convolution is the geometry of a Conv with its sizes known.
type convolution struct {
	batch, groups         int
	inC, outC             int   // channels of one group
	padded, kernel, image []int // spatial sizes: x with its zeros, w, the result
	before, size          []int // zeros ahead of x, and the spatial sizes of x
	taps                  []int // offset in padded x of each kernel element
	starts                []int // offset in padded x of each result
}

func geometry(a *ir.ConvAttr, x, w, out []int) convolution {
	g := convolution{batch: x[0], groups: a.Groups, inC: w[1], outC: w[0] / a.Groups,
		kernel: w[2:], image: out[2:], before: a.Before, size: x[2:]}
	for i, d := range x[2:] {
		g.padded = append(g.padded, a.Before[i]+d+a.After[i])
	}
	step := strides(g.padded)
	g.taps = offsets(g.kernel, step, a.Dilation)
	g.starts = offsets(g.image, step, a.Stride)
	return g
}

// offsets lists sum(index[i]*step[i]*times[i]) for every index of a shape.
func offsets(shape, step, times []int) []int {
	scaled := make([]int, len(step))
	for i := range step {
		scaled[i] = step[i] * times[i]
	}
	all := make([]int, 0, numel(shape))
	rows(shape, scaled, 0, func(_, at, n, step int) {
		for range n {
			all = append(all, at)
			at += step
		}
	})
	return all
}

// conv multiplies by the zeros of the padding too: an infinite weight there
// makes NaN, as in the definition.
func (numbers[T, A]) conv(c *call) {
	g := geometry(c.Attr.Conv, c.in[0].shape, c.in[1].shape, c.out[0].shape)
	convolve(g, convert1[A](view[T](c.in[0])), convert1[A](view[T](c.in[1])), func(i int, sum A) {
		view[T](c.out[0])[i] = T(sum)
	})
}

func convert1[A, T number](x []T) []A {
	out := make([]A, len(x))
	convert(out, x)
	return out
}

// convolve calls put for each element of the result in order.
func convolve[A number](g convolution, x, w []A, put func(i int, sum A)) {
	plane, area := numel(g.size), numel(g.padded)
	step := strides(g.padded)
	start := 0
	for i, b := range g.before {
		start += b * step[i]
	}
	image := make([]A, g.inC*area) // one group of one batch entry with its zeros
	at := 0
	for b := range g.batch {
		for group := range g.groups {
			for ch := range g.inC {
				from := x[((b*g.groups+group)*g.inC+ch)*plane:][:plane]
				pair[A]{image[ch*area:][:area], from}.write(g.size, step, start)
			}
			for o := range g.outC {
				filter := w[(group*g.outC+o)*g.inC*len(g.taps):][:g.inC*len(g.taps)]
				for _, s := range g.starts {
					put(at, dot(image, filter, g.taps, area, s))
					at++
				}
			}
		}
	}
}

// dot is the element of the result whose window starts at s: each filter
// element times what lies under it.
func dot[A number](image, filter []A, taps []int, area, s int) (sum A) {
	for len(filter) > 0 {
		for i, tap := range taps {
			sum += A(filter[i] * image[s+tap])
		}
		filter, s = filter[len(taps):], s+area
	}
	return sum
}
