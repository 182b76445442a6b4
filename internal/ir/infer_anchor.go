package ir

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

func inferIndexed(op Op, a *Attr, in []Type) ([]Type, error) {
	x := in[0]
	if op == Contiguous {
		return one(x.DType, x.Shape)
	}
	ax := a.Axis()
	if err := checkAxis(ax, len(x.Shape)); err != nil {
		return nil, err
	}
	index := in[1]
	if index.DType != I32 && index.DType != I64 {
		return nil, fmt.Errorf("the index is i32 or i64, not %v: use Cast", index.DType)
	}
	if err := sameBut(x.Shape, index.Shape, ax, "index"); err != nil {
		return nil, err
	}
	if op == Gather {
		return one(x.DType, index.Shape)
	}
	if a.Mode != "add" && a.Mode != "set" {
		return nil, fmt.Errorf("unknown mode %q", a.Mode)
	}
	if a.Mode == "add" && x.DType == Bool {
		return nil, errors.New("adds numbers, not bool: use Cast")
	}
	if up := in[2]; up.DType != x.DType || !up.Shape.Equal(index.Shape) {
		return nil, fmt.Errorf("updates are %v, want %v", up, Type{x.DType, index.Shape})
	}
	return one(x.DType, x.Shape)
}

func sameBut(x, y Shape, axis int, what string) error {
	if len(x) != len(y) {
		return fmt.Errorf("%s %v and %v differ in rank", what, y, x)
	}
	for i := range x {
		if i != axis && !x[i].Equal(y[i]) {
			return fmt.Errorf("%s %v and %v differ at axis %d", what, y, x, i)
		}
	}
	return nil
}

func inferAnchor(op Op, a *Attr, in []Type) ([]Type, error) {
	if a.TF32 && in[0].DType != F32 {
		return nil, fmt.Errorf("operands are %v: tf32 is for products of f32", in[0].DType)
	}
	switch op {
	case MatMul:
		return inferMatMul(in[0], in[1])
	case Conv:
		return inferConv(a.Conv, in[0], in[1])
	case Attention:
		return inferAttention(a.Attention, in)
	case AttentionGrad:
		return inferAttentionGrad(a.Attention, in)
	case Sort:
		if err := checkAxis(a.Axis(), len(in[0].Shape)); err != nil {
			return nil, err
		}
		return []Type{in[0], {I64, in[0].Shape}}, nil
	case Scan:
		if a.Mode != "sum" && a.Mode != "prod" && a.Mode != "max" {
			return nil, fmt.Errorf("unknown mode %q", a.Mode)
		}
		if err := checkAxis(a.Axis(), len(in[0].Shape)); err != nil {
			return nil, err
		}
		return in[:1], nil
	case SegmentIDs:
		if err := checkOffsets(in[0]); err != nil {
			return nil, err
		}
		if len(a.Shape) != 1 {
			return nil, errors.New("needs the number of rows")
		}
		return one(I32, a.Shape)
	case SegmentReduce:
		return inferSegmentReduce(a, in[0], in[1])
	}
	return nil, fmt.Errorf("no shape rule for %v", op)
}

func inferMatMul(x, y Type) ([]Type, error) {
	if x.DType != y.DType {
		return nil, fmt.Errorf("operands are %v and %v: use Cast", x.DType, y.DType)
	}
	r := len(x.Shape)
	if r < 2 || len(y.Shape) != r {
		return nil, fmt.Errorf("shapes %v and %v: ranks must be equal and at least 2", x.Shape, y.Shape)
	}
	for i := range r - 2 {
		if !x.Shape[i].Equal(y.Shape[i]) {
			return nil, fmt.Errorf("shapes %v and %v: batch sizes differ", x.Shape, y.Shape)
		}
	}
	if !x.Shape[r-1].Equal(y.Shape[r-2]) {
		return nil, fmt.Errorf("shapes %v and %v: inner sizes %v and %v differ", x.Shape, y.Shape, x.Shape[r-1], y.Shape[r-2])
	}
	out := slices.Clone(x.Shape)
	out[r-1] = y.Shape[r-1]
	return one(x.DType, out)
}

func inferConv(c *ConvAttr, x, w Type) ([]Type, error) {
	spatial := len(x.Shape) - 2
	if c == nil || spatial < 1 || len(w.Shape) != spatial+2 {
		return nil, fmt.Errorf("x %v and w %v: want [N, C, spatial...] and [O, C/groups, kernel...]", x.Shape, w.Shape)
	}
	if x.DType != w.DType {
		return nil, fmt.Errorf("operands are %v and %v: use Cast", x.DType, w.DType)
	}
	for _, v := range [][]int{c.Stride, c.Dilation, c.Before, c.After} {
		if len(v) != spatial {
			return nil, fmt.Errorf("%v does not fit %d spatial axes", v, spatial)
		}
	}
	if c.Groups < 1 || !w.Shape[1].Mul(N(c.Groups)).Equal(x.Shape[1]) {
		return nil, fmt.Errorf("x has %v channels, w %v in %d groups", x.Shape[1], w.Shape[1], c.Groups)
	}
	if _, ok := w.Shape[0].Div(N(c.Groups)); !ok {
		return nil, fmt.Errorf("%v output channels do not divide into %d groups", w.Shape[0], c.Groups)
	}
	out := Shape{x.Shape[0], w.Shape[0]}
	for i := range spatial {
		k, ok := w.Shape[i+2].Const()
		if !ok {
			return nil, fmt.Errorf("kernel size %v of axis %d is not constant", w.Shape[i+2], i)
		}
		if min(c.Before[i], c.After[i]) < 0 || max(c.Before[i], c.After[i]) > math.MaxInt32 {
			return nil, fmt.Errorf("padding %d and %d of axis %d must be between 0 and %d", c.Before[i], c.After[i], i, math.MaxInt32)
		}
		t, err := inferWindow(&Attr{Axes: []int{0}, Size: k, Stride: c.Stride[i], Dilation: c.Dilation[i]},
			Type{x.DType, Shape{x.Shape[i+2].Plus(c.Before[i] + c.After[i])}})
		if err != nil {
			return nil, fmt.Errorf("spatial axis %d with its padding: %w", i, err)
		}
		out = append(out, t[0].Shape[0])
	}
	return one(x.DType, out)
}

func checkOffsets(t Type) error {
	if t.DType != I32 || len(t.Shape) != 1 {
		return fmt.Errorf("offsets are i32 of rank 1, not %v", t)
	}
	if lo, _ := t.Shape[0].Bounds(); lo < 1 {
		return fmt.Errorf("offsets %v may be empty: they hold one more than there are sequences", t)
	}
	return nil
}

// inferAttention: q [N, heads, width] and k, v [M, kvHeads, width] with
// offsets, else q [B, heads, T, width] and k, v [B, kvHeads, S, width]. The
// logsumexp is f32 [N, heads] or [B, heads, T].
func inferAttention(a *AttentionAttr, in []Type) ([]Type, error) {
	if a == nil {
		return nil, errors.New("has no attributes")
	}
	want := 3
	if a.Ragged {
		want += 2
	}
	if a.Mask {
		want++
	}
	if len(in) != want {
		return nil, fmt.Errorf("takes %d operands, not %d", want, len(in))
	}
	if a.Scale == 0 || math.IsNaN(a.Scale) || math.IsInf(a.Scale, 0) {
		return nil, fmt.Errorf("scale %v is not a factor: 1/sqrt(width) is the usual one", a.Scale)
	}
	if !(a.SoftCap >= 0) || math.IsInf(a.SoftCap, 0) || a.Window < 0 {
		return nil, fmt.Errorf("soft cap %v and window %d must not be negative; 0 turns them off", a.SoftCap, a.Window)
	}
	q, k, v := in[0], in[1], in[2]
	if q.DType != k.DType || q.DType != v.DType {
		return nil, fmt.Errorf("q, k and v are %v, %v and %v: use Cast", q.DType, k.DType, v.DType)
	}
	rank, head := 4, 1
	if a.Ragged {
		rank = 3
	}
	if len(q.Shape) != rank || len(k.Shape) != rank || len(v.Shape) != rank {
		return nil, fmt.Errorf("q %v, k %v, v %v: want rank %d", q.Shape, k.Shape, v.Shape, rank)
	}
	if !k.Shape[:rank-1].Equal(v.Shape[:rank-1]) {
		return nil, fmt.Errorf("k %v and v %v differ in length or heads", k.Shape, v.Shape)
	}
	if !q.Shape[rank-1].Equal(k.Shape[rank-1]) {
		return nil, fmt.Errorf("q %v and k %v differ in width", q.Shape, k.Shape)
	}
	if !a.Ragged && !q.Shape[0].Equal(k.Shape[0]) {
		return nil, fmt.Errorf("q %v and k %v differ in batch size", q.Shape, k.Shape)
	}
	if _, ok := q.Shape[head].Div(k.Shape[head]); !ok {
		return nil, fmt.Errorf("%v query heads do not divide into %v key heads", q.Shape[head], k.Shape[head])
	}
	if a.Ragged {
		if err := errors.Join(checkOffsets(in[3]), checkOffsets(in[4])); err != nil {
			return nil, err
		}
		if !in[3].Shape.Equal(in[4].Shape) {
			return nil, fmt.Errorf("query offsets %v and key offsets %v differ in length", in[3], in[4])
		}
	}
	if a.Mask {
		if err := checkMask(a, in); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(q.Shape)
	out[rank-1] = v.Shape[rank-1]
	lse := F32
	if q.DType == F64 {
		lse = F64
	}
	return []Type{{q.DType, out}, {lse, slices.Clone(q.Shape[:rank-1])}}, nil
}

// inferAttentionGrad: behind the operands of the attention come its logsumexp,
// the gradient with respect to its result, and delta, of the logsumexp's type.
func inferAttentionGrad(a *AttentionAttr, in []Type) ([]Type, error) {
	if len(in) < GradOperands {
		return nil, fmt.Errorf("takes the operands of an attention and %d more, not %d", GradOperands, len(in))
	}
	n := len(in) - GradOperands
	outs, err := inferAttention(a, in[:n])
	if err != nil {
		return nil, err
	}
	for i, want := range [GradOperands]Type{outs[1], outs[0], outs[1]} {
		if !in[n+i].Equal(want) {
			return nil, fmt.Errorf("%s is %v, want %v", [...]string{"logsumexp", "the result's gradient", "delta"}[i], in[n+i], want)
		}
	}
	return slices.Clone(in[:3]), nil
}

// checkMask: the mask is [batch, heads, queries, keys], any of them 1. The
// lengths of ragged sequences are known only when a program runs.
func checkMask(a *AttentionAttr, in []Type) error {
	q, k, m := in[0], in[1], in[len(in)-1]
	if m.DType != q.DType || len(m.Shape) != 4 {
		return fmt.Errorf("the mask is %v of rank 4, not %v", q.DType, m)
	}
	want := q.Shape[:3:3]
	if a.Ragged {
		want = Shape{in[3].Shape[0].Plus(-1), q.Shape[1]}
	} else {
		want = append(want, k.Shape[2])
	}
	for i, d := range want {
		if !m.Shape[i].IsConst(1) && !m.Shape[i].Equal(d) {
			return fmt.Errorf("mask %v does not broadcast: axis %d is neither 1 nor %v", m.Shape, i, d)
		}
	}
	return nil
}

func inferSegmentReduce(a *Attr, x, offsets Type) ([]Type, error) {
	if a.Mode != "sum" && a.Mode != "max" {
		return nil, fmt.Errorf("unknown mode %q", a.Mode)
	}
	if err := checkOffsets(offsets); err != nil {
		return nil, err
	}
	if len(x.Shape) < 1 {
		return nil, fmt.Errorf("x has rank 0, want rows")
	}
	out := slices.Clone(x.Shape)
	out[0] = offsets.Shape[0].Plus(-1)
	return one(x.DType, out)
}
