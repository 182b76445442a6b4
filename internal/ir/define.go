package ir

import (
	"fmt"
	"slices"
)

// Define builds the definition of an anchor in primitives, on the operands in,
// and returns a node for each of its outputs. It is what the anchor means: the
// reference in tests, and the fallback of devices that have no kernel for it.
// It may need far more memory than the anchor. Narrow floats are computed in
// f32 and rounded once, as an anchor does.
func Define(b *Builder, n *Node, in []*Node) ([]*Node, error) {
	d := &definer{b: b}
	var outs []*Node
	switch n.Op {
	case MatMul:
		outs = []*Node{d.matMul(n, in[0], in[1])}
	case Conv:
		outs = []*Node{d.conv(n, in[0], in[1])}
	case Attention:
		outs = d.attention(n, in)
	case AttentionGrad:
		outs = d.attentionGrad(n, in)
	case Sort:
		outs = d.sort(n, in[0])
	case Scan:
		outs = []*Node{d.scan(n, in[0])}
	case SegmentIDs:
		outs = []*Node{d.segmentIDs(in[0], n.Shape[0])}
	case SegmentReduce:
		outs = []*Node{d.segmentReduce(n, in[0], in[1])}
	default:
		return nil, fmt.Errorf("%v is no anchor", n.Op)
	}
	if d.err != nil {
		return nil, fmt.Errorf("definition of %v: %w", n.Op, d.err)
	}
	return outs, nil
}

// definer adds nodes; the first error sticks, and what comes after it is
// ignored. Shapes are always passed along, never read from a node that may
// not have been made.
type definer struct {
	b   *Builder
	err error
}

func (d *definer) add(op Op, a Attr, in ...*Node) *Node {
	if d.err != nil {
		return nil
	}
	n, err := d.b.Add(op, a, in...)
	d.err = err
	return n
}

func (d *definer) reshape(x *Node, s Shape) *Node { return d.add(Reshape, Attr{Shape: s}, x) }

// expand views x under a shape that has 1 where x is to be repeated, and
// repeats it.
func (d *definer) expand(x *Node, ones, to Shape) *Node {
	return d.add(Expand, Attr{Shape: to}, d.reshape(x, ones))
}

func (d *definer) cast(x *Node, from, to DType) *Node {
	if from == to {
		return x
	}
	return d.add(Cast, Attr{DType: to}, x)
}

// fill is a tensor of one value, given by its bits.
func (d *definer) fill(t DType, bits uint64, s Shape) *Node {
	return d.expand(d.add(Const, Attr{DType: t, Value: bits}), onesLike(s), s)
}

// number is a tensor of one value.
func (d *definer) number(t DType, v float64, s Shape) *Node {
	bits, err := Bits(t, v)
	if err != nil && d.err == nil {
		d.err = err
	}
	return d.fill(t, bits, s)
}

func (d *definer) iota(t DType, s Shape, axis int) *Node {
	return d.add(Iota, Attr{DType: t, Shape: s, Axes: []int{axis}})
}

func (d *definer) less(x, y *Node) *Node { return d.add(Less, Attr{}, x, y) }

func (d *definer) and(x, y *Node) *Node { return d.add(And, Attr{}, x, y) }

func (d *definer) not(x *Node, s Shape) *Node { return d.add(Xor, Attr{}, x, d.fill(Bool, 1, s)) }

func (d *definer) where(p, x, y *Node) *Node { return d.add(Where, Attr{}, p, x, y) }

func (d *definer) reduce(op Op, x *Node, axes ...int) *Node { return d.add(op, Attr{Axes: axes}, x) }

// size is the value of a dimension, as a tensor: a symbolic one is counted.
func (d *definer) size(n Dim, t DType, s Shape) *Node {
	if c, ok := n.Const(); ok {
		return d.number(t, float64(c), s)
	}
	count := d.reduce(ReduceSum, d.number(t, 1, Shape{n}), 0)
	return d.expand(count, onesLike(s), s)
}

// maximum reduces along an axis that may be empty: it then gives lowest.
func (d *definer) maximum(x *Node, t DType, rank, axis int) *Node {
	before, after := make([]Dim, rank), make([]Dim, rank)
	after[axis] = N(1)
	return d.reduce(ReduceMax, d.add(Pad, Attr{Before: before, After: after, Value: Lowest(t)}, x), axis)
}

// computed is the type that an anchor on t accumulates in.
func computed(t DType) DType {
	if t.IsFloat() {
		return t.Compute()
	}
	return t
}

// onesLike is the shape of all 1 that has the rank of s.
func onesLike(s Shape) Shape {
	ones := make(Shape, len(s))
	for i := range ones {
		ones[i] = N(1)
	}
	return ones
}

// insert is s with the dimension n at axis.
func insert(s Shape, axis int, n Dim) Shape { return slices.Insert(slices.Clone(s), axis, n) }

// join puts shapes one after another.
func join(parts ...Shape) Shape { return slices.Concat(parts...) }

func (d *definer) fail(format string, args ...any) *Node {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	return nil
}
