package sinter_test

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

// TestConvInGroups compares convolutions in groups, and their gradients, with the
// referee's: where groups have channels enough they are products of matrices.
func TestConvInGroups(t *testing.T) {
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer referee.Close()
	d, err := sinter.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		name string
		x, w []int // of one image
		o    sinter.ConvOptions
	}{
		{"images", []int{12, 9, 7}, []int{15, 4, 3, 3}, sinter.ConvOptions{Groups: 3}},
		{"padding", []int{10, 6, 5}, []int{12, 5, 3, 3}, sinter.ConvOptions{Groups: 2, Padding: []int{1, 2}}},
		{"strides", []int{8, 11, 8}, []int{16, 4, 3, 2}, sinter.ConvOptions{Groups: 2, Stride: []int{2, 3}, Padding: []int{1, 0}, Dilation: []int{1, 2}}},
		{"places", []int{16, 4, 3}, []int{20, 4, 1, 1}, sinter.ConvOptions{Groups: 4}},
		{"sound", []int{20, 31}, []int{24, 5, 5}, sinter.ConvOptions{Groups: 4, Padding: []int{2}}},
		{"volumes", []int{8, 4, 5, 3}, []int{8, 4, 2, 3, 1}, sinter.ConvOptions{Groups: 2, Padding: []int{1, 0, 1}}},
		{"one place", []int{32, 3, 3}, []int{16, 16, 3, 3}, sinter.ConvOptions{Groups: 2}},
		{"few channels", []int{6, 5, 5}, []int{9, 2, 3, 3}, sinter.ConvOptions{Groups: 3, Padding: []int{1, 1}}},
		{"depthwise", []int{5, 6, 5}, []int{5, 1, 3, 3}, sinter.ConvOptions{Groups: 5, Padding: []int{1, 1}}},
		{"many channels", []int{40, 7, 6}, []int{9, 40, 3, 2}, sinter.ConvOptions{Stride: []int{1, 2}, Padding: []int{1, 1}, Dilation: []int{2, 1}}},
		{"one group", []int{5, 6, 5}, []int{7, 5, 3, 3}, sinter.ConvOptions{Padding: []int{1, 1}}},
	} {
		for dtype, tolerance := range map[sinter.DType]float64{sinter.F32: 1e-5, sinter.F64: 1e-13, sinter.BF16: 2e-2} {
			for _, batch := range []sinter.Dim{sinter.N(3), sinter.Sym("n", 0, 8)} {
				shape := []sinter.Dim{batch}
				for _, n := range c.x {
					shape = append(shape, sinter.N(n))
				}
				x := sinter.Input("x", sinter.F32, shape...).Cast(dtype)
				w := sinter.Of(sines(count(c.w), 0.7), c.w...).Cast(dtype)
				y := sinter.Conv(x, w, c.o)
				grads := sinter.VJP([]tensor{y}, []tensor{y.Sin()}, x, w)
				for _, n := range []int{3, 0} {
					if n == 0 && batch.String() == "3" {
						continue
					}
					in := sinter.Of(sines(n*count(c.x), 1.3), append([]int{n}, c.x...)...)
					compareOn(t, [2]*sinter.Device{referee, d}, in, tolerance, y, grads[0], grads[1])
					if t.Failed() {
						t.Fatalf("%s of %v, batch of %d in %v", c.name, dtype, n, batch)
					}
				}
			}
		}
	}
}

// compareOn compares what two devices make of x, against the largest value.
func compareOn(t *testing.T, devices [2]*sinter.Device, x tensor, tolerance float64, ys ...tensor) {
	t.Helper()
	ctx := context.Background()
	wide := make([]tensor, len(ys))
	for i, y := range ys {
		wide[i] = y.Cast(sinter.F64)
	}
	var all [2][]tensor
	for i, d := range devices {
		p, err := sinter.Compile(sinter.Capture(wide...), sinter.Options{Device: d, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if all[i], err = p.Run(ctx, map[string]tensor{"x": x}); err != nil {
			t.Fatal(err)
		}
	}
	for k := range ys {
		var v [2][]float64
		for i := range devices {
			var err error
			if v[i], err = sinter.Values[float64](ctx, all[i][k]); err != nil {
				t.Fatal(err)
			}
		}
		top := 0.0
		for _, x := range v[0] {
			top = max(top, math.Abs(x))
		}
		for i, want := range v[0] {
			if got := v[1][i]; !(math.Abs(got-want) <= tolerance*top) {
				t.Fatalf("result %d, element %d of %d: %v, want %v", k, i, len(v[0]), got, want)
			}
		}
	}
}
