// Package grad turns graphs into graphs of their gradients, in the same
// operations: reverse-mode differentiation by one table with a rule an
// operation.
package grad

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Custom is a gradient that takes the place of a rule: Back gives, from the
// gradient with respect to a node, those with respect to Operands, nil for
// zero. The node's own operands get none.
type Custom struct {
	Operands []*ir.Node
	Back     func(dy *ir.Node) ([]*ir.Node, error)
}

// Problem is what Of differentiates: sum over i of sum(Outputs[i] *
// Cotangents[i]), with respect to each of Wrt.
type Problem struct {
	Outputs    []*ir.Node
	Cotangents []*ir.Node // of the types of Outputs
	Wrt        []*ir.Node
	Custom     map[*ir.Node]Custom
	// Apart takes Wrt as if none were computed from another.
	Apart bool
}

// PathError is a value that the outputs do not depend on in a way that has a
// gradient.
type PathError struct {
	At *ir.Node // an operation that the gradient ends at; nil: there is no path
}

func (e *PathError) Error() string {
	if e.At == nil {
		return "the result does not depend on it: was the result made from other tensors, or has Eval or Values computed it, and it forgot what it came from?"
	}
	return fmt.Sprintf("the result depends on it only through %v, which has no gradient: %s", e.At.Op, why(e.At))
}

// Of adds the gradients to b, the builder of p's nodes, one for each of p.Wrt
// and of its type; or a *PathError in its place.
func Of(b *ir.Builder, p Problem) (grads []*ir.Node, missing []error, err error) {
	var ends map[*ir.Node]bool
	if p.Apart {
		ends = map[*ir.Node]bool{}
		for _, x := range p.Wrt {
			ends[x] = true
		}
	}
	w := newWalk(b, p, ends)
	grads, missing = w.run(), make([]error, len(p.Wrt))
	for i, x := range p.Wrt {
		if grads[i] != nil {
			continue
		}
		if missing[i] = w.path(x); missing[i] == nil {
			grads[i] = w.zeros(x)
		}
	}
	return grads, missing, w.err
}

// walk goes from the outputs back to what they depend on.
type walk struct {
	maker
	Problem
	order  []*ir.Node              // operands first
	ends   map[*ir.Node]bool       // not looked behind
	active map[*ir.Node]bool       // a gradient flows through it on its way to Wrt
	grads  map[*ir.Node][]*ir.Node // by output of the node; nil entries are zero
	// Of the gradient of output 0, still to be added.
	pieces   map[*ir.Node][]piece
	products map[*ir.Node][]product
}

func newWalk(b *ir.Builder, p Problem, ends map[*ir.Node]bool) *walk {
	w := &walk{maker: maker{b: b}, Problem: p, ends: ends, order: p.order(ends), active: map[*ir.Node]bool{}, grads: map[*ir.Node][]*ir.Node{}, pieces: map[*ir.Node][]piece{}, products: map[*ir.Node][]product{}}
	for _, x := range w.Wrt {
		w.active[x] = true
	}
	for _, n := range w.order {
		if !w.active[n] {
			w.active[n] = w.wanted(n)
		}
	}
	return w
}

// run gives the gradients, nil for zero.
func (w *walk) run() []*ir.Node {
	for i, out := range w.Outputs {
		w.give(out, 0, w.Cotangents[i])
	}
	for i := len(w.order) - 1; i >= 0 && w.err == nil; i-- {
		w.back(w.order[i])
	}
	all := make([]*ir.Node, len(w.Wrt))
	for i, x := range w.Wrt {
		if g := w.gradients(x); g != nil {
			all[i] = g[0]
		}
	}
	return all
}

// operands are what the gradient of n goes to.
func (p *Problem) operands(n *ir.Node) []*ir.Node {
	if c, ok := p.Custom[n]; ok {
		return c.Operands
	}
	return n.In
}

// order lists what the outputs need, operands first. It keeps its own stack,
// as chains may be longer than a goroutine's.
func (p *Problem) order(ends map[*ir.Node]bool) []*ir.Node {
	var all, stack []*ir.Node
	const open, done = 1, 2
	state := map[*ir.Node]int{}
	for _, out := range p.Outputs {
		stack = append(stack, out)
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			switch state[n] {
			case done:
				stack = stack[:len(stack)-1]
			case open:
				state[n] = done
				all = append(all, n)
				stack = stack[:len(stack)-1]
			default:
				state[n] = open
				if ends[n] {
					continue
				}
				for _, in := range p.operands(n) {
					if state[in] == 0 {
						stack = append(stack, in)
					}
				}
			}
		}
	}
	return all
}

// flows tells whether the gradient of n reaches operand i.
func (w *walk) flows(n *ir.Node, i int) bool {
	if _, ok := w.Custom[n]; ok {
		return true
	}
	if n.Op == ir.Get { // of a node whose outputs may differ in kind
		return n.DType.IsFloat()
	}
	return n.In[i].DType.IsFloat() && n.DType.IsFloat() && rules[n.Op].back != nil
}

// path wants a way from some output to x.
func (w *walk) path(x *ir.Node) error {
	flow, reach := map[*ir.Node]bool{x: true}, map[*ir.Node]bool{x: true}
	var blocked *ir.Node // the last operation on the way that the gradient ends at
	for _, n := range w.order {
		for i, in := range w.operands(n) {
			reach[n] = reach[n] || reach[in]
			if flow[in] && w.flows(n, i) {
				flow[n] = true
			} else if flow[in] {
				blocked = n
			}
		}
	}
	some := false
	for _, out := range w.Outputs {
		if flow[out] {
			return nil
		}
		some = some || reach[out]
	}
	if !some {
		blocked = nil
	}
	return &PathError{blocked}
}

// give adds to the gradient of an output of n.
func (w *walk) give(n *ir.Node, out int, dy *ir.Node) {
	if dy == nil || !w.active[n] || w.err != nil {
		return
	}
	all := w.grads[n]
	if all == nil {
		all = make([]*ir.Node, n.Op.Outputs())
		w.grads[n] = all
	}
	if p, ok := pieceOf(dy); ok && out == 0 {
		w.pieces[n] = append(w.pieces[n], p)
		return
	}
	if p, ok := productOf(dy); ok && out == 0 {
		w.products[n] = append(w.products[n], p)
		return
	}
	if all[out] != nil {
		dy = w.plus(all[out], dy)
	}
	all[out] = dy
}

// gradients are those of a node, by output, when all its users have come.
func (w *walk) gradients(n *ir.Node) []*ir.Node {
	add := func(dy *ir.Node) {
		if w.grads[n][0] != nil {
			dy = w.plus(w.grads[n][0], dy)
		}
		w.grads[n][0] = dy
	}
	if p := w.products[n]; p != nil {
		delete(w.products, n)
		add(w.sumOfProducts(p))
	}
	if p := w.pieces[n]; p != nil {
		delete(w.pieces, n)
		add(w.join(p))
	}
	return w.grads[n]
}

// back passes the gradient of a node, complete as all its users have come, on
// to its operands.
func (w *walk) back(n *ir.Node) {
	all := w.gradients(n)
	if all == nil || !w.wanted(n) {
		return
	}
	var to []*ir.Node
	custom, ok := w.Custom[n]
	switch {
	case ok:
		to, w.err = custom.Back(all[0])
	case n.Op == ir.Get:
		w.give(n.In[0], n.Attr.Out, all[0])
		return
	default:
		to = rules[n.Op].back(&w.maker, n, all)
	}
	for i, in := range w.operands(n) {
		if w.err != nil || i >= len(to) || to[i] == nil {
			continue
		}
		if !to[i].Type.Equal(in.Type) {
			w.err = fmt.Errorf("the gradient of operand %d of %v is %v, want %v", i, n.Op, to[i].Type, in.Type)
			return
		}
		w.give(in, 0, to[i])
	}
}

// wanted tells whether some operand of n wants a gradient that n has to give.
func (w *walk) wanted(n *ir.Node) bool {
	if w.ends[n] {
		return false
	}
	for i, in := range w.operands(n) {
		if w.active[in] && w.flows(n, i) {
			return true
		}
	}
	return false
}
