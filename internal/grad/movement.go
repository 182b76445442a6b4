package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

func permute(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	back := make([]int, len(n.Attr.Axes))
	for i, axis := range n.Attr.Axes {
		back[axis] = i
	}
	return []*ir.Node{m.permute(d[0], back...)}
}

// expand adds up the copies.
func expand(m *maker, x, r, d *ir.Node) *ir.Node {
	var axes []int
	for i, size := range x.Shape {
		if !size.Equal(r.Shape[i]) {
			axes = append(axes, i)
		}
	}
	return m.sum(d, axes...)
}

func pad(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	x := n.In[0]
	dx := d[0]
	for i, size := range x.Shape {
		dx = m.narrow(dx, i, n.Attr.Before[i], size)
	}
	return []*ir.Node{dx}
}

func slice(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	dx := d[0]
	for i, size := range n.In[0].Shape {
		dx = m.place(dx, i, n.Attr.Starts[i], n.Attr.Steps[i], size)
	}
	return []*ir.Node{dx}
}

// place puts the elements of x along an axis at start, start+step, ... of size
// zeros.
func (m *maker) place(x *ir.Node, axis int, start ir.Dim, step int, size ir.Dim) *ir.Node {
	count := x.Shape[axis]
	if count.IsConst(0) {
		return m.fill(x.DType, 0, with(x.Shape, axis, size))
	}
	if step == 1 {
		return m.pad(x, axis, start, size.Sub(start).Sub(count))
	}
	apart := m.spread(x, axis, step)
	if n, ok := count.Const(); ok {
		// Without the zeros behind the last, for which there may be no room.
		used := ir.N((n-1)*step + 1)
		return m.pad(m.narrow(apart, axis, ir.N(0), used), axis, start, size.Sub(start).Sub(used))
	}
	return m.narrow(m.pad(apart, axis, start, size), axis, ir.N(0), size)
}

// spread puts step-1 zeros behind each element along an axis.
func (m *maker) spread(x *ir.Node, axis, step int) *ir.Node {
	count := x.Shape[axis]
	pairs := m.reshape(x, slices.Insert(slices.Clone(x.Shape), axis+1, ir.N(1)))
	wide := m.pad(pairs, axis+1, ir.N(0), ir.N(step-1))
	return m.reshape(wide, with(x.Shape, axis, count.Mul(ir.N(step))))
}

func flip(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	return []*ir.Node{m.flip(d[0], n.Attr.Axes...)}
}

func concat(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	axis := n.Attr.Axis()
	start := ir.N(0)
	all := make([]*ir.Node, len(n.In))
	for i, x := range n.In {
		all[i] = m.narrow(d[0], axis, start, x.Shape[axis])
		start = start.Add(x.Shape[axis])
	}
	return all
}

// wideWindow is the size from which the places of a window are added up by
// index and not one by one: each of those makes a pass over the result.
const wideWindow = 32

// window adds up what the windows that hold an element say of it. Where they
// stand side by side that is one at most.
func window(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	x, a := n.In[0], n.Attr
	if a.Stride == a.Size && a.Dilation == 1 {
		axis := a.Axis()
		covered := d[0].Shape[axis].Mul(ir.N(a.Size))
		flat := m.reshape(m.besideWindow(axis, d[0]), with(x.Shape, axis, covered))
		return []*ir.Node{m.pad(flat, axis, ir.N(0), x.Shape[axis].Sub(covered))}
	}
	if a.Size > wideWindow {
		return []*ir.Node{m.windowByIndex(x, &a, d[0])}
	}
	axis, last := a.Axis(), len(x.Shape)
	inner := d[0].Shape[:last]
	var sum *ir.Node
	for k := range a.Size {
		one := m.reshape(m.narrow(d[0], last, ir.N(k), ir.N(1)), inner)
		one = m.place(one, axis, ir.N(k*a.Dilation), a.Stride, x.Shape[axis])
		if sum == nil {
			sum = one
		} else {
			sum = m.plus(sum, one)
		}
	}
	return []*ir.Node{sum}
}

func (m *maker) windowByIndex(x *ir.Node, a *ir.Attr, d *ir.Node) *ir.Node {
	axis, rank := a.Axis(), len(x.Shape)
	moved := m.besideWindow(axis, d) // and they become one
	along := func(axis, step int) *ir.Node {
		return m.times(m.add(ir.Iota, ir.Attr{DType: ir.I64, Shape: moved.Shape, Axes: []int{axis}}), float64(step))
	}
	index := m.plus(along(axis, a.Stride), along(axis+1, a.Dilation))
	flat := with(d.Shape[:rank], axis, d.Shape[axis].Mul(ir.N(a.Size)))
	return m.add(ir.Scatter, ir.Attr{Axes: []int{axis}, Mode: "add"}, m.zeros(x), m.reshape(index, flat), m.reshape(moved, flat))
}

// besideWindow moves the last axis of d, the places in a window, behind that of
// the windows.
func (m *maker) besideWindow(axis int, d *ir.Node) *ir.Node {
	rank := len(d.Shape) - 1
	order := make([]int, 0, rank+1)
	for i := range rank {
		order = append(order, i)
		if i == axis {
			order = append(order, rank)
		}
	}
	return m.permute(d, order...)
}
