package sinter

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
)

// origins are the values that a computed value was made from, in ways that
// have gradients, by serial number: it no longer leads to them, but a gradient
// must not pass in silence over what has been forgotten. Runs of numbers are
// pairs of the first and the last, in order.
type origins [][2]int64

func (o origins) has(serial int64) bool {
	_, ok := slices.BinarySearchFunc(o, serial, func(run [2]int64, s int64) int {
		switch {
		case run[1] < s:
			return -1
		case run[0] > s:
			return 1
		}
		return 0
	})
	return ok
}

// maxRuns bounds what a loop that evaluates its state step by step carries
// along. Of more runs the oldest become one, gaps and all: then a gradient may be
// refused that is whole, but none passes that is not.
const maxRuns = 256

// originsLimit bounds the values looked at for all results of one evaluation:
// beyond it origins are not complete, as a step of a large training program
// shall not wait for them.
const originsLimit = 1 << 14

// originsOf finds the origins of what e computes, and counts budget down.
func originsOf(e *expr, budget *int) origins {
	var all origins
	seen := map[*value]bool{}
	stack := []*expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		all = append(all, e.origins...)
		for _, x := range e.differentiable() {
			if !x.DType.IsFloat() || seen[x] || *budget <= 0 {
				continue
			}
			*budget--
			seen[x] = true
			all = append(all, [2]int64{x.serial, x.serial})
			stack = append(stack, x.expr.Load())
		}
	}
	return all.merged()
}

// differentiable lists the operands that a gradient goes on to, and integers.
func (e *expr) differentiable() []*value {
	switch {
	case e.custom != nil:
		return e.in[1:]
	case e.op == ir.Get || grad.HasRule(e.op):
		return e.in
	}
	return nil
}

// merged sorts runs and joins those that touch, and the oldest beyond maxRuns.
func (o origins) merged() origins {
	slices.SortFunc(o, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	out := o[:0]
	for _, run := range o {
		if n := len(out); n > 0 && run[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], run[1])
		} else {
			out = append(out, run)
		}
	}
	if more := len(out) - maxRuns; more > 0 {
		out[more][0] = out[0][0]
		out = out[more:]
	}
	return slices.Clone(out)
}

// forgottenError is a gradient that would leave a part out.
type forgottenError struct{ by ir.Type }

func (e *forgottenError) Error() string {
	return fmt.Sprintf("the result was computed from it by way of a tensor %v that Eval or Values computed, and that forgot what it came from: call Grad before, or use Detach where no gradient is wanted", e.by)
}
