package nn

import "github.com/sinterml/sinter"

// ConvTranspose1d is a transposed convolution along one axis: what Conv1d with the same
// settings makes shorter it makes longer, to (length-1)*Stride - 2*Padding +
// Dilation*(Kernel-1) + OutputPadding + 1.
type ConvTranspose1d struct {
	In, Out, Kernel int
	Stride          int // 0: 1
	Padding         int // what is left out on both sides
	OutputPadding   int // how much longer the result is behind, below Stride or Dilation
	Dilation        int // 0: 1
	Groups          int // 0: 1
	NoBias          bool

	Weight *sinter.Variable `weight:"weight"` // [In, Out/Groups, Kernel]
	Bias   *sinter.Variable `weight:"bias"`   // [Out]

	path string
}

// Make is for Init.
func (c *ConvTranspose1d) Make(b *Builder) error {
	c.path = b.Path()
	return makeConv(b, c.conv(), &c.Weight, &c.Bias)
}

// Forward maps x [N, In, length] to [N, Out, length of the result].
func (c *ConvTranspose1d) Forward(x sinter.Tensor) sinter.Tensor {
	return layer{"ConvTranspose1d", c.path}.convolve(x, c.conv(), c.Weight, c.Bias)
}

func (c *ConvTranspose1d) conv() conv {
	return conv{in: c.In, out: c.Out, groups: c.Groups, kernel: []int{c.Kernel}, stride: []int{c.Stride}, padding: []int{c.Padding}, dilation: []int{c.Dilation},
		outputPadding: []int{c.OutputPadding}, noBias: c.NoBias, transposed: true}
}

// ConvTranspose2d is a transposed convolution along two axes, as decoders of images
// have. Lists have an entry for each axis, or one for both.
type ConvTranspose2d struct {
	In, Out       int
	Kernel        []int
	Stride        []int // nil: 1
	Padding       []int // what is left out on both sides
	OutputPadding []int // how much larger the result is behind, below Stride or Dilation
	Dilation      []int // nil: 1
	Groups        int   // 0: 1
	NoBias        bool

	Weight *sinter.Variable `weight:"weight"` // [In, Out/Groups, Kernel...]
	Bias   *sinter.Variable `weight:"bias"`   // [Out]

	path string
}

// Make is for Init.
func (c *ConvTranspose2d) Make(b *Builder) error {
	c.path = b.Path()
	return makeConv2d(b, c.Kernel, c.conv(), &c.Weight, &c.Bias)
}

// Forward maps x [N, In, height, width] to [N, Out, height and width of the result].
func (c *ConvTranspose2d) Forward(x sinter.Tensor) sinter.Tensor {
	return layer{"ConvTranspose2d", c.path}.convolve(x, c.conv(), c.Weight, c.Bias)
}

func (c *ConvTranspose2d) conv() conv {
	return conv{in: c.In, out: c.Out, groups: c.Groups, kernel: both(c.Kernel), stride: c.Stride, padding: c.Padding, dilation: c.Dilation,
		outputPadding: c.OutputPadding, noBias: c.NoBias, transposed: true}
}
