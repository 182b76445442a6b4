package sinter_test

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

const endKeys = 600 // more than any device takes at once

// attentionEnds are scores and values near the largest float. What the
// values of a row may sum up to is beyond the largest float where infinite.
var attentionEnds = []struct {
	name     string
	score, v func(i int) float64
	infinite bool
}{
	{"falling scores", func(i int) float64 { return 3.3e38 - float64(i)*1e35 }, func(i int) float64 { return float64(i) + 1 }, false},
	{"rising scores", func(i int) float64 { return -3.3e38 + float64(i)*1e36 }, func(i int) float64 { return float64(i) + 1 }, false},
	{"scores of both signs", func(i int) float64 { return 3.3e38 * float64(1-2*(i%2)) }, func(i int) float64 { return float64(i) + 1 }, false},
	{"low scores", func(i int) float64 { return -3.3e38 }, func(i int) float64 { return float64(i) + 1 }, false},
	{"values whose sum is finite", func(i int) float64 { return float64(i % 3) }, func(i int) float64 { return 3.3e38 / endKeys }, false},
	{"values whose sum is not", func(i int) float64 { return 0 }, func(i int) float64 { return 3e38 }, true},
	{"values of both signs", func(i int) float64 { return 0 }, func(i int) float64 { return 3e38 * float64(1-2*(i/2%2)) }, true},
	{"large values that later keys outweigh", func(i int) float64 { return float64(i / 590 * 1000) }, func(i int) float64 { return []float64{3e38, 1}[i/590] }, true},
}

// attentionAtTheEnds compares a device with the referee: what may be infinite is
// that, NaN, or right.
func attentionAtTheEnds(t *testing.T, d *sinter.Device) {
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer referee.Close()
	ctx := context.Background()
	const n, width = endKeys, 16
	for _, dtype := range []sinter.DType{sinter.F32, sinter.BF16} {
		input := func(name string, rows int) tensor {
			return sinter.Input(name, dtype, sinter.N(1), sinter.N(1), sinter.N(rows), sinter.N(width))
		}
		y, _ := sinter.Attention(input("q", 2), input("k", n), input("v", n), sinter.AttentionOptions{Scale: 1})
		for _, c := range attentionEnds {
			q, k, v := make([]float32, 2*width), make([]float32, n*width), make([]float32, n*width)
			q[0], q[width] = 1, 0.5
			for i := range n {
				k[i*width] = float32(c.score(i))
				for j := range width {
					v[i*width+j] = float32(c.v(i))
				}
			}
			var outs [2][]float32
			for i, d := range []*sinter.Device{referee, d} {
				p, err := sinter.Compile(sinter.Capture(y.Cast(sinter.F32)), sinter.Options{Device: d, Check: true})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				of := func(x []float32) tensor { return sinter.Of(x, 1, 1, len(x)/width, width).Cast(dtype) }
				out, err := p.Run(ctx, map[string]tensor{"q": of(q), "k": of(k), "v": of(v)})
				if err == nil {
					outs[i], err = sinter.Values[float32](ctx, out[0])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range outs[0] {
				got, w := float64(outs[1][i]), float64(want)
				lost := math.IsInf(got, 0) || math.IsNaN(got)
				if near := math.Abs(got-w) <= 0.01*math.Abs(w)+1e-5*math.Abs(c.v(endKeys-1)); !near && (!c.infinite || !lost) || math.IsInf(w, 0) || math.IsNaN(w) {
					t.Errorf("%v, %s: element %d is %v, the referee's %v", dtype, c.name, i, got, w)
					break
				}
			}
		}
	}
}

// A row of finite scores and values ends finite unless the values of its keys may
// sum up to more than the largest float, as docs/ops.md says.
func TestAttentionAtTheEnds(t *testing.T) {
	for _, isa := range []string{"amx-fp16", "amx", "avx512", "avx2", "neon", "generic"} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
		if err != nil {
			t.Logf("%s: %v", isa, err)
			continue
		}
		defer d.Close()
		t.Run(isa, func(t *testing.T) { attentionAtTheEnds(t, d) })
	}
}
