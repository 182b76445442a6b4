package sinter

import (
	"errors"
	"sync/atomic"
)

// regions numbers what is recomputed, so that it is not merged with what was
// computed before.
var regions atomic.Int64

// Checkpoint is f(in), whose intermediate results a gradient computes again
// instead of keeping them: less memory for more work. Random draws in f are the
// same both times. What f makes has no gradient of its own, but for variables.
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
	values, inside := outsideOf(y.v, before)
	outside := make([]Tensor, len(values))
	for i, v := range values {
		outside[i] = Tensor{v}
	}
	z := withGradient(y, outside, func(in []Tensor, y, dy Tensor) []Tensor {
		again := Tensor{recompute(y.v, in, int(regions.Add(1)))}
		grads, missing, err := vjp([]Tensor{again}, []Tensor{dy}, in, true) // what they have from one another comes later
		if err != nil {
			return []Tensor{fail(err, y)}
		}
		for i, why := range missing {
			var forgotten *forgottenError
			if errors.As(why, &forgotten) {
				grads[i] = Tensor{&value{err: why}}
			}
		}
		return grads
	})
	if z.Err() == nil {
		z.v.expr.Load().inside = inside // nobody else has it yet
	}
	return z
}

// outsideOf lists the values made before, that v depends on, in the order in
// which they are met, and leaves made since: variables have gradients wherever
// they were made.
//
// inside are all others on the way.
func outsideOf(v *value, before int64) (all []*value, inside map[*value]bool) {
	inside = map[*value]bool{}
	seen := map[*value]bool{v: true}
	stack := []*value{v}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.serial <= before || v.leaf() != nil {
			all = append(all, v)
			continue
		}
		inside[v] = true
		for _, x := range v.expr.Load().in {
			if !seen[x] {
				seen[x] = true
				stack = append(stack, x)
			}
		}
	}
	return all, inside
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
