package grad

import "github.com/sinterml/sinter/internal/ir"

func gather(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	return []*ir.Node{m.scatterAdd(n.In[0], n.In[1], d[0], n.Attr.Axis()), nil}
}

// scatterAdd adds d at index along an axis to zeros like x.
func (m *maker) scatterAdd(x, index, d *ir.Node, axis int) *ir.Node {
	return m.add(ir.Scatter, ir.Attr{Axes: []int{axis}, Mode: "add"}, m.zeros(x), index, d)
}

func scatter(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	index, updates, at := n.In[1], n.In[2], ir.Attr{Axes: n.Attr.Axes}
	du := m.add(ir.Gather, at, d[0], index)
	if n.Attr.Mode == "add" {
		return []*ir.Node{d[0], nil, du}
	}
	// What was set no longer depends on x, and of several updates of one place
	// the last alone counts: the one whose number is found there.
	set := ir.Attr{Axes: n.Attr.Axes, Mode: "set"}
	dx := m.add(ir.Scatter, set, d[0], index, m.zeros(updates))
	number := m.add(ir.Iota, ir.Attr{DType: ir.I64, Shape: updates.Shape, Axes: n.Attr.Axes})
	last := m.add(ir.Scatter, set, m.fill(ir.I64, -1, n.Shape), index, number)
	counts := m.op(ir.Equal, m.add(ir.Gather, at, last, index), number)
	return []*ir.Node{dx, nil, m.where(counts, du, m.zeros(updates))}
}

// sorted puts the gradient of each value back to where it came from.
func sorted(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	if d[0] == nil {
		return []*ir.Node{nil}
	}
	index := m.add(ir.Get, ir.Attr{Out: 1}, n)
	return []*ir.Node{m.scatterAdd(n.In[0], index, d[0], n.Attr.Axis())}
}
