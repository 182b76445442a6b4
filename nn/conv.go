package nn

import (
	"math"
	"slices"

	"github.com/sinterml/sinter"
)

// Conv1d is a convolution along one axis.
type Conv1d struct {
	In, Out, Kernel int
	Stride          int // 0: 1
	Padding         int // zeros on both sides
	Dilation        int // 0: 1
	Groups          int // 0: 1
	// Same pads so that with a stride of 1 the size stays; Padding is ignored.
	Same   bool
	NoBias bool

	Weight *sinter.Variable `weight:"weight"` // [Out, In/Groups, Kernel]
	Bias   *sinter.Variable `weight:"bias"`   // [Out]

	path string
}

// Make is for Init.
func (c *Conv1d) Make(b *Builder) error {
	c.path = b.Path()
	return makeConv(b, c.conv(), &c.Weight, &c.Bias)
}

// Forward convolves x [N, In, length].
func (c *Conv1d) Forward(x sinter.Tensor) sinter.Tensor {
	return layer{"Conv1d", c.path}.convolve(x, c.conv(), c.Weight, c.Bias)
}

func (c *Conv1d) conv() conv {
	return conv{in: c.In, out: c.Out, groups: c.Groups, kernel: []int{c.Kernel}, stride: []int{c.Stride}, padding: []int{c.Padding}, dilation: []int{c.Dilation},
		same: c.Same, noBias: c.NoBias}
}

// Conv2d is a convolution along two axes. Lists have an entry for each axis, or
// one for both.
type Conv2d struct {
	In, Out  int
	Kernel   []int
	Stride   []int // nil: 1
	Padding  []int // zeros on both sides
	Dilation []int // nil: 1
	Groups   int   // 0: 1
	// Same pads so that with a stride of 1 the sizes stay; Padding is ignored.
	Same   bool
	NoBias bool

	Weight *sinter.Variable `weight:"weight"` // [Out, In/Groups, Kernel...]
	Bias   *sinter.Variable `weight:"bias"`   // [Out]

	path string
}

// Make is for Init.
func (c *Conv2d) Make(b *Builder) error {
	c.path = b.Path()
	return makeConv2d(b, c.Kernel, c.conv(), &c.Weight, &c.Bias)
}

// Forward convolves x [N, In, height, width].
func (c *Conv2d) Forward(x sinter.Tensor) sinter.Tensor {
	return layer{"Conv2d", c.path}.convolve(x, c.conv(), c.Weight, c.Bias)
}

func (c *Conv2d) conv() conv {
	return conv{in: c.In, out: c.Out, groups: c.Groups, kernel: both(c.Kernel), stride: c.Stride, padding: c.Padding, dilation: c.Dilation,
		same: c.Same, noBias: c.NoBias}
}

// both is the size of a kernel of two axes.
func both(k []int) []int {
	if len(k) == 1 {
		return []int{k[0], k[0]}
	}
	return k
}

// conv is a convolution of any number of axes, or a transposed one.
type conv struct {
	in, out, groups                   int
	kernel, stride, padding, dilation []int
	same, noBias, transposed          bool
	outputPadding                     []int // of transposed ones
}

// makeConv2d is makeConv with the kernel as it was given.
func makeConv2d(b *Builder, kernel []int, c conv, weight, bias **sinter.Variable) error {
	if n := len(kernel); n != 1 && n != 2 {
		return errKernel
	}
	return makeConv(b, c, weight, bias)
}

func makeConv(b *Builder, c conv, weight, bias **sinter.Variable) error {
	if c.groups < 0 {
		return errGroups
	}
	groups := max(c.groups, 1)
	all := []size{{"In", c.in}, {"Out", c.out}, {"Groups", groups}}
	sizes := []int{c.out, c.in / groups}
	if c.transposed {
		sizes = []int{c.in, c.out / groups}
	}
	fan := sizes[1]
	for _, k := range c.kernel {
		all = append(all, size{"Kernel", k})
	}
	if err := checkSizes(all...); err != nil {
		return err
	}
	if c.in%groups != 0 || c.out%groups != 0 {
		return errGroups
	}
	for _, k := range c.kernel {
		if fan *= k; fan > maxSize {
			return errKernel
		}
		sizes = append(sizes, k)
	}
	for i := range c.kernel {
		if p := entry(c.outputPadding, i); p > 0 && p >= max(1, entry(c.stride, i), entry(c.dilation, i)) {
			return errOutputPadding
		}
	}
	b.Variable(weight, KaimingUniform(math.Sqrt(5)), sizes...)
	b.optional(!c.noBias, bias, fanUniform(fan), c.out)
	return nil
}

func (l layer) convolve(x sinter.Tensor, c conv, weight, bias *sinter.Variable) sinter.Tensor {
	if err := x.Err(); err == nil && x.Rank() != len(c.kernel)+2 {
		return l.failf([]sinter.Tensor{x}, "want [N, %d channels, and %d axes]", c.in, len(c.kernel))
	}
	o := sinter.ConvOptions{Stride: ones(c.stride), Padding: c.padding, Dilation: ones(c.dilation), Groups: c.groups, Bias: readIf(!c.noBias, bias)}
	if c.transposed {
		o.OutputPadding = c.outputPadding
		return l.named(sinter.ConvTranspose(x, read(weight), o), x)
	}
	if c.same {
		o.Padding, o.PaddingAfter = nil, nil
		for i, k := range c.kernel {
			around := (k - 1) * max(1, entry(o.Dilation, i))
			o.Padding, o.PaddingAfter = append(o.Padding, around/2), append(o.PaddingAfter, around-around/2)
		}
	}
	return l.named(sinter.Conv(x, read(weight), o), x)
}

// entry is that of an axis, 0 if there is none.
func entry(v []int, axis int) int {
	if len(v) == 0 {
		return 0
	}
	return v[min(axis, len(v)-1)]
}

// ones has 1 in place of 0.
func ones(v []int) []int {
	v = slices.Clone(v)
	for i := range v {
		if v[i] == 0 {
			v[i] = 1
		}
	}
	return v
}
