package schedule

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// move looks through a movement node: the element of n at idx is an element of
// an operand, or the padding.
func (b *builder) move(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	x := n.In[0]
	switch n.Op {
	case ir.Reshape:
		for x.Op == ir.Reshape && !b.s.isBuffer(x) && b.local[x] == nil {
			x = x.In[0]
		}
		if b.s.isBuffer(x) && b.local[x] == nil && b.s.layout[b.s.key(x)] == nil { // the position is the same under any shape
			return b.load(x, linear(idx, n.Shape), valid), nil
		}
		return b.value(x, b.reshapeIndex(idx, n.Shape, x.Shape), valid)
	case ir.Pad:
		return b.pad(n, idx, valid)
	case ir.Concat:
		return b.concat(n, idx, valid)
	}
	at := make([]*loop.Expr, len(x.Shape))
	for i := range at {
		switch n.Op {
		case ir.Permute:
			at[n.Attr.Axes[i]] = idx[i]
		case ir.Expand:
			at[i] = idx[i]
			if x.Shape[i].IsConst(1) && !n.Shape[i].IsConst(1) { // else data may tell it: see linear
				at[i] = loop.Int(0)
			}
		case ir.Slice:
			at[i] = loop.AddIndex(loop.MulIndex(idx[i], loop.Int(n.Attr.Steps[i])), loop.SizeOf(n.Attr.Starts[i]))
		case ir.Flip:
			at[i] = idx[i]
			if n.Attr.Has(i) {
				at[i] = loop.SubIndex(loop.SizeOf(x.Shape[i].Plus(-1)), idx[i])
			}
		case ir.Window:
			at[i] = idx[i]
			if i == n.Attr.Axis() {
				at[i] = loop.AddIndex(loop.MulIndex(idx[i], loop.Int(n.Attr.Stride)), loop.MulIndex(idx[len(idx)-1], loop.Int(n.Attr.Dilation)))
			}
		default:
			return nil, fmt.Errorf("no index rule for %v", n.Op)
		}
	}
	v, err := b.value(x, at, valid)
	if err == nil && n.Op == ir.Expand && b.hoist != nil {
		v = b.hoist(x, at, v)
	}
	return v, err
}

// pad reads the operand where idx lies within it.
func (b *builder) pad(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	x := n.In[0]
	at := make([]*loop.Expr, len(idx))
	var inside *loop.Expr
	for i := range idx {
		at[i] = loop.SubIndex(idx[i], loop.SizeOf(n.Attr.Before[i]))
		if !n.Attr.Before[i].IsConst(0) {
			inside = loop.And(inside, loop.Apply(ir.Less, ir.Bool, loop.Int(-1), at[i]))
		}
		if !n.Attr.After[i].IsConst(0) {
			inside = loop.And(inside, loop.Apply(ir.Less, ir.Bool, at[i], loop.SizeOf(x.Shape[i])))
		}
	}
	v, err := b.value(x, at, loop.And(valid, inside))
	if err != nil || inside == nil {
		return v, err
	}
	return loop.Apply(ir.Where, n.DType, inside, v, loop.Const(n.DType, n.Attr.Value)), nil
}

// concat picks the operand that idx falls into.
func (b *builder) concat(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	axis := n.Attr.Axis()
	starts := make([]ir.Dim, len(n.In))
	for i, in := range n.In[:len(n.In)-1] {
		starts[i+1] = starts[i].Add(in.Shape[axis])
	}
	if at, ok := idx[axis].AsInt(); ok {
		if i := operandAt(n, at); i >= 0 {
			idx = slices.Clone(idx)
			idx[axis] = loop.SubIndex(idx[axis], loop.SizeOf(starts[i]))
			return b.value(n.In[i], idx, valid)
		}
	}
	var result *loop.Expr
	for i := len(n.In) - 1; i >= 0; i-- {
		if n.In[i].Shape[axis].IsConst(0) && result != nil {
			continue
		}
		before := loop.Apply(ir.Less, ir.Bool, idx[axis], loop.SizeOf(starts[i].Add(n.In[i].Shape[axis])))
		inside := before
		if i > 0 {
			inside = loop.And(loop.Apply(ir.Less, ir.Bool, loop.SizeOf(starts[i].Plus(-1)), idx[axis]), before)
		}
		at := append([]*loop.Expr(nil), idx...)
		at[axis] = loop.SubIndex(idx[axis], loop.SizeOf(starts[i]))
		v, err := b.value(n.In[i], at, loop.And(valid, inside))
		if err != nil {
			return nil, err
		}
		if result == nil {
			result = v
		} else {
			result = loop.Apply(ir.Where, n.DType, before, v, result)
		}
	}
	return result, nil
}

// operandAt is the operand of a concatenation into which a place along the axis falls;
// -1 where that depends on sizes of the run.
func operandAt(n *ir.Node, at int) int {
	end := 0
	for i, in := range n.In {
		size, ok := in.Shape[n.Attr.Axis()].Const()
		if !ok {
			return -1
		}
		if end += size; at < end {
			return i
		}
	}
	return -1
}

// reshapeIndex gives the index in shape to of the element that has idx in
// shape from. Runs of axes with equal products are treated apart, which keeps
// the divisions few.
func (b *builder) reshapeIndex(idx []*loop.Expr, from, to ir.Shape) []*loop.Expr {
	out := make([]*loop.Expr, len(to))
	for i := range out {
		out[i] = loop.Int(0)
	}
	fi, ti := notOne(from), notOne(to)
	for len(fi) > 0 || len(ti) > 0 {
		nf, nt := matchRun(from, to, fi, ti)
		flat := loop.Int(0)
		stride := ir.N(1)
		for i := nf - 1; i >= 0; i-- {
			flat = loop.AddIndex(loop.MulIndex(idx[fi[i]], loop.SizeOf(stride)), flat)
			stride = stride.Mul(from[fi[i]])
		}
		below := ir.N(1)
		for i := nt - 1; i >= 0; i-- {
			q := loop.DivIndex(flat, below, b.bound)
			if i > 0 {
				q = loop.ModIndex(q, to[ti[i]], b.bound)
			}
			out[ti[i]] = q
			below = below.Mul(to[ti[i]])
		}
		fi, ti = fi[nf:], ti[nt:]
	}
	return out
}

func notOne(s ir.Shape) []int {
	var at []int
	for i, d := range s {
		if !d.IsConst(1) {
			at = append(at, i)
		}
	}
	return at
}

// matchRun finds how many of the axes fi and ti, from the front, have equal
// products; all of them where nothing less can be proved.
func matchRun(from, to ir.Shape, fi, ti []int) (nf, nt int) {
	p, q := ir.N(1), ir.N(1)
	for nf, nt = 0, 0; ; {
		if nf > 0 && nt > 0 && p.Equal(q) && !p.IsConst(0) {
			return nf, nt
		}
		_, smaller := q.Div(p) // p divides q: take one more on the left
		switch {
		case (nf == 0 || smaller && !p.Equal(q)) && nf < len(fi):
			p = p.Mul(from[fi[nf]])
			nf++
		case nt < len(ti):
			q = q.Mul(to[ti[nt]])
			nt++
		case nf < len(fi):
			p = p.Mul(from[fi[nf]])
			nf++
		default:
			return nf, nt
		}
	}
}
