package sinter

import (
	"context"
	"math"
	"testing"
)

// layers is a network of two products of data with weights, all f32.
func layers(x, w, v Tensor) Tensor { return x.MatMul(w).ReLU().MatMul(v) }

// waves is n numbers of no particular kind.
func waves(n int, step float64) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(math.Sin(step * float64(i)))
	}
	return all
}

// Each precision is a program of its own, and means the same on the referee and
// on the processor. What it loses is small, but not nothing.
func TestPrecisions(t *testing.T) {
	ctx := context.Background()
	rows := Sym("rows", 0, 100)
	x := Input("x", F32, rows, N(32))
	w, v := Of(waves(32*64, 0.7), 32, 64), Of(waves(64*16, 1.3), 64, 16)
	g := Capture(layers(x, w, v))
	in := inputs{"x": Of(waves(5*32, 0.31), 5, 32)}
	run := func(d *Device, p Precision) []float32 {
		t.Helper()
		prog, err := Compile(g, Options{Device: d, Precision: p, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer prog.Close()
		out, err := prog.Run(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		values, err := Values[float32](ctx, out[0])
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	referee, cpu := open(t, "interp"), open(t, "cpu")
	exact := run(referee, F32)
	for _, c := range []struct {
		p          Precision
		near, loss float64 // of devices to one another; of the format, at most
	}{{0, 1e-4, 1e-4}, {F32, 1e-4, 1e-4}, {BF16, 1e-4, 0.2}, {Int8, 1e-4, 0.5}} {
		want, got := run(referee, c.p), run(cpu, c.p)
		apart, lost := farthest(got, want), farthest(want, exact)
		if apart > c.near || lost > c.loss || (c.p == BF16 || c.p == Int8) && lost < 1e-3 {
			t.Errorf("precision %s: %v between devices, %v lost", precisionName(c.p), apart, lost)
		}
	}
	if n := cpu.Stats().Compiled; n != 3 {
		t.Errorf("%d programs compiled for 3 precisions", n)
	}
}

func farthest(a, b []float32) float64 {
	worst := 0.0
	for i := range a {
		worst = math.Max(worst, math.Abs(float64(a[i]-b[i])))
	}
	return worst
}

// A variable that a program reads counts as weights; its values are quantised
// anew after an assignment.
func TestInt8FollowsVariables(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"interp", "cpu"} {
		d := open(t, name)
		w := NewVariable("w", Of(waves(32*16, 0.7), 32, 16))
		x := Input("x", F32, N(3), N(32))
		prog, err := Compile(Capture(x.MatMul(w.Tensor())), Options{Device: d, Precision: Int8})
		if err != nil {
			t.Fatal(err)
		}
		in := inputs{"x": Of(waves(3*32, 0.31), 3, 32)}
		run := func() []float32 {
			out, err := prog.Run(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			values, err := Values[float32](ctx, out[0])
			if err != nil {
				t.Fatal(err)
			}
			return values
		}
		before := run()
		if _, err := Eval(WithDevice(ctx, d), w.Assign(w.Tensor().Mul(Scalar(-4)))); err != nil {
			t.Fatal(err)
		}
		for i, y := range run() {
			if want := -4 * before[i]; math.Abs(float64(y-want)) > 1e-4 { // scales by powers of two are exact
				t.Errorf("%s: element %d is %v, want %v", name, i, y, want)
			}
		}
		if err := prog.Close(); err != nil {
			t.Error(err)
		}
	}
}
