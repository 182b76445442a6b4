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
	return conv{c.In, c.Out, c.Groups, []int{c.Kernel}, []int{c.Stride}, []int{c.Padding}, []int{c.Dilation}, c.Same, c.NoBias}
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
	if n := len(c.Kernel); n != 1 && n != 2 {
		return errKernel
	}
	return makeConv(b, c.conv(), &c.Weight, &c.Bias)
}

// Forward convolves x [N, In, height, width].
func (c *Conv2d) Forward(x sinter.Tensor) sinter.Tensor {
	return layer{"Conv2d", c.path}.convolve(x, c.conv(), c.Weight, c.Bias)
}

func (c *Conv2d) conv() conv {
	k := slices.Clone(c.Kernel)
	if len(k) == 1 {
		k = append(k, k[0])
	}
	return conv{c.In, c.Out, c.Groups, k, c.Stride, c.Padding, c.Dilation, c.Same, c.NoBias}
}

// conv is a convolution of any number of axes.
type conv struct {
	in, out, groups                   int
	kernel, stride, padding, dilation []int
	same, noBias                      bool
}

func makeConv(b *Builder, c conv, weight, bias **sinter.Variable) error {
	groups := max(c.groups, 1)
	all := []size{{"In", c.in}, {"Out", c.out}, {"Groups", groups}}
	fan, sizes := c.in/groups, []int{c.out, c.in / groups}
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
	b.Variable(weight, KaimingUniform(math.Sqrt(5)), sizes...)
	b.optional(!c.noBias, bias, fanUniform(fan), c.out)
	return nil
}

func (l layer) convolve(x sinter.Tensor, c conv, weight, bias *sinter.Variable) sinter.Tensor {
	if err := x.Err(); err == nil && x.Rank() != len(c.kernel)+2 {
		return l.failf([]sinter.Tensor{x}, "want [N, %d channels, and %d axes]", c.in, len(c.kernel))
	}
	o := sinter.ConvOptions{Stride: ones(c.stride), Padding: c.padding, Dilation: ones(c.dilation), Groups: c.groups, Bias: readIf(!c.noBias, bias)}
	if c.same {
		o.Padding, o.PaddingAfter = nil, nil
		for i, k := range c.kernel {
			around := k - 1
			if len(o.Dilation) > 0 {
				around *= o.Dilation[min(i, len(o.Dilation)-1)]
			}
			o.Padding, o.PaddingAfter = append(o.Padding, around/2), append(o.PaddingAfter, around-around/2)
		}
	}
	return l.named(sinter.Conv(x, read(weight), o), x)
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
