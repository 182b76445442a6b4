package sinter

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
)

// Grad gives the gradient of loss, a float of one element, with respect to
// each of wrt: tensors of their shapes and dtypes, made of ordinary
// operations, so that they fuse with everything else and have gradients
// themselves. wrt may be any float tensors that loss was computed from,
// Variables' and intermediate results among them. One that loss does not depend
// on in a way that has a gradient gets an error; steps such as Floor have
// gradient 0.
//
// Call it before Eval or Values computes loss, or what it is made of: a tensor
// that has its value forgets what it was computed from, which is an error where
// it counts.
func Grad(loss Tensor, wrt ...Tensor) []Tensor {
	if bad, ok := firstErr(loss); ok {
		return sameErr(bad, len(wrt))
	}
	if v := loss.v; !v.DType.IsFloat() || !v.Shape.Numel().IsConst(1) {
		return sameErr(failf([]Tensor{loss}, "the loss is %v, want one float: take its Sum or Mean, or use VJP", v.Type), len(wrt))
	}
	one := constant(loss.v.DType, 1).expandTo(loss.v.Shape)
	return VJP([]Tensor{loss}, []Tensor{one}, wrt...)
}

// VJP is Grad of the sum of outputs[i] * cotangents[i] over all elements: the
// product of a vector with the Jacobian. Each cotangent has the shape and
// dtype of its output.
func VJP(outputs, cotangents []Tensor, wrt ...Tensor) []Tensor {
	if bad, ok := firstErr(append(append([]Tensor{}, outputs...), cotangents...)...); ok {
		return sameErr(bad, len(wrt))
	}
	if err := checkCotangents(outputs, cotangents); err != nil {
		return sameErr(fail(err, outputs...), len(wrt))
	}
	grads, missing, err := vjp(outputs, cotangents, wrt, false)
	if err != nil {
		return sameErr(fail(err, outputs...), len(wrt))
	}
	for i, why := range missing {
		if bad, ok := firstErr(wrt[i]); ok {
			grads[i] = bad
		} else if why != nil {
			grads[i] = fail(fmt.Errorf("number %d%s has no gradient: %w", i, wrt[i].called(), why), wrt[i])
		}
	}
	return grads
}

// called is the name of a variable or an input, for messages; else nothing.
func (x Tensor) called() string {
	e := x.load().expr.Load()
	if e.name == "" {
		return ""
	}
	return fmt.Sprintf(", %v %q,", e.op, e.name)
}

// vjp gives the gradients, the zero Tensor where there is none, and why. apart
// takes wrt as if none were computed from another.
func vjp(outputs, cotangents, wrt []Tensor, apart bool) (grads []Tensor, missing []error, err error) {
	d := newDifferentiation()
	p := grad.Problem{Custom: d.custom, Apart: apart}
	for i := range outputs {
		p.Outputs, p.Cotangents = append(p.Outputs, d.node(outputs[i])), append(p.Cotangents, d.node(cotangents[i]))
	}
	grads, missing = make([]Tensor, len(wrt)), make([]error, len(wrt))
	var at []int // in wrt, by p.Wrt
	for i, x := range wrt {
		if v := x.load(); v.err != nil {
			missing[i] = v.err
		} else if !v.DType.IsFloat() {
			missing[i] = fmt.Errorf("%v is no float", v.Type)
		} else {
			p.Wrt, at = append(p.Wrt, d.node(x)), append(at, i)
		}
	}
	n := len(p.Wrt)
	forgetful := d.forgetful(wrt)
	for _, x := range forgetful {
		p.Wrt = append(p.Wrt, x.node)
	}
	some, none, err := d.run(p)
	if err != nil {
		return nil, nil, err
	}
	for i := range n {
		grads[at[i]], missing[at[i]] = some[i], none[i]
	}
	for i, x := range forgetful {
		if none[n+i] != nil {
			continue // no gradient comes that way
		}
		for j := range wrt {
			if x.origins.has(wrt[j].load().serial) {
				missing[j] = &forgottenError{x.node.Type}
			}
		}
	}
	for i, x := range wrt {
		if d.hidden(x.v) {
			missing[i] = errInside
		}
	}
	return grads, missing, nil
}

func checkCotangents(outputs, cotangents []Tensor) error {
	if len(outputs) != len(cotangents) {
		return fmt.Errorf("%d outputs and %d cotangents: give one for each", len(outputs), len(cotangents))
	}
	for i, y := range outputs {
		if !y.v.DType.IsFloat() {
			return fmt.Errorf("output %d, %v, has no gradient: it is no float", i, y.v.Type)
		}
		if c := cotangents[i].v.Type; !c.Equal(y.v.Type) {
			return fmt.Errorf("cotangent %d is %v, output %d %v", i, c, i, y.v.Type)
		}
	}
	return nil
}

func sameErr(bad Tensor, n int) []Tensor {
	all := make([]Tensor, n)
	for i := range all {
		all[i] = bad
	}
	return all
}

// CustomGrad is forward(in) with a gradient of its own: back gets in, the result
// y and the gradient with respect to it, and gives those with respect to each
// of in, the zero Tensor where there is none. Other tensors that forward uses
// get no gradient.
func CustomGrad(forward func(in []Tensor) Tensor, back func(in []Tensor, y, dy Tensor) []Tensor, in ...Tensor) Tensor {
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	if forward == nil || back == nil {
		return failf(in, "forward or back is nil: use Detach for no gradient")
	}
	return withGradient(forward(slices.Clone(in)), in, back)
}

// withGradient is y whose gradient flows to in as back says.
func withGradient(y Tensor, in []Tensor, back func(in []Tensor, y, dy Tensor) []Tensor) Tensor {
	if bad, ok := firstErr(y); ok {
		return bad
	}
	values := []*value{y.v}
	for _, x := range in {
		values = append(values, x.v)
	}
	return Tensor{newValue(y.v.Type, &expr{op: ir.Contiguous, in: values, custom: back})}
}
