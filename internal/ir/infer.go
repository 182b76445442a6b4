package ir

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Infer gives the types of op's outputs, or says why the operands do not fit.
// It is the only place that knows; tracing, building and checking all ask it.
func Infer(op Op, a *Attr, in []Type) ([]Type, error) {
	info := op.info()
	if info.class == NoClass {
		return nil, fmt.Errorf("unknown operation %d", op)
	}
	if info.arity >= 0 && len(in) != info.arity {
		return nil, fmt.Errorf("takes %d operands, not %d", info.arity, len(in))
	}
	outs, err := infer(op, info, a, in)
	if err != nil {
		return nil, err
	}
	for _, t := range outs {
		if !t.DType.Valid() {
			return nil, errors.New("has no dtype")
		}
		if err := t.Shape.Check(); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

func infer(op Op, info *opInfo, a *Attr, in []Type) ([]Type, error) {
	if len(in) > 0 && op != Rand && op != Where {
		if err := checkType(info.types, in[0].DType); err != nil {
			return nil, err
		}
	}
	switch info.class {
	case ClassLeaf:
		return inferLeaf(op, a, in)
	case ClassUnary:
		return inferUnary(op, a, in[0])
	case ClassBinary, ClassTernary:
		return inferPointwise(op, in)
	case ClassReduce:
		return inferReduce(op, a, in[0])
	case ClassMovement:
		return inferMovement(op, a, in)
	case ClassIndexed:
		return inferIndexed(op, a, in)
	case ClassAnchor:
		return inferAnchor(op, a, in)
	}
	switch op {
	case Get:
		return in, nil
	case Assign:
		if !in[0].Equal(in[1]) {
			return nil, fmt.Errorf("the variable is %v, the new value %v", in[0], in[1])
		}
		return in[1:], nil
	}
	return nil, fmt.Errorf("no shape rule for %v", op)
}

func checkType(r typeRule, d DType) error {
	switch {
	case r == floatOnly && !d.IsFloat():
		return fmt.Errorf("takes floats, not %v: use Cast", d)
	case r == intOnly && !d.IsInt():
		return fmt.Errorf("takes integers, not %v: use Cast", d)
	case r == number && !d.IsInt() && !d.IsFloat():
		return fmt.Errorf("takes numbers, not %v: use Cast", d)
	case r == bitsOnly && !d.IsInt() && d != Bool:
		return fmt.Errorf("takes integers or bool, not %v: use Cast", d)
	case r == wordsOnly && d != U32:
		return fmt.Errorf("takes u32, not %v: use Cast", d)
	}
	return nil
}

func one(d DType, s Shape) ([]Type, error) { return []Type{{d, s}}, nil }

func inferLeaf(op Op, a *Attr, in []Type) ([]Type, error) {
	switch op {
	case Const:
		if len(a.Shape) != 0 {
			return nil, errors.New("a constant has rank 0")
		}
		if err := checkValue(a.DType, a.Value); err != nil {
			return nil, err
		}
	case Bound, Weight, Variable:
		for _, d := range a.Shape {
			if !d.Static() {
				return nil, fmt.Errorf("%v has a symbolic size: only an Input may", a.Shape)
			}
		}
	case Iota:
		if err := checkType(number, a.DType); err != nil {
			return nil, err
		}
		if err := checkAxis(a.Axis(), len(a.Shape)); err != nil {
			return nil, err
		}
	case Rand:
		if in[0].DType != U32 || !in[0].Shape.Equal(Static(4)) {
			return nil, fmt.Errorf("the key is u32[4], not %v", in[0])
		}
		return one(U32, a.Shape)
	}
	return one(a.DType, a.Shape)
}

// checkValue refuses bits that no element of type d has.
func checkValue(d DType, bits uint64) error {
	if d == Bool && bits > 1 || d.Size() < 8 && bits>>(8*d.Size()) != 0 {
		return fmt.Errorf("%#x is no value of type %v", bits, d)
	}
	return nil
}

func inferUnary(op Op, a *Attr, x Type) ([]Type, error) {
	switch op {
	case Cast:
		return one(a.DType, x.Shape)
	case Bitcast:
		if a.DType == Bool {
			return nil, errors.New("to bool may make values that are neither 0 nor 1: use Cast")
		}
		if a.DType.Size() != x.DType.Size() {
			return nil, fmt.Errorf("%v and %v differ in size", x.DType, a.DType)
		}
		return one(a.DType, x.Shape)
	}
	return one(x.DType, x.Shape)
}

func inferPointwise(op Op, in []Type) ([]Type, error) {
	same := in
	if op == Where {
		if in[0].DType != Bool {
			return nil, fmt.Errorf("the condition is bool, not %v", in[0].DType)
		}
		same = in[1:]
	}
	for _, t := range same[1:] {
		if t.DType != same[0].DType {
			return nil, fmt.Errorf("operands are %v and %v: use Cast", same[0].DType, t.DType)
		}
	}
	for _, t := range in[1:] {
		if !t.Shape.Equal(in[0].Shape) {
			return nil, fmt.Errorf("shapes %v and %v differ", in[0].Shape, t.Shape)
		}
	}
	if op == Less || op == Equal {
		return one(Bool, in[0].Shape)
	}
	return one(same[0].DType, same[0].Shape)
}

func inferReduce(op Op, a *Attr, x Type) ([]Type, error) {
	if err := checkAxes(a.Axes, len(x.Shape)); err != nil {
		return nil, err
	}
	out := slices.Clone(x.Shape)
	for _, ax := range a.Axes {
		needsOne := op != ReduceSum && op != ReduceProd
		if _, hi := x.Shape[ax].Bounds(); needsOne && hi == 0 {
			return nil, fmt.Errorf("over empty axis %d of %v has no value", ax, x.Shape)
		}
		out[ax] = N(1)
	}
	if op == ArgMax || op == ArgMin {
		if len(a.Axes) != 1 {
			return nil, fmt.Errorf("takes one axis, not %v", a.Axes)
		}
		return one(I64, out)
	}
	return one(x.DType, out)
}

func checkAxis(axis, rank int) error {
	if axis < 0 || axis >= rank {
		return fmt.Errorf("axis %d is outside rank %d", axis, rank)
	}
	return nil
}

// checkAxes wants axes sorted and distinct, so that equal sets are equal nodes.
func checkAxes(axes []int, rank int) error {
	for i, ax := range axes {
		if err := checkAxis(ax, rank); err != nil {
			return err
		}
		if i > 0 && axes[i-1] >= ax {
			return fmt.Errorf("axes %v are not sorted and distinct", axes)
		}
	}
	return nil
}

func inferMovement(op Op, a *Attr, in []Type) ([]Type, error) {
	if op == Concat {
		return inferConcat(a, in)
	}
	x := in[0]
	rank := len(x.Shape)
	switch op {
	case Reshape:
		if err := a.Shape.Check(); err != nil {
			return nil, err
		}
		if !x.Shape.Numel().Equal(a.Shape.Numel()) {
			return nil, fmt.Errorf("%v has %v elements, %v has %v", x.Shape, x.Shape.Numel(), a.Shape, a.Shape.Numel())
		}
		return one(x.DType, a.Shape)
	case Permute:
		return inferPermute(a, x)
	case Expand:
		if len(a.Shape) != rank {
			return nil, fmt.Errorf("cannot expand %v to %v: the ranks differ", x.Shape, a.Shape)
		}
		for i, d := range x.Shape {
			if !d.Equal(a.Shape[i]) && !d.IsConst(1) {
				return nil, fmt.Errorf("cannot expand %v to %v: axis %d is not 1", x.Shape, a.Shape, i)
			}
		}
		return one(x.DType, a.Shape)
	case Pad:
		return inferPad(a, x)
	case Slice:
		return inferSlice(a, x)
	case Flip:
		if err := checkAxes(a.Axes, rank); err != nil {
			return nil, err
		}
		return one(x.DType, x.Shape)
	case Window:
		return inferWindow(a, x)
	}
	return nil, fmt.Errorf("no shape rule for %v", op)
}

func inferPermute(a *Attr, x Type) ([]Type, error) {
	if len(a.Axes) != len(x.Shape) {
		return nil, fmt.Errorf("order %v does not fit rank %d", a.Axes, len(x.Shape))
	}
	out := make(Shape, len(x.Shape))
	seen := make([]bool, len(x.Shape))
	for i, ax := range a.Axes {
		if err := checkAxis(ax, len(x.Shape)); err != nil {
			return nil, err
		}
		if seen[ax] {
			return nil, fmt.Errorf("axis %d comes twice in %v", ax, a.Axes)
		}
		seen[ax] = true
		out[i] = x.Shape[ax]
	}
	return one(x.DType, out)
}

func inferPad(a *Attr, x Type) ([]Type, error) {
	if err := checkValue(x.DType, a.Value); err != nil {
		return nil, err
	}
	if len(a.Before) != len(x.Shape) || len(a.After) != len(x.Shape) {
		return nil, fmt.Errorf("padding does not fit rank %d", len(x.Shape))
	}
	out := make(Shape, len(x.Shape))
	for i, d := range x.Shape {
		for _, p := range []Dim{a.Before[i], a.After[i]} {
			if lo, _ := p.Bounds(); lo < 0 {
				return nil, fmt.Errorf("padding %v of axis %d may be negative: use Slice to cut", p, i)
			}
		}
		out[i] = a.Before[i].Add(d).Add(a.After[i])
	}
	return one(x.DType, out)
}

func inferSlice(a *Attr, x Type) ([]Type, error) {
	rank := len(x.Shape)
	if len(a.Starts) != rank || len(a.Steps) != rank || len(a.Shape) != rank {
		return nil, fmt.Errorf("slice does not fit rank %d", rank)
	}
	for i, d := range x.Shape {
		if a.Steps[i] < 1 {
			return nil, fmt.Errorf("step %d of axis %d is below 1: use Flip", a.Steps[i], i)
		}
		if lo, _ := a.Starts[i].Bounds(); lo < 0 {
			return nil, fmt.Errorf("start %v of axis %d may be negative", a.Starts[i], i)
		}
		if a.Shape[i].IsConst(0) {
			continue
		}
		// The last index read, start + step*(size-1), is below d.
		last := a.Shape[i].Plus(-1).Mul(N(a.Steps[i])).Add(a.Starts[i])
		if lo, _ := d.Sub(last).Bounds(); lo < 1 {
			return nil, fmt.Errorf("slice of axis %d may reach index %v of size %v", i, last, d)
		}
	}
	return one(x.DType, a.Shape)
}

func inferWindow(a *Attr, x Type) ([]Type, error) {
	ax := a.Axis()
	if err := checkAxis(ax, len(x.Shape)); err != nil {
		return nil, err
	}
	if a.Size < 1 || a.Stride < 1 || a.Dilation < 1 {
		return nil, fmt.Errorf("window size %d, stride %d and dilation %d must be at least 1", a.Size, a.Stride, a.Dilation)
	}
	if max(a.Size, a.Stride, a.Dilation) > math.MaxInt32 {
		return nil, fmt.Errorf("window size %d, stride %d or dilation %d is above %d", a.Size, a.Stride, a.Dilation, math.MaxInt32)
	}
	d := x.Shape[ax].Plus(-(a.Size - 1) * a.Dilation) // positions at stride 1
	if lo, _ := d.Bounds(); lo < 1 {
		return nil, fmt.Errorf("a window of %d (dilation %d) does not fit axis %d of %v", a.Size, a.Dilation, ax, x.Shape)
	}
	if n, ok := d.Const(); ok {
		d = N((n-1)/a.Stride + 1)
	} else if a.Stride != 1 {
		return nil, fmt.Errorf("stride %d over symbolic size %v is not supported", a.Stride, x.Shape[ax])
	}
	out := append(slices.Clone(x.Shape), N(a.Size))
	out[ax] = d
	return one(x.DType, out)
}

func inferConcat(a *Attr, in []Type) ([]Type, error) {
	if len(in) == 0 {
		return nil, errors.New("nothing to put together")
	}
	ax := a.Axis()
	if err := checkAxis(ax, len(in[0].Shape)); err != nil {
		return nil, err
	}
	out := slices.Clone(in[0].Shape)
	for _, t := range in[1:] {
		if t.DType != in[0].DType {
			return nil, fmt.Errorf("operands are %v and %v: use Cast", in[0].DType, t.DType)
		}
		if len(t.Shape) != len(out) {
			return nil, fmt.Errorf("shapes %v and %v differ in rank", in[0].Shape, t.Shape)
		}
		for i := range out {
			if i == ax {
				out[i] = out[i].Add(t.Shape[i])
			} else if !out[i].Equal(t.Shape[i]) {
				return nil, fmt.Errorf("shapes %v and %v differ at axis %d", in[0].Shape, t.Shape, i)
			}
		}
	}
	return one(in[0].DType, out)
}
