package sinter

import "sync/atomic"

// regions numbers what is recomputed, so that it is not merged with what was
// computed before.
var regions atomic.Int64

// Checkpoint is f(in), whose intermediate results a gradient computes again
// instead of keeping them: less memory for more work. Random draws in f are the
// same both times.
func Checkpoint(f func(in []Tensor) Tensor, in ...Tensor) Tensor {
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	if f == nil {
		return failf(in, "f is nil")
	}
	before := serials.Load()
	y := f(append([]Tensor{}, in...))
	if bad, ok := firstErr(y); ok {
		return bad
	}
	// Beside in, f may use what it finds around it.
	var outside []Tensor
	for _, v := range outsideOf(y.v, before) {
		outside = append(outside, Tensor{v})
	}
	return withGradient(y, outside, func(in []Tensor, y, dy Tensor) []Tensor {
		again := Tensor{recompute(y.v, in, int(regions.Add(1)))}
		grads, _, err := vjp([]Tensor{again}, []Tensor{dy}, in)
		if err != nil {
			return []Tensor{fail(err, y)}
		}
		return grads
	})
}

// outsideOf lists the values made before, that v depends on, in the order in
// which they are met.
func outsideOf(v *value, before int64) []*value {
	var all []*value
	seen := map[*value]bool{v: true}
	stack := []*value{v}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.serial <= before {
			all = append(all, v)
			continue
		}
		for _, x := range v.expr.Load().in {
			if !seen[x] {
				seen[x] = true
				stack = append(stack, x)
			}
		}
	}
	return all
}

// recompute is v computed anew from in.
func recompute(v *value, in []Tensor, region int) *value {
	made := map[*value]*value{}
	for _, x := range in {
		made[x.v] = x.v
	}
	stack := []frame{{v, v.expr.Load()}}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		ready := made[f.v] != nil
		if !ready {
			ready = true
			for _, x := range f.e.in {
				if made[x] == nil {
					stack = append(stack, frame{x, x.expr.Load()})
					ready = false
				}
			}
		}
		if !ready {
			continue
		}
		if made[f.v] == nil {
			made[f.v] = f.again(made, region)
		}
		stack = stack[:len(stack)-1]
	}
	return made[v]
}

// again is the frame's value over other operands.
func (f frame) again(made map[*value]*value, region int) *value {
	if len(f.e.in) == 0 {
		return f.v
	}
	e := &expr{op: f.e.op, attr: f.e.attr, custom: f.e.custom}
	e.attr.Region = region
	for _, x := range f.e.in {
		e.in = append(e.in, made[x])
	}
	v := newValue(f.v.Type, e)
	v.outs = f.v.outs
	return v
}
