package interp

// rows visits a tensor of the given shape row by row along its last axis. Each
// row has n elements that start at index flat; beside it runs a second index,
// at, which grows by strides[i] for a step along axis i and by step within the
// row.
func rows(shape, strides []int, at int, f func(flat, at, n, step int)) {
	total := numel(shape)
	if total == 0 {
		return
	}
	last := len(shape) - 1
	if last < 0 {
		f(0, at, 1, 0)
		return
	}
	n, step := shape[last], strides[last]
	index := make([]int, last)
	for flat := 0; flat < total; flat += n {
		f(flat, at, n, step)
		for i := last - 1; i >= 0; i-- {
			at += strides[i]
			if index[i]++; index[i] < shape[i] {
				break
			}
			at -= strides[i] * shape[i]
			index[i] = 0
		}
	}
}

// strides are the row-major strides of a shape, in elements.
func strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// read makes every element of out the element of x at start plus the steps.
func read(out, x *value, step []int, start int) {
	apply(out, x, func(m mover) { m.read(out.shape, step, start) })
}

// write puts x into out at start, with out's steps for x's axes.
func write(out, x *value, step []int, start int) {
	apply(out, x, func(m mover) { m.write(x.shape, step, start) })
}

// mover moves elements of one size from a tensor to another.
type mover interface {
	read(shape, step []int, start int)
	write(shape, step []int, start int)
}

type pair[T any] struct{ out, x []T }

func (p pair[T]) read(shape, step []int, start int) {
	rows(shape, step, start, func(flat, at, n, step int) {
		for j := range n {
			p.out[flat+j] = p.x[at]
			at += step
		}
	})
}

func (p pair[T]) write(shape, step []int, start int) {
	rows(shape, step, start, func(flat, at, n, step int) {
		for j := range n {
			p.out[at] = p.x[flat+j]
			at += step
		}
	})
}

// apply calls f for the elements of x and for their error bounds.
func apply(out, x *value, f func(mover)) {
	switch x.t.Size() {
	case 1:
		f(pair[uint8]{view[uint8](out), view[uint8](x)})
	case 2:
		f(pair[uint16]{view[uint16](out), view[uint16](x)})
	case 4:
		f(pair[uint32]{view[uint32](out), view[uint32](x)})
	case 8:
		f(pair[uint64]{view[uint64](out), view[uint64](x)})
	}
	if x.err != nil {
		if out.err == nil {
			out.err = make([]float64, out.len())
		}
		f(pair[float64]{out.err, x.err})
	}
}

func permute(c *call) error {
	from := strides(c.in[0].shape)
	step := make([]int, len(from))
	for i, ax := range c.Attr.Axes {
		step[i] = from[ax]
	}
	read(c.out[0], c.in[0], step, 0)
	return nil
}

func expand(c *call) error {
	x := c.in[0]
	step := strides(x.shape)
	for i, d := range x.shape {
		if d == 1 {
			step[i] = 0
		}
	}
	read(c.out[0], x, step, 0)
	return nil
}

func flip(c *call) error {
	x := c.in[0]
	step := strides(x.shape)
	start := 0
	for _, ax := range c.Attr.Axes {
		start += (x.shape[ax] - 1) * step[ax]
		step[ax] = -step[ax]
	}
	read(c.out[0], x, step, start)
	return nil
}

func slice(c *call) error {
	x := c.in[0]
	step := strides(x.shape)
	start := 0
	for i, d := range c.Attr.Starts {
		n, err := d.Eval(c.env)
		if err != nil {
			return err
		}
		start += n * step[i]
		step[i] *= c.Attr.Steps[i]
	}
	read(c.out[0], x, step, start)
	return nil
}

func window(c *call) error {
	x, ax := c.in[0], c.Attr.Axis()
	step := strides(x.shape)
	step = append(step, step[ax]*c.Attr.Dilation)
	step[ax] *= c.Attr.Stride
	read(c.out[0], x, step, 0)
	return nil
}

func pad(c *call) error {
	out := c.out[0]
	step := strides(out.shape)
	start := 0
	for i, d := range c.Attr.Before {
		n, err := d.Eval(c.env)
		if err != nil {
			return err
		}
		start += n * step[i]
	}
	switch out.t.Size() {
	case 1:
		fill(view[uint8](out), uint8(c.Attr.Value))
	case 2:
		fill(view[uint16](out), uint16(c.Attr.Value))
	case 4:
		fill(view[uint32](out), uint32(c.Attr.Value))
	case 8:
		fill(view[uint64](out), c.Attr.Value)
	}
	write(out, c.in[0], step, start)
	return nil
}

func fill[T any](out []T, v T) {
	for i := range out {
		out[i] = v
	}
}

func concat(c *call) error {
	out, ax := c.out[0], c.Attr.Axis()
	step := strides(out.shape)
	start := 0
	for _, x := range c.in {
		write(out, x, step, start)
		start += x.shape[ax] * step[ax]
	}
	return nil
}
