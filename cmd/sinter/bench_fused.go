package main

import (
	"context"
	"errors"
	"math"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// fusedCase is a graph over arrays [rows, fusedWidth] that one kernel can do.
type fusedCase struct {
	name   string
	arrays int // read, x alone or x and y
	vector bool
	// flops an element, each operation of the arithmetic one and a multiply-add
	// two, with exp as 22 and erf as 36 (docs/ops.md has their accuracy). They
	// matter where arithmetic takes longer than memory.
	flops float64
	build func(x, y, v sinter.Tensor) sinter.Tensor
	// row is one row of it in float64; y and v are nil where they are not read.
	row func(x, y, v []float64) []float64
}

const fusedWidth = 1024

var fusedCases = []fusedCase{
	{name: "add-relu", flops: 2, arrays: 2,
		build: func(x, y, _ sinter.Tensor) sinter.Tensor { return x.Add(y).ReLU() },
		row:   each(func(x, y, _ float64) float64 { return max(0, x+y) })},
	{name: "chain", flops: 5, arrays: 2, vector: true,
		build: func(x, y, v sinter.Tensor) sinter.Tensor {
			return x.Mul(v).Add(y).Sub(sinter.Scalar(0.25)).Abs().Sqrt()
		},
		row: each(func(x, y, v float64) float64 { return math.Sqrt(math.Abs(x*v + y - 0.25)) })},
	{name: "bias-gelu", flops: 41, arrays: 1, vector: true,
		build: func(x, _, v sinter.Tensor) sinter.Tensor { return x.Add(v).GELU() },
		row: each(func(x, _, v float64) float64 {
			x += v
			return x / 2 * (1 + math.Erf(x/math.Sqrt2))
		})},
	{name: "softmax", flops: 26, arrays: 1,
		build: func(x, _, _ sinter.Tensor) sinter.Tensor { return x.Softmax(-1) },
		row:   softmaxRow},
	{name: "add-layernorm", flops: 9, arrays: 2, vector: true,
		build: func(x, y, v sinter.Tensor) sinter.Tensor { return sinter.LayerNorm(x.Add(y), v, v, 1e-5) },
		row:   layerNormRow},
}

func each(f func(x, y, v float64) float64) func(x, y, v []float64) []float64 {
	return func(x, y, v []float64) []float64 {
		out := make([]float64, len(x))
		at := func(s []float64, i int) float64 {
			if s == nil {
				return 0
			}
			return s[i]
		}
		for i := range x {
			out[i] = f(x[i], at(y, i), at(v, i))
		}
		return out
	}
}

func softmaxRow(x, _, _ []float64) []float64 {
	out, sum := make([]float64, len(x)), 0.0
	for i := range x {
		out[i] = math.Exp(x[i])
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func layerNormRow(x, y, v []float64) []float64 {
	out, mean, square := make([]float64, len(x)), 0.0, 0.0
	for i := range x {
		out[i] = x[i] + y[i]
		mean += out[i] / float64(len(x))
	}
	for i := range x {
		square += (out[i] - mean) * (out[i] - mean) / float64(len(x))
	}
	for i := range x {
		out[i] = (out[i]-mean)/math.Sqrt(square+1e-5)*v[i] + v[i]
	}
	return out
}

// fusedRows makes an array about twice the last cache, within what small
// machines have.
func fusedRows() int {
	bytes := min(max(2*bench.ThisMachine().L3, 32<<20), 128<<20)
	return bytes / (4 * fusedWidth)
}

func (a *app) benchFused(ctx context.Context, b *benchRun) error {
	b.left = len(fusedCases) * len(b.isas)
	in, err := newFusedInputs(ctx, fusedRows())
	if err != nil {
		return err
	}
	for _, c := range fusedCases {
		for _, isa := range b.isas {
			if err := b.fused(ctx, c, isa, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// fusedInputs are the arrays, as results of a device: what a kernel in the
// middle of a program reads. y is x, shifted by a row.
type fusedInputs struct {
	rows    int
	x, y, v []float32
	tensors map[string]sinter.Tensor
}

func newFusedInputs(ctx context.Context, rows int) (*fusedInputs, error) {
	half, v := sinter.Of(uniform(rows*fusedWidth), rows, fusedWidth), uniform(fusedWidth)
	x := half.Add(half)
	all, err := sinter.Eval(ctx, x, x.Roll(-1, 0))
	if err != nil {
		return nil, err
	}
	in := &fusedInputs{rows: rows, v: v, tensors: map[string]sinter.Tensor{"x": all[0], "y": all[1], "v": sinter.Of(v, fusedWidth)}}
	if in.x, err = sinter.Values[float32](ctx, all[0]); err != nil {
		return nil, err
	}
	in.y, err = sinter.Values[float32](ctx, all[1])
	return in, err
}

// fused measures a case.
func (b *benchRun) fused(ctx context.Context, c fusedCase, isa string, arrays *fusedInputs) (err error) {
	rows := arrays.rows
	input := func(name string) sinter.Tensor {
		return sinter.Input(name, sinter.F32, sinter.Dims(rows, fusedWidth)...)
	}
	in := map[string]sinter.Tensor{"x": arrays.tensors["x"]}
	if c.arrays == 2 {
		in["y"] = arrays.tensors["y"]
	}
	if c.vector {
		in["v"] = arrays.tensors["v"]
	}
	g := sinter.Capture(c.build(input("x"), input("y"), sinter.Input("v", sinter.F32, sinter.N(fusedWidth))))
	p, err := b.compile(g, isa, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	bytes := 4 * rows * fusedWidth
	return b.measure(ctx, bench.Case{
		Name: c.name, Set: "fused", ISA: isa, Shape: []int{rows, fusedWidth},
		Work: float64(bytes*(c.arrays+1)) / 1e9, Unit: "GB/s",
		Flops: c.flops * float64(rows*fusedWidth),
		Read:  bytes * c.arrays, Written: bytes,
		Run: p.once,
		Accuracy: func(ctx context.Context, threads int) (float64, error) {
			got, err := results[float32](ctx, p, threads)
			return c.error(rows, arrays.x, arrays.y, arrays.v, got), err
		},
	})
}

// error is the largest error of an element of some rows.
func (c fusedCase) error(rows int, x, y, v, got []float32) float64 {
	if len(got) != rows*fusedWidth {
		return math.NaN()
	}
	row := func(s []float32, r int) []float64 {
		out := make([]float64, fusedWidth)
		for i := range out {
			out[i] = float64(s[r*fusedWidth+i])
		}
		return out
	}
	worst, vector := 0.0, row(v, 0)
	for r := 0; r < rows; r += max(1, rows/8) {
		for i, want := range c.row(row(x, r), row(y, r), vector) {
			worst = max(worst, math.Abs(float64(got[r*fusedWidth+i])-want)) // NaN stays
		}
	}
	return worst
}
