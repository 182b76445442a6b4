package sinter_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
)

// smooth are the operators with second derivatives, at values where they have
// them.
var smooth = map[string]struct {
	low, high float64
	f         func(x, y sinter.Tensor) sinter.Tensor
}{
	"neg": {-2, 2, func(x, y tensor) tensor { return x.Neg().Mul(y) }},
	"abs": {0.1, 2, func(x, y tensor) tensor { return x.Abs().Mul(y) }}, "reciprocal": {0.5, 2, func(x, y tensor) tensor { return x.Reciprocal().Mul(y) }},
	"sqrt": {0.5, 2, func(x, y tensor) tensor { return x.Sqrt().Mul(y) }}, "rsqrt": {0.5, 2, func(x, y tensor) tensor { return x.Rsqrt().Mul(y) }},
	"exp": {-2, 2, func(x, y tensor) tensor { return x.Exp().Mul(y) }}, "exp2": {-2, 2, func(x, y tensor) tensor { return x.Exp2().Mul(y) }},
	"expm1": {-2, 2, func(x, y tensor) tensor { return x.Expm1().Mul(y) }}, "log": {0.5, 2, func(x, y tensor) tensor { return x.Log().Mul(y) }},
	"log2": {0.5, 2, func(x, y tensor) tensor { return x.Log2().Mul(y) }}, "log1p": {-0.5, 2, func(x, y tensor) tensor { return x.Log1p().Mul(y) }},
	"sin": {-2, 2, func(x, y tensor) tensor { return x.Sin().Mul(y) }}, "cos": {-2, 2, func(x, y tensor) tensor { return x.Cos().Mul(y) }},
	"tan": {-1, 1, func(x, y tensor) tensor { return x.Tan().Mul(y) }}, "atan": {-2, 2, func(x, y tensor) tensor { return x.Atan().Mul(y) }},
	"tanh": {-2, 2, func(x, y tensor) tensor { return x.Tanh().Mul(y) }}, "erf": {-2, 2, func(x, y tensor) tensor { return x.Erf().Mul(y) }},
	"sinh": {-2, 2, func(x, y tensor) tensor { return x.Sinh().Mul(y) }}, "cosh": {0.1, 2, func(x, y tensor) tensor { return x.Cosh().Mul(y) }},
	"sigmoid": {-2, 2, func(x, y tensor) tensor { return x.Sigmoid().Mul(y) }}, "silu": {-2, 2, func(x, y tensor) tensor { return x.SiLU().Mul(y) }},
	"softplus": {-2, 2, func(x, y tensor) tensor { return x.Softplus().Mul(y) }}, "mish": {-2, 2, func(x, y tensor) tensor { return x.Mish().Mul(y) }},
	"gelu": {-2, 2, func(x, y tensor) tensor { return x.GELU().Mul(y) }}, "gelutanh": {-2, 2, func(x, y tensor) tensor { return x.GELUTanh().Mul(y) }},
	"logsigmoid": {-2, 2, func(x, y tensor) tensor { return x.LogSigmoid().Mul(y) }}, "elu": {0.1, 2, func(x, y tensor) tensor { return x.Neg().ELU(1).Mul(y) }},
	"add": {-2, 2, func(x, y tensor) tensor { return x.Add(y).Square() }}, "sub": {-2, 2, func(x, y tensor) tensor { return x.Sub(y).Square() }},
	"mul": {-2, 2, tensor.Mul}, "div": {0.5, 2, tensor.Div}, "pow": {0.5, 2, tensor.Pow},
	"fma": {-2, 2, func(x, y tensor) tensor { return x.FMA(y, x.Mul(y)) }},
	"sum": {-2, 2, func(x, y tensor) tensor { return x.Sum(0).Square().Mul(y.Mean(0)) }}, "mean": {-2, 2, func(x, y tensor) tensor { return x.Mean(1).Square() }},
	"prod": {0.5, 2, func(x, y tensor) tensor { return x.Mul(y).Prod(0) }}, "var": {-2, 2, func(x, y tensor) tensor { return x.Mul(y).Var(1, 1) }},
	"std": {-2, 2, func(x, y tensor) tensor { return x.Std(1, 1) }}, "logsumexp": {-2, 2, func(x, y tensor) tensor { return x.Mul(y).LogSumExp(1) }},
	"max":     {-2, 2, func(x, y tensor) tensor { return x.Mul(y).Square().Max(1) }},
	"softmax": {-2, 2, func(x, y tensor) tensor { return x.Softmax(1).Mul(y) }}, "logsoftmax": {-2, 2, func(x, y tensor) tensor { return x.LogSoftmax(0).Mul(y) }},
	"cumsum": {-2, 2, func(x, y tensor) tensor { return x.CumSum(1).Square() }}, "cumprod": {0.5, 2, func(x, y tensor) tensor { return x.CumProd(1) }},
	"matmul": {-2, 2, func(x, y tensor) tensor { return x.MatMul(y.T()).Square() }}, "permute": {-2, 2, func(x, y tensor) tensor { return x.Permute(1, 0).Square() }},
	"reshape": {-2, 2, func(x, y tensor) tensor { return x.Reshape(-1).Square() }}, "flip": {-2, 2, func(x, y tensor) tensor { return x.Flip(1).Mul(x).Mul(y) }},
	"pad": {-2, 2, func(x, y tensor) tensor { return x.Pad([]int{1, 0}, []int{0, 2}, 3).Square() }},
	"slice": {-2, 2, func(x, y tensor) tensor {
		return x.Slice(sinter.Range{Start: 1}, sinter.Range{Step: 2}).Square()
	}},
	"concat": {-2, 2, func(x, y tensor) tensor { return sinter.Concat(0, x, y, x).Square() }},
	"take":   {-2, 2, func(x, y tensor) tensor { return x.Take(sinter.Of([]int32{2, 0, 2}, 3), 0).Square() }},
	"scatter": {-2, 2, func(x, y tensor) tensor {
		return sinter.Scatter(x, 0, sinter.Of([]int32{1, 1, 0, 2, 2}, 1, 5), y.Slice(sinter.Range{Stop: 1})).Square()
	}},
	"scatteradd": {-2, 2, func(x, y tensor) tensor {
		return sinter.ScatterAdd(x, 0, sinter.Of([]int32{1, 1, 0, 2, 2}, 1, 5), y.Slice(sinter.Range{Stop: 1})).Square()
	}},
	"sort": {-2, 2, func(x, y tensor) tensor { v, _ := x.Sort(1, true); return v.Mul(y).Square() }},
	"conv": {-2, 2, func(x, y tensor) tensor {
		return sinter.Conv(x.Reshape(1, 3, 5), y.Slice(sinter.Range{Stop: 2}, sinter.Range{Stop: 3}).Reshape(1, 3, 2), sinter.ConvOptions{Stride: []int{2}, Padding: []int{1}}).Square()
	}},
	"avgpool": {-2, 2, func(x, y tensor) tensor {
		return sinter.AvgPool(x.Reshape(1, 3, 5), sinter.PoolOptions{Kernel: []int{3}, Stride: []int{2}}).Square()
	}},
	"layernorm": {-2, 2, func(x, y tensor) tensor { return sinter.LayerNorm(x, y.Mean(0), tensor{}, 1e-5).Mul(y) }},
	"rmsnorm":   {-2, 2, func(x, y tensor) tensor { return sinter.RMSNorm(x, y.Mean(0), 1e-5).Mul(y) }},
	"attention": {-2, 2, func(x, y tensor) tensor {
		out, lse := sinter.Attention(x.Reshape(1, 1, 3, 5), y.Reshape(1, 1, 3, 5), x.Mul(y).Reshape(1, 1, 3, 5), sinter.AttentionOptions{Causal: true, SoftCap: 3})
		return out.Square().Sum().Add(lse.Square().Sum())
	}},
	"segmentsum": {-2, 2, func(x, y tensor) tensor {
		return sinter.SegmentSum(x.Mul(y), sinter.Of([]int32{0, 1, 1, 3}, 4)).Square()
	}},
	"segmentmax": {-2, 2, func(x, y tensor) tensor { return sinter.SegmentMax(x.Mul(y), sinter.Of([]int32{0, 2, 3}, 3)).Square() }},
	"crossentropy": {-2, 2, func(x, y tensor) tensor {
		return sinter.CrossEntropy(x, sinter.Of([]int32{1, 4, 0}, 3), sinter.CrossEntropyOptions{LabelSmoothing: 0.1})
	}},
	"crossentropyweights": {-2, 2, func(x, y tensor) tensor {
		return sinter.CrossEntropy(x, sinter.Of([]int32{1, 4, 0}, 3), sinter.CrossEntropyOptions{LabelSmoothing: 0.1, Weights: y.Square().Sum(0), IgnoreIndex: new(4)})
	}},
	"checkpoint": {-2, 2, func(x, y tensor) tensor {
		return sinter.Checkpoint(func(in []tensor) tensor { return in[0].Mul(y).Sin().Square() }, x)
	}},
}

// points are fixed values of shape [3 5] between two limits.
func points(low, high, phase float64) sinter.Tensor {
	values := make([]float64, 15)
	for i := range values {
		u := 0.5 + 0.5*math.Sin(float64(i*i)*0.7+float64(i)+phase)
		values[i] = low + (high-low)*u
	}
	return sinter.Of(values, 3, 5)
}

// weighed is the sum of a tensor's elements by weights that differ.
func weighed(x sinter.Tensor) sinter.Tensor {
	flat := x.Reshape(-1)
	return flat.Mul(sinter.Iota(x.DType(), 0, flat.Shape()...).Mul(sinter.Scalar(0.37)).Cos()).Sum()
}

// TestSecondDerivatives compares gradients, and gradients of gradients, with
// differences, on the referee in f64.
func TestSecondDerivatives(t *testing.T) {
	d, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	for name, c := range smooth {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sinter.CheckGradOptions{Device: d}
			x, y := points(c.low, c.high, 0), points(c.low, c.high, 1)
			f := func(in []tensor) tensor { return weighed(c.f(in[0], in[1])) }
			wrt := 2
			if bad := sinter.Grad(f([]tensor{x, y}), x, y)[1]; bad.Err() != nil {
				wrt = 1 // y is not used
			}
			first := func(in []tensor) tensor {
				if wrt == 1 {
					in = append(in, y)
				}
				return f(in)
			}
			at := []tensor{x, y}[:wrt]
			if err := sinter.CheckGrad(context.Background(), first, o, at...); err != nil {
				t.Error(err)
			}
			second := func(in []tensor) tensor {
				sum := sinter.Scalar(0).Cast(sinter.F64)
				for i, g := range sinter.Grad(first(in), in...) {
					sum = sum.Add(weighed(g.Mul(in[i].Add(sinter.Scalar(3)))))
				}
				return sum
			}
			if err := sinter.CheckGrad(context.Background(), second, o, at...); err != nil {
				t.Error("second:", err)
			}
		})
	}
}

func TestCheckGradFinds(t *testing.T) {
	ctx := context.Background()
	x := points(-1, 1, 0)
	wrong := func(in []tensor) tensor {
		return sinter.CustomGrad(func(in []tensor) tensor { return in[0].Square() },
			func(in []tensor, y, dy tensor) []tensor { return []tensor{dy.Mul(in[0])} }, in...).Sum()
	}
	err := sinter.CheckGrad(ctx, wrong, sinter.CheckGradOptions{}, x)
	if err == nil || !strings.Contains(err.Error(), "operand 0 at [") {
		t.Errorf("half a gradient: %v", err)
	}
	right := func(in []tensor) tensor {
		return sinter.CustomGrad(func(in []tensor) tensor { return in[0].Square() },
			func(in []tensor, y, dy tensor) []tensor { return []tensor{dy.Mul(in[0]).Mul(sinter.Scalar(2))} }, in...).Sum()
	}
	one := func(in []tensor) tensor { return right(in[:1]) }
	if err := sinter.CheckGrad(ctx, one, sinter.CheckGradOptions{}, x, x.Cast(sinter.F64)); err == nil || !strings.Contains(err.Error(), "does not depend") {
		t.Errorf("an operand that is not used: %v", err)
	}
	if err := sinter.CheckGrad(ctx, right, sinter.CheckGradOptions{}, x.Cast(sinter.F32)); err != nil {
		t.Errorf("f32: %v", err)
	}
	steep := func(in []tensor) tensor {
		return sinter.CustomGrad(func(in []tensor) tensor { return in[0].Square() },
			func(in []tensor, y, dy tensor) []tensor { return []tensor{dy.Div(sinter.Scalar(0))} }, in...)
	}
	if err := sinter.CheckGrad(ctx, steep, sinter.CheckGradOptions{}, x); err == nil {
		t.Error("an infinite gradient is as good as any difference")
	}
	if err := sinter.CheckGrad(ctx, right, sinter.CheckGradOptions{}, x.Cast(sinter.BF16)); err == nil {
		t.Error("bf16 was taken")
	}
}

func TestGradErrors(t *testing.T) {
	x, w, n := sinter.Of([]float32{1, 2}, 2), sinter.Of([]float32{3, 4}, 2), sinter.Of([]int32{1, 0}, 2)
	done := x.Mul(w).Sum()
	if _, err := sinter.Eval(context.Background(), done); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  []sinter.Tensor
		want string
	}{
		{"no number", sinter.Grad(x.Mul(w), x), "want one float"},
		{"an integer", sinter.Grad(n.Sum(), n), "want one float"},
		{"of an integer", sinter.Grad(x.Take(n, 0).Sum(), n), "is no float"},
		{"no path", sinter.Grad(x.Sum(), w), "does not depend on it"},
		{"forgotten", sinter.Grad(done, w), "Eval or Values"},
		{"detached", sinter.Grad(w.Mul(x.Detach()).Sum(), x), "only through bitcast"},
		{"an index", sinter.Grad(w.Take(x.ArgMax(0), 0).Sum(), x), "only through argmax"},
		{"a cast", sinter.Grad(x.Cast(sinter.I32).Cast(sinter.F32).Sum(), x), "only through cast"},
		{"zero", sinter.Grad(sinter.Tensor{}, x), "zero Tensor"},
		{"zero operand", sinter.Grad(x.Sum(), sinter.Tensor{}), "zero Tensor"},
		{"cotangents", sinter.VJP([]sinter.Tensor{x}, nil, x), "1 outputs and 0 cotangents"},
		{"cotangent", sinter.VJP([]sinter.Tensor{x}, []sinter.Tensor{sinter.Scalar(1)}, x), "cotangent 0 is"},
		{"custom count", sinter.Grad(sinter.CustomGrad(func(in []tensor) tensor { return in[0] }, func([]tensor, tensor, tensor) []tensor { return nil }, x).Sum(), x), "0 tensors for 1 operands"},
		{"custom shape", sinter.Grad(sinter.CustomGrad(func(in []tensor) tensor { return in[0] }, func([]tensor, tensor, tensor) []tensor { return []tensor{n} }, x).Sum(), x), "want f32[2]"},
		{"custom nil", []sinter.Tensor{sinter.CustomGrad(nil, nil, x)}, "nil"},
		{"checkpoint nil", []sinter.Tensor{sinter.Checkpoint(nil, x)}, "nil"},
	} {
		if len(c.got) != 1 || c.got[0].Err() == nil || !strings.Contains(c.got[0].Err().Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, c.got, c.want)
		}
	}
	// One without a gradient does not spoil the others.
	both := sinter.Grad(x.Square().Sum(), w, x)
	if both[0].Err() == nil || both[1].Err() != nil {
		t.Errorf("%v", both)
	}
}

// Equal tensors are each a thing of their own.
func TestGradOfEqualTensors(t *testing.T) {
	x := sinter.Of([]float32{3}, 1)
	a, b := x.Square(), x.Square()
	g := sinter.Grad(a.Mul(b).Sum(), a, b, x)
	for i, want := range []float32{9, 9, 4 * 27} {
		v, err := sinter.Values[float32](context.Background(), g[i])
		if err != nil || v[0] != want {
			t.Errorf("%d: %v, %v, want %v", i, v, err, want)
		}
	}
}

// Long chains need no deep stack.
func TestGradOfLongChain(t *testing.T) {
	x := sinter.Of([]float32{1}, 1)
	y := x
	for range 20000 {
		y = y.Mul(sinter.Scalar(0.9999)).Add(x)
	}
	if g := sinter.Grad(y.Sum(), x)[0]; g.Err() != nil {
		t.Error(g.Err())
	}
}

// A draw is the same when a checkpoint computes it again, and what a function
// finds around it gets its gradient too.
func TestCheckpoint(t *testing.T) {
	ctx := context.Background()
	r := sinter.NewRand(sinter.Scalar(7))
	x, w := points(-1, 1, 0), points(-1, 1, 2)
	scaled := w.Mul(sinter.Scalar(2))
	dropped := sinter.Checkpoint(func(in []tensor) tensor {
		return sinter.Checkpoint(func(in []tensor) tensor {
			keep := r.Uniform(in[0].Shape()...).Less(sinter.Scalar(0.5))
			return sinter.Where(keep, in[0].Mul(scaled), sinter.Scalar(0)).Sin()
		}, in...).Mul(in[0])
	}, x)
	g := sinter.Grad(dropped.Sum(), x, scaled, w)
	if text := sinter.Capture(g...).String(); !strings.Contains(text, "region=1") || !strings.Contains(text, "region=2") {
		t.Errorf("nothing is computed again:\n%s", text)
	}
	all, err := sinter.Eval(ctx, append(g, dropped)...)
	if err != nil {
		t.Fatal(err)
	}
	var v [4][]float64
	for i := range all {
		if v[i], err = sinter.Values[float64](ctx, all[i]); err != nil {
			t.Fatal(err)
		}
	}
	xs, _ := sinter.Values[float64](ctx, x)
	ws, _ := sinter.Values[float64](ctx, w)
	kept := 0
	for i := range xs {
		s := 2 * ws[i]
		keep := v[3][i] != 0
		want := [3]float64{}
		if keep {
			kept++
			c := math.Cos(xs[i] * s)
			want = [3]float64{math.Sin(xs[i]*s) + xs[i]*c*s, xs[i] * c * xs[i], 2 * xs[i] * c * xs[i]}
		}
		for j := range want {
			if !(math.Abs(v[j][i]-want[j]) <= 1e-12) {
				t.Errorf("gradient %d at %d: %v, want %v", j, i, v[j][i], want[j])
			}
		}
	}
	if kept == 0 || kept == len(xs) {
		t.Errorf("%d of %d kept", kept, len(xs))
	}
}

// A tensor that Eval or Values has computed does not lead back to what it was
// made from: a gradient that would leave that part out is an error.
func TestGradOfForgotten(t *testing.T) {
	ctx := context.Background()
	x := sinter.Of([]float64{3}, 1)
	w := sinter.NewVariable("w", x)
	for name, f := range map[string]func(x, h tensor) tensor{
		"beside":       func(x, h tensor) tensor { return h.Add(x) },
		"computed too": func(x, h tensor) tensor { y := h.Sin().Add(x); computed(t, y); return y.Mul(x) },
		"in a checkpoint": func(x, h tensor) tensor {
			return sinter.Checkpoint(func(in []tensor) tensor { return in[0].Mul(h) }, x)
		},
		"of a checkpoint": func(x, _ tensor) tensor {
			return sinter.Checkpoint(func(in []tensor) tensor {
				h := in[0].Square()
				defer computed(t, h)
				return h.Mul(in[0])
			}, x)
		},
	} {
		for _, x := range []tensor{x, w.Tensor(), x.Add(sinter.Scalar(1))} {
			h := x.Square()
			y := f(x, h)
			computed(t, h)
			if err := sinter.Grad(y.Sum(), x)[0].Err(); err == nil || !strings.Contains(err.Error(), "forgot") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// What has no gradient of x, or is meant as a constant, is no part.
	h, detached, cut := x.Square(), x.Detach().Square(), x.Square()
	all, err := sinter.Eval(ctx, h, detached, cut)
	if err != nil {
		t.Fatal(err)
	}
	loss := x.Mul(all[0]).Add(x.Mul(detached)).Add(x.Mul(cut.Detach())).Sum()
	if g, err := sinter.Values[float64](ctx, sinter.Grad(loss, x)[0]); err != nil || g[0] != 27 {
		t.Errorf("constants: %v, %v", g, err)
	}
}

func computed(t *testing.T, x tensor) {
	t.Helper()
	if _, err := sinter.Eval(context.Background(), x); err != nil {
		t.Fatal(err)
	}
}

// Two tensors over one storage are two.
func TestGradOfSharedStorage(t *testing.T) {
	ctx := context.Background()
	x := sinter.Of([]float64{3}, 1)
	frozen, err := sinter.Eval(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	g := sinter.Grad(x.Square().Mul(frozen[0]).Sum(), x, frozen[0])
	got, err := sinter.Values[float64](ctx, sinter.Concat(0, g...))
	if err != nil || got[0] != 18 || got[1] != 9 {
		t.Errorf("%v, %v, want 18 and 9", got, err)
	}
}

// A variable made within a checkpoint has its whole gradient; another tensor
// made there has none, which is told.
func TestGradInsideCheckpoint(t *testing.T) {
	ctx := context.Background()
	x := sinter.Of([]float64{3}, 1)
	var w *sinter.Variable
	var h tensor
	y := sinter.Checkpoint(func(in []tensor) tensor {
		w = sinter.NewVariable("w", sinter.Of([]float64{2}, 1))
		h = in[0].Square()
		return h.Mul(w.Tensor())
	}, x)
	g := sinter.Grad(y.Add(w.Tensor()).Add(h).Sum(), x, w.Tensor(), h)
	got, err := sinter.Values[float64](ctx, sinter.Concat(0, g[:2]...))
	if err != nil || got[0] != 18 || got[1] != 10 {
		t.Errorf("%v, %v, want 18 and 10", got, err)
	}
	if err := g[2].Err(); err == nil || !strings.Contains(err.Error(), "inside a Checkpoint") {
		t.Errorf("gradient of what is inside: %v", err)
	}
}

// Of operands of a checkpoint that were computed from one another, each counts
// once.
func TestCheckpointOfDependent(t *testing.T) {
	f := func(in []tensor) tensor {
		y := in[0].Mul(in[1]).Sin()
		for range 2 {
			z := y
			y = sinter.Checkpoint(func(in []tensor) tensor { return in[0].Exp().Mul(in[1]).Mul(z) }, y, in[0])
		}
		return y
	}
	at := []tensor{points(-1, 1, 0), points(0, 1, 1)}
	if err := sinter.CheckGrad(context.Background(), f, sinter.CheckGradOptions{}, at...); err != nil {
		t.Error(err)
	}
	slope := func(in []tensor) tensor { return sinter.Grad(f(in).Sum(), in[0])[0].Mul(in[1]) }
	if err := sinter.CheckGrad(context.Background(), slope, sinter.CheckGradOptions{Tolerance: 1e-5}, at...); err != nil {
		t.Error("second:", err)
	}
}

// The second derivative of attention has kernels that read one another's
// results in both directions, unless they are kept apart.
func TestSecondDerivativeOfAttention(t *testing.T) {
	flat := points(-1, 1, 0).Reshape(-1)
	part := func(n int, s ...int) tensor {
		return flat.Slice(sinter.Range{Stop: n}).Reshape(s...)
	}
	f := func(in []tensor) tensor {
		out, _ := sinter.Attention(in[0], in[1], in[2], sinter.AttentionOptions{Window: 1})
		var sum tensor
		for i, g := range sinter.Grad(out.Square().Sum(), in...) {
			if i == 0 {
				sum = weighed(g)
			} else {
				sum = sum.Add(weighed(g))
			}
		}
		return sum
	}
	at := []tensor{part(4, 1, 1, 2, 2), part(10, 1, 1, 5, 2), part(15, 1, 1, 5, 3)}
	if err := sinter.CheckGrad(context.Background(), f, sinter.CheckGradOptions{Tolerance: 1e-5}, at...); err != nil {
		t.Error(err)
	}
}

// Slopes where a formula has a branch that is infinite, or without slope, there.
func TestGradAtEdges(t *testing.T) {
	ctx := context.Background()
	two, three := sinter.Scalar(2), sinter.Scalar(3)
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		dt   sinter.DType
		f    func(x tensor) tensor
		at   float64
		want []float64 // the first derivative, the second, ...
	}{
		"sinh":            {sinter.F64, tensor.Sinh, 0, []float64{1, 0, 1}},
		"sinh, f16":       {sinter.F16, tensor.Sinh, 0, []float64{1, 0, 1}},
		"sinh, far":       {sinter.F32, tensor.Sinh, 100, []float64{inf, inf}},
		"cosh":            {sinter.F64, tensor.Cosh, 0, []float64{0, 1, 0, 1}},
		"cosh, far":       {sinter.F32, tensor.Cosh, -100, []float64{-inf, inf}},
		"cosh, near far":  {sinter.F32, func(x tensor) tensor { return x.Cosh().Mul(sinter.Scalar(1e-38)) }, 89, []float64{2.2448063}},
		"gelu, f16":       {sinter.F16, tensor.GELUTanh, 300, []float64{1, 0}},
		"gelu below, f16": {sinter.F16, tensor.GELUTanh, -300, []float64{0, 0}},
		"x^2":             {sinter.F64, func(x tensor) tensor { return x.Pow(two) }, 0, []float64{0, 2, 0, 0, 0}},
		"x^3 + x^1":       {sinter.F64, func(x tensor) tensor { return x.Pow(three).Add(x.Pow(sinter.Scalar(1))) }, 0, []float64{1, 0, 6, 0, 0}},
		"relu":            {sinter.F32, tensor.ReLU, 0, []float64{0}},
		"relu below 0":    {sinter.F32, tensor.ReLU, math.Copysign(0, -1), []float64{0}},
		"relu, far":       {sinter.F32, tensor.ReLU, inf, []float64{1}},
		"relu of nan":     {sinter.F32, tensor.ReLU, math.NaN(), []float64{1}}, // as PyTorch
		"std":             {sinter.F64, func(x tensor) tensor { return sinter.Stack(0, x, x).Std(0) }, 2, []float64{0}},
	} {
		x := sinter.Of([]float64{c.at}, 1).Cast(c.dt)
		y := c.f(x)
		for i, want := range c.want {
			y = sinter.Grad(y.Sum(), x)[0]
			got, err := sinter.Values[float64](ctx, y.Mul(sinter.Scalar(1)).Cast(sinter.F64))
			if err != nil || got[0] != want && !(math.Abs(got[0]-want) < 1e-6) {
				t.Errorf("%s: derivative %d is %v, %v, want %v", name, i+1, got, err, want)
			}
		}
	}
}

func ExampleGrad() {
	x := sinter.Of([]float32{1, 2, 3}, 3)
	loss := x.Square().Sum()
	g, err := sinter.Values[float32](context.Background(), sinter.Grad(loss, x)[0])
	fmt.Println(g, err)
	// Output: [2 4 6] <nil>
}

// TestCheckpointMemory trains a residual net of 8 blocks: with checkpoints a
// run needs less than half the memory, thanks to the order of kernels.
func TestCheckpointMemory(t *testing.T) {
	const blocks, rows, width, inner = 8, 256, 32, 512
	peak := func(checkpoint bool, noOpt ...string) int64 {
		d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		h := sinter.Input("x", sinter.F32, sinter.Dims(rows, width)...)
		var weights []sinter.Tensor
		for range blocks {
			in, out := sinter.Of(make([]float32, width*inner), width, inner), sinter.Of(make([]float32, inner*width), inner, width)
			weights = append(weights, in, out)
			block := func(x []tensor) tensor { return x[0].Add(x[0].MatMul(in).GELU().MatMul(out)) }
			if checkpoint {
				h = sinter.Checkpoint(block, h)
			} else {
				h = block([]tensor{h})
			}
		}
		p, err := sinter.Compile(sinter.Capture(sinter.Grad(h.Square().Mean(), weights...)...), sinter.Options{Device: d, NoOpt: noOpt})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		before := d.Stats().Allocated
		if _, err := p.Run(context.Background(), map[string]tensor{"x": sinter.Of(make([]float32, rows*width), rows, width)}); err != nil {
			t.Fatal(err)
		}
		return d.Stats().Peak - before
	}
	kept, again, unordered := peak(false), peak(true), peak(true, "order", "free-early")
	t.Logf("%d bytes kept, %d with checkpoints, %d with these as they come", kept, again, unordered)
	if again > kept/2 || again > unordered/2 {
		t.Errorf("%d bytes with checkpoints, %d without, %d out of order", again, kept, unordered)
	}
}
