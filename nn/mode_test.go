package nn_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

func training(seed float64) *nn.Mode {
	return &nn.Mode{Training: true, Rand: sinter.NewRand(sinter.Scalar(seed))}
}

func TestDropout(t *testing.T) {
	x := sinter.Ones(sinter.F32, sinter.Dims(100, 100)...)
	d := nn.Dropout{P: 0.2}
	for _, m := range []*nn.Mode{nil, {}, {Rand: sinter.NewRand(sinter.Scalar(1))}} {
		if v := values(t, d.Forward(x, m)); slices.Min(v) != 1 || slices.Max(v) != 1 {
			t.Error("it drops in evaluation")
		}
	}
	v := values(t, d.Forward(x, training(1)))
	kept := 0.0
	for _, x := range v {
		if x != 0 {
			kept++
		}
	}
	if slices.Max(v) != 1.25 || !(math.Abs(kept/1e4-0.8) <= 5*0.4/100) {
		t.Errorf("%v of 10000 kept as %v", kept, slices.Max(v))
	}
	if slices.Equal(v, values(t, d.Forward(x, training(2)))) {
		t.Error("seeds")
	}
	for _, bad := range []sinter.Tensor{d.Forward(x, &nn.Mode{Training: true}), nn.Dropout{P: 1}.Forward(x, nil), nn.Dropout{P: math.NaN()}.Forward(x, nil)} {
		if bad.Err() == nil {
			t.Error("no error")
		}
	}
}

// With next to nothing dropped, attention that drops is attention.
func TestAttentionThatDrops(t *testing.T) {
	ctx := context.Background()
	r := sinter.NewRand(sinter.Scalar(5))
	x := r.Normal(sinter.Dims(2, 6, 8)...).Cast(sinter.F64)
	mask := r.Normal(sinter.Dims(6, 6)...).Cast(sinter.F64)
	for name, a := range map[string]*nn.MultiHeadAttention{"plain": {Width: 8, Heads: 2}, "causal": {Width: 8, Heads: 4, KVHeads: 2, Causal: true},
		"window": {Width: 8, Heads: 2, Causal: true, Window: 3}, "window on both sides": {Width: 8, Heads: 2, Window: 2}} {
		if err := nn.Init(a, nn.Options{DType: sinter.F64}); err != nil {
			t.Fatal(err)
		}
		for _, in := range []nn.AttentionInput{{}, {Mask: mask}, {Key: x.Narrow(1, sinter.N(0), sinter.N(6)).Square()}} {
			want := a.Attend(x, in, training(1))
			a.Dropout = 1e-9
			near(t, name, a.Attend(x, in, training(1)), want, 1e-8)
			a.Dropout = 0.5
			if slices.Equal(values(t, a.Attend(x, in, training(1))), values(t, want)) {
				t.Errorf("%s: nothing was dropped", name)
			}
			near(t, name+" in evaluation", a.Attend(x, in, nil), want, 0)
			a.Dropout = 0
		}
		a.Dropout = 0.3
		forward := func(in []sinter.Tensor) sinter.Tensor {
			return a.Attend(in[0], nn.AttentionInput{Mask: in[1]}, training(3))
		}
		if err := sinter.CheckGrad(ctx, forward, sinter.CheckGradOptions{}, x, mask); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A query that sees no key gets 0 and gradient 0, as without dropping.
func TestAttentionThatDropsSeesNothing(t *testing.T) {
	r := sinter.NewRand(sinter.Scalar(5))
	x, key := r.Normal(sinter.Dims(2, 4, 8)...).Cast(sinter.F64), r.Normal(sinter.Dims(2, 3, 8)...).Cast(sinter.F64)
	rows := sinter.Of([]float64{0, 0, math.Inf(-1), 0}, 4, 1)
	a := &nn.MultiHeadAttention{Width: 8, Heads: 2, Causal: true} // the first of four queries has no key among three
	if err := nn.Init(a, nn.Options{DType: sinter.F64}); err != nil {
		t.Fatal(err)
	}
	for _, in := range []nn.AttentionInput{{Key: key}, {Mask: rows}} {
		a.Dropout = 0
		want := a.Attend(x, in, training(1))
		gradient := sinter.Grad(want.Square().Sum(), x)[0]
		a.Dropout = 1e-9
		got := a.Attend(x, in, training(1))
		near(t, "gradient", sinter.Grad(got.Square().Sum(), x)[0], gradient, 1e-8)
		near(t, "result", got, want, 1e-8)
	}
}

// A block that drops half has the expected result of one that drops nothing,
// where everything is linear: one part alone.
func TestBlockDrops(t *testing.T) {
	b := &nn.TransformerBlock{Width: 4, Heads: 1, Dropout: 0.5}
	if err := nn.Init(b, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	x := sinter.Ones(sinter.F32, sinter.Dims(1, 2, 4)...)
	plain := values(t, b.Forward(x, nil))
	if slices.Equal(plain, values(t, b.Forward(x, training(1)))) || slices.Equal(values(t, b.Forward(x, training(1))), values(t, b.Forward(x, training(2)))) {
		t.Error("nothing was dropped")
	}
	if !slices.Equal(values(t, b.Forward(x, training(1))), values(t, b.Forward(x, training(1)))) {
		t.Error("the same seed drops other parts")
	}
}

// One value of a channel has no variance of a sample: the running one stays, in
// a program for any number of rows too.
func TestBatchNormOfOneValue(t *testing.T) {
	ctx := context.Background()
	for _, rows := range []sinter.Dim{sinter.N(1), sinter.Sym("rows", 1, 9)} {
		b := &nn.BatchNorm{Channels: 2}
		if err := nn.Init(b, nn.Options{}); err != nil {
			t.Fatal(err)
		}
		m := training(1)
		y := b.Forward(sinter.Input("x", sinter.F32, rows, sinter.N(2)), m)
		p, err := sinter.Compile(sinter.Capture(append(m.Updates(), y)...), sinter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(ctx, map[string]sinter.Tensor{"x": sinter.Of([]float32{3, 4}, 1, 2)}); err != nil {
			t.Fatal(err)
		}
		near(t, "mean", b.Mean.Tensor(), sinter.Of([]float32{0.3, 0.4}, 2), 1e-6)
		near(t, "variance", b.Var.Tensor(), sinter.Of([]float32{1, 1}, 2), 0)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUpdatesNeedToBeOutputs(t *testing.T) {
	b := &nn.BatchNorm{Channels: 2}
	if err := nn.Init(b, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	x := sinter.Of([]float32{1, 2, 3, 4}, 2, 2)
	m := training(1)
	values(t, b.Forward(x, m))
	if v := values(t, b.Mean.Tensor()); !slices.Equal(v, []float64{0, 0}) {
		t.Errorf("running mean %v before the updates ran", v)
	}
	if n := len(m.Updates()); n != 3 {
		t.Fatalf("%d updates", n)
	}
	if _, err := sinter.Eval(context.Background(), m.Updates()...); err != nil {
		t.Fatal(err)
	}
	if v := values(t, sinter.Stack(0, b.Mean.Tensor(), b.Var.Tensor())); !(math.Abs(v[0]-0.2) <= 1e-6) || !(math.Abs(v[2]-1.1) <= 1e-6) {
		t.Errorf("running mean and variance %v", v)
	}
	if len((&nn.Mode{}).Updates()) != 0 || len((*nn.Mode)(nil).Updates()) != 0 {
		t.Error("updates of nothing")
	}
}
