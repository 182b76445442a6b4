package sinter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
)

// CheckGradOptions say how CheckGrad compares. The zero value is right for
// most.
type CheckGradOptions struct {
	// Step is what an element changes by, for elements below 1 in magnitude; larger
	// ones change by as much of themselves. 0: 1e-5 in F64, 1e-2 in F32.
	Step float64
	// Tolerance is the difference allowed, relative to the largest gradient of the
	// operand, or to 1 if that is larger. 0: 1e-6 in F64, 2e-2 in F32.
	Tolerance float64
	Samples   int     // elements tried of each operand; 0: 64
	Device    *Device // nil: the best
}

// CheckGrad compares the gradient of f, as Grad gives it, with differences: how
// much f changes with single elements of its operands. f gives a float of any
// shape, whose elements are added up with different weights; at are the
// operands, F64 for a strict comparison, or F32. The error names the element.
func CheckGrad(ctx context.Context, f func(in []Tensor) Tensor, o CheckGradOptions, at ...Tensor) error {
	c, err := newGradCheck(ctx, f, o, at)
	if err != nil {
		return fmt.Errorf("gradient check: %w", err)
	}
	defer c.program.Close()
	for i := range at {
		if err := c.operand(ctx, i); err != nil {
			return fmt.Errorf("gradient check: %w", err)
		}
	}
	return nil
}

type gradCheck struct {
	CheckGradOptions
	program *Program
	types   []ir.Type
	values  [][]float64
	grads   [][]float64 // by Grad
}

func newGradCheck(ctx context.Context, f func(in []Tensor) Tensor, o CheckGradOptions, at []Tensor) (*gradCheck, error) {
	if f == nil || len(at) == 0 {
		return nil, errors.New("want a function and operands")
	}
	c := &gradCheck{CheckGradOptions: o}
	inputs := make([]Tensor, len(at))
	for i, x := range at {
		v := x.load()
		if v.err != nil {
			return nil, v.err
		}
		if v.DType != F64 && v.DType != F32 {
			return nil, fmt.Errorf("operand %d is %v: F64 and F32 are fine enough for differences", i, v.DType)
		}
		values, err := Values[float64](ctx, x.Cast(F64))
		if err != nil {
			return nil, err
		}
		c.types, c.values = append(c.types, v.Type), append(c.values, values)
		inputs[i] = Input(c.name(i), v.DType, v.Shape...)
	}
	y := f(slices.Clone(inputs))
	if bad, ok := firstErr(y); ok {
		return nil, bad.Err()
	}
	if !y.v.DType.IsFloat() {
		return nil, fmt.Errorf("the result is %v: want a float", y.v.Type)
	}
	flat := y.Reshape(-1)
	loss := flat.Mul(Iota(y.v.DType, 0, flat.load().Shape...).Sin().Add(Scalar(1.5))).Sum()
	outputs := append([]Tensor{loss}, Grad(loss, inputs...)...)
	p, err := Compile(Capture(outputs...), Options{Device: o.Device, Check: true})
	if err != nil {
		return nil, err
	}
	c.program = p
	outs, err := c.run(ctx, -1, 0, 0)
	if err != nil {
		p.Close()
		return nil, err
	}
	c.grads = outs[1:]
	return c, nil
}

func (c *gradCheck) name(i int) string { return "operand " + strconv.Itoa(i) }

// run evaluates all outputs with element k of operand i moved by a step.
func (c *gradCheck) run(ctx context.Context, i, k int, step float64) ([][]float64, error) {
	in := map[string]Tensor{}
	for j, values := range c.values {
		if j == i {
			values = slices.Clone(values)
			values[k] += step
		}
		sizes, ok := c.types[j].Shape.Ints()
		if !ok {
			return nil, fmt.Errorf("operand %d has a symbolic size", j)
		}
		in[c.name(j)] = ofFloats(c.types[j].DType, values, sizes)
	}
	outs, err := c.program.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	all := make([][]float64, len(outs))
	for j, x := range outs {
		if all[j], err = Values[float64](ctx, x.Cast(F64)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func ofFloats(dt DType, values []float64, sizes []int) Tensor {
	if dt == F64 {
		return Of(values, sizes...)
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return Of(narrow, sizes...)
}

// operand compares some elements of one operand.
func (c *gradCheck) operand(ctx context.Context, i int) error {
	step, tolerance, samples := c.Step, c.Tolerance, c.Samples
	if step == 0 {
		step = map[DType]float64{F64: 1e-5, F32: 1e-2}[c.types[i].DType]
	}
	if tolerance == 0 {
		tolerance = map[DType]float64{F64: 1e-6, F32: 2e-2}[c.types[i].DType]
	}
	if samples == 0 {
		samples = 64
	}
	scale := 1.0
	for _, g := range c.grads[i] {
		if !math.IsInf(g, 0) { // beside which anything is small
			scale = max(scale, math.Abs(g))
		}
	}
	chosen := rand.New(rand.NewPCG(1, uint64(i))).Perm(len(c.values[i]))
	for _, k := range chosen[:min(samples, len(chosen))] {
		h := step * max(1, math.Abs(c.values[i][k]))
		up, err := c.run(ctx, i, k, h)
		if err != nil {
			return err
		}
		down, err := c.run(ctx, i, k, -h)
		if err != nil {
			return err
		}
		want := (up[0][0] - down[0][0]) / (2 * h)
		if got := c.grads[i][k]; !(math.Abs(got-want) <= tolerance*scale) {
			return fmt.Errorf("operand %d at %v is %v: its gradient is %v, by differences %v", i, c.place(i, k), c.values[i][k], got, want)
		}
	}
	return nil
}

// place is the index of element k.
func (c *gradCheck) place(i, k int) []int {
	sizes, _ := c.types[i].Shape.Ints()
	at := make([]int, len(sizes))
	for axis := len(sizes) - 1; axis >= 0; axis-- {
		at[axis] = k % sizes[axis]
		k /= sizes[axis]
	}
	return at
}
