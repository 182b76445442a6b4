package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Slices that take a tensor apart give their gradients as pieces between zeros.
// Those that lie side by side are joined, which moves data, rather than added,
// which would read zeros for most of it.

// piece is a gradient that is zero but for some elements along an axis.
type piece struct {
	of         *ir.Node // the gradient, padded
	x          *ir.Node // the elements that are there
	axis       int
	start, end ir.Dim
}

// pieceOf takes a gradient as a piece, if it is one.
func pieceOf(dy *ir.Node) (p piece, ok bool) {
	if dy.Op != ir.Pad || dy.Attr.Value != 0 {
		return p, false
	}
	p = piece{of: dy, x: dy.In[0], axis: -1}
	for i := range dy.Shape {
		if dy.Attr.Before[i].IsConst(0) && dy.Attr.After[i].IsConst(0) {
			continue
		}
		if p.axis >= 0 {
			return p, false
		}
		p.axis, p.start = i, dy.Attr.Before[i]
	}
	if p.axis < 0 {
		return p, false
	}
	p.end = p.start.Add(p.x.Shape[p.axis])
	return p, true
}

// join is the sum of pieces of one gradient: a concatenation of those that are
// the whole of it along an axis, and the others added.
func (m *maker) join(all []piece) *ir.Node {
	var sum *ir.Node
	add := func(dy *ir.Node) {
		if sum == nil {
			sum = dy
		} else {
			sum = m.plus(sum, dy)
		}
	}
	for len(all) > 0 {
		p := all[0]
		row := chain(all, p.axis, ir.N(0), p.of.Shape[p.axis])
		if row == nil {
			add(p.of)
			all = all[1:]
			continue
		}
		var in []*ir.Node
		for _, i := range row {
			in = append(in, all[i].x)
		}
		add(m.add(ir.Concat, ir.Attr{Axes: []int{p.axis}}, in...))
		slices.Sort(row)
		for _, i := range slices.Backward(row) {
			all = slices.Delete(all, i, i+1)
		}
	}
	return sum
}

// chain finds pieces that lie one behind the other from a start to an end, each
// begun where the last one ended, or nil. Where several begin at one place the
// first is taken.
func chain(all []piece, axis int, start, end ir.Dim) []int {
	var row []int
	for !start.Equal(end) {
		i := slices.IndexFunc(all, func(p piece) bool { return p.axis == axis && p.start.Equal(start) })
		if i < 0 || slices.Contains(row, i) {
			return nil
		}
		row, start = append(row, i), all[i].end
	}
	return row
}
