package sinter

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
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
	}{{0, 1e-4, 1e-4}, {F32, 1e-4, 1e-4}, {TF32, 1e-4, 1e-4}, {BF16, 1e-4, 0.2}, {F16, 0.02, 0.05}, {Int8, 1e-4, 0.5}, {Int4, 1e-4, 2}} {
		want, got := run(referee, c.p), run(cpu, c.p)
		apart, lost := farthest(got, want), farthest(want, exact)
		if !(apart <= c.near) || !(lost <= c.loss) || (lost < 1e-3) != (c.loss < 1e-3) {
			t.Errorf("precision %s: %v between devices, %v lost", c.p, apart, lost)
		}
	}
	if n := cpu.Stats().Compiled; n != 6 {
		t.Errorf("%d programs compiled for 6 precisions", n)
	}
}

// A convolution and its gradients are rounded alike where it is a product, where
// it is written out, and on the referee.
func TestPrecisionsOfConvolutions(t *testing.T) {
	ctx := context.Background()
	referee, cpu := open(t, "interp"), open(t, "cpu")
	for _, groups := range []int{1, 4} {
		x, w := NewVariable("x", Of(waves(2*8*9*9, 0.31), 2, 8, 9, 9)), NewVariable("w", Of(waves(16*8/groups*9, 0.7), 16, 8/groups, 3, 3))
		y := Conv(x.Tensor(), w.Tensor(), ConvOptions{Groups: groups})
		grads := Grad(y.Square().Sum(), x.Tensor(), w.Tensor())
		g := Capture(append(grads, y)...)
		run := func(d *Device, p Precision) (all []float32) {
			prog, err := Compile(g, Options{Device: d, Precision: p, Check: true})
			if err != nil {
				t.Fatal(err)
			}
			defer prog.Close()
			outs, err := prog.Run(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outs {
				values, err := Values[float32](ctx, o.Reshape(-1))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, values...)
			}
			return all
		}
		exact := run(referee, F32)
		for _, p := range []Precision{BF16, F16} {
			want, got := run(referee, p), run(cpu, p)
			// A sum in another order may round to the neighbour of what it should.
			apart, lost := distance(got, want), distance(want, exact)
			if !(apart < lost/4) || lost < 1e-3 {
				t.Errorf("%d groups, %s: %v between devices, %v lost", groups, p, apart, lost)
			}
		}
	}
}

// distance is the root of the sum of squared differences.
func distance(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Pow(float64(a[i]-b[i]), 2)
	}
	return math.Sqrt(sum)
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
			if want := -4 * before[i]; !(math.Abs(float64(y-want)) <= 1e-4) { // scales by powers of two are exact
				t.Errorf("%s: element %d is %v, want %v", name, i, y, want)
			}
		}
		if err := prog.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A name that switches nothing off is refused in the same words, whatever the
// precision and the device; one that does is taken by all.
func TestNoOptNames(t *testing.T) {
	g := Capture(Input("x", F32, N(4), N(64)).MatMul(Of(waves(64*32, 0.7), 64, 32)))
	for _, name := range []string{"cpu", "interp"} {
		d := open(t, name)
		for _, p := range []Precision{0, F32, TF32, BF16, F16, Int8, Int4} {
			compile := func(off ...string) error {
				prog, err := Compile(g, Options{Device: d, Precision: p, NoOpt: off})
				if err == nil {
					err = prog.Close()
				}
				return err
			}
			for _, off := range []string{"fues", "", "int4", "fma/none", "int4/none"} {
				err := compile("all", off)
				if err == nil || !strings.Contains(err.Error(), `"`+off+`"`) || !strings.Contains(err.Error(), "all, fuse, rows") || !strings.Contains(err.Error(), "merge-products, turn-products, fma, order") {
					t.Errorf("%s, %s: %q: %v", name, p, off, err)
				}
			}
			for _, off := range []string{"bf16", "f16", "tf32", "int8"} {
				if err := compile(off); err == nil || !strings.Contains(err.Error(), `"`+off+`" cannot be left out`) {
					t.Errorf("%s, %s: %q: %v", name, p, off, err)
				}
			}
			if err := compile("fuse", "fma", "simplify/add-zero", "tuning"); err != nil {
				t.Errorf("%s, %s: %v", name, p, err)
			}
		}
	}
}

// Precisions print by their names, as dtypes do, and are no dtypes.
func TestPrecisionNames(t *testing.T) {
	if got := fmt.Sprint(F32, BF16, F16, TF32, Int8, Int4, I8, Precision(0x43)); got != "f32 bf16 f16 tf32 int8 int4 i8 dtype(67)" {
		t.Error(got)
	}
	for _, p := range []Precision{Int8, Int4, TF32} {
		if _, err := ir.ParseDType(p.String()); err == nil || p.Valid() || p.Size() != 0 || p.Compute() != 0 {
			t.Errorf("%v is a dtype", p)
		}
	}
}
