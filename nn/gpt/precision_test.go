package gpt_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
)

// gradients of a net at its first weights, by parameter, and the loss.
func gradients(t *testing.T, s gpt.Sizes, batch int, d *sinter.Device, p sinter.Precision) (names []string, grads [][]float32) {
	t.Helper()
	net, err := gpt.New(s, 5)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	draw := func() sinter.Tensor {
		ids := make([]int64, batch*s.Block)
		for i := range ids {
			ids[i] = rng.Int64N(int64(s.Vocabulary))
		}
		return sinter.Of(ids, batch, s.Block)
	}
	loss := net.Loss(draw(), draw())
	var wrt []sinter.Tensor
	for _, v := range nn.Params(net) {
		names, wrt = append(names, v.Name()), append(wrt, v.Tensor())
	}
	program, err := sinter.Compile(sinter.Capture(append(sinter.Grad(loss, wrt...), loss)...), sinter.Options{Device: d, Precision: p})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	outs, err := program.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		v, err := sinter.Values[float32](context.Background(), o.Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		grads = append(grads, v)
	}
	return append(names, "loss"), grads
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// Every gradient of a net in bf16 points where it does in f32, and is the same,
// bit for bit, whatever the number of threads.
func TestGradientsInBF16(t *testing.T) {
	nets := map[string]struct {
		sizes gpt.Sizes
		batch int
	}{
		"small":    {gpt.Sizes{Vocabulary: 33, Block: 24, Layers: 2, Heads: 2, Width: 32}, 3},
		"of chars": {gpt.Sizes{Vocabulary: 65, Block: 64, Layers: 4, Heads: 4, Width: 128}, 4},
	}
	for name, n := range nets {
		t.Run(name, func(t *testing.T) {
			var first [][]float32
			for _, threads := range []int{1, 2, 3} {
				d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				names, short := gradients(t, n.sizes, n.batch, d, sinter.BF16)
				if first != nil {
					for i := range short {
						if !slices.Equal(short[i], first[i]) {
							t.Errorf("%s: %d threads change bits", names[i], threads)
						}
					}
					continue
				}
				first = short
				_, exact := gradients(t, n.sizes, n.batch, d, sinter.F32)
				least := 1.0
				for i, name := range names {
					c := cosine(short[i], exact[i])
					least = min(least, c)
					if !(c >= 0.999) {
						t.Errorf("%s: the cosine to f32 is %v", name, c)
					}
				}
				if least == 1 {
					t.Error("nothing is rounded")
				}
				t.Logf("least cosine %.5f", least)
			}
		})
	}
}

// The same holds of f16, with the loss large enough for its range.
func TestGradientsInF16(t *testing.T) {
	s := gpt.Sizes{Vocabulary: 33, Block: 24, Layers: 2, Heads: 2, Width: 32}
	for _, device := range []string{"cpu", "interp"} {
		t.Run(fmt.Sprint(device), func(t *testing.T) {
			d, err := sinter.Open(device)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			names, short := gradients(t, s, 3, d, sinter.F16)
			_, exact := gradients(t, s, 3, d, sinter.F32)
			for i, name := range names {
				if c := cosine(short[i], exact[i]); !(c >= 0.999) {
					t.Errorf("%s: the cosine to f32 is %v", name, c)
				}
			}
		})
	}
}
