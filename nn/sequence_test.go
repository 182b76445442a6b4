package nn_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// Ragged sequences give what each gives alone.
func TestRaggedAttention(t *testing.T) {
	a := &nn.MultiHeadAttention{Width: 8, Heads: 4, KVHeads: 2, Causal: true, Rotary: &nn.Rotary{}}
	if err := nn.Init(a, nn.Options{DType: sinter.F64}); err != nil {
		t.Fatal(err)
	}
	x := sinter.NewRand(sinter.Scalar(5)).Normal(sinter.Dims(7, 8)...).Cast(sinter.F64)
	offsets := sinter.Of([]int32{0, 3, 4, 7}, 4)
	all := a.Attend(x, nn.AttentionInput{Offsets: offsets}, nil)
	for i, from := range []int{0, 3, 4} {
		n := []int{3, 1, 3}[i]
		alone := a.Forward(x.Narrow(0, sinter.N(from), sinter.N(n)).Unsqueeze(0), nil).Squeeze(0)
		near(t, "sequence", all.Narrow(0, sinter.N(from), sinter.N(n)), alone, 1e-14)
	}
	forward := func(in []sinter.Tensor) sinter.Tensor {
		return a.Attend(in[0], nn.AttentionInput{Offsets: offsets}, nil)
	}
	if err := sinter.CheckGrad(context.Background(), forward, sinter.CheckGradOptions{}, x); err != nil {
		t.Error(err)
	}
	a.Dropout = 0.5
	for _, bad := range []sinter.Tensor{a.Attend(x, nn.AttentionInput{Offsets: offsets}, training(1)), a.Forward(x, nil), a.Forward(sinter.Tensor{}, nil)} {
		if bad.Err() == nil {
			t.Error("no error")
		}
	}
}

// Batches and lengths may be symbols.
func TestSymbolicSizes(t *testing.T) {
	b := &nn.TransformerBlock{Width: 8, Heads: 2, Causal: true, Rotary: &nn.Rotary{}, Dropout: 0.1}
	p := &nn.Positions{Count: 10, Width: 8}
	c := &nn.Conv1d{In: 8, Out: 4, Kernel: 3, Same: true}
	n := &nn.BatchNorm{Channels: 4}
	for _, net := range []any{b, p, c, n} {
		if err := nn.Init(net, nn.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 1, 8), sinter.Sym("time", 1, 10), sinter.N(8))
	forward := func(x sinter.Tensor, m *nn.Mode) sinter.Tensor {
		return n.Forward(c.Forward(b.Forward(p.Forward(x), m).Transpose(1, 2)), m)
	}
	m := training(1)
	y := forward(x, m)
	prog, err := sinter.Compile(sinter.Capture(append(m.Updates(), y, forward(x, nil))...), sinter.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	for _, sizes := range [][]int{{2, 3}, {1, 10}, {8, 2}} {
		v := sinter.NewRand(sinter.Scalar(1)).Normal(sinter.Dims(sizes[0], sizes[1], 8)...)
		want := forward(v, training(1))
		if err := want.Err(); err != nil {
			t.Fatal(err)
		}
		wanted, err := sinter.Eval(context.Background(), want, forward(v, nil))
		if err != nil {
			t.Fatal(err)
		}
		outs, err := prog.Run(context.Background(), map[string]sinter.Tensor{"x": v})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "training", outs[3], wanted[0], 1e-5)
		near(t, "evaluation", outs[4], wanted[1], 1e-5)
	}
}

func TestSinusoidal(t *testing.T) {
	v := values(t, nn.Sinusoidal(sinter.F64, 50, 6))
	for _, at := range [][2]int{{0, 0}, {0, 1}, {7, 2}, {49, 4}, {49, 5}, {3, 3}} {
		angle := float64(at[0]) / math.Pow(10000, float64(at[1]/2*2)/6)
		want := math.Sin(angle)
		if at[1]%2 == 1 {
			want = math.Cos(angle)
		}
		if got := v[at[0]*6+at[1]]; !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("place %d, element %d: %v, want %v", at[0], at[1], got, want)
		}
	}
	for _, bad := range []sinter.Tensor{nn.Sinusoidal(sinter.F32, 4, 3), nn.Sinusoidal(sinter.F32, 0, 4), nn.Rotary{}.Rotate(sinter.Ones(sinter.F32, sinter.Dims(2, 3)...), sinter.Tensor{}),
		nn.Rotary{Base: -1}.Rotate(sinter.Ones(sinter.F32, sinter.Dims(2, 4)...), sinter.Tensor{})} {
		if bad.Err() == nil {
			t.Error("no error")
		}
	}
}

// Products of rotated vectors depend on the distance of their places alone.
func TestRotaryByDistance(t *testing.T) {
	r := sinter.NewRand(sinter.Scalar(2))
	q, k := r.Normal(sinter.Dims(1, 6)...).Cast(sinter.F64), r.Normal(sinter.Dims(1, 6)...).Cast(sinter.F64)
	for _, rotary := range []nn.Rotary{{}, {Interleaved: true, Base: 50}} {
		product := func(i, j int64) sinter.Tensor {
			return rotary.Rotate(q, sinter.Of([]int64{i}, 1)).Mul(rotary.Rotate(k, sinter.Of([]int64{j}, 1))).Sum()
		}
		near(t, "product", product(105, 102), product(3, 0), 1e-12)
	}
}

// Places that are all moved change nothing; those of keys alone do.
func TestAttentionByPlaces(t *testing.T) {
	a := &nn.MultiHeadAttention{Width: 8, Heads: 2, Rotary: &nn.Rotary{}}
	if err := nn.Init(a, nn.Options{DType: sinter.F64}); err != nil {
		t.Fatal(err)
	}
	x := sinter.NewRand(sinter.Scalar(5)).Normal(sinter.Dims(1, 3, 8)...).Cast(sinter.F64)
	moved := sinter.Of([]int64{20, 21, 22}, 3)
	want := a.Forward(x, nil)
	near(t, "all moved", a.Attend(x, nn.AttentionInput{Places: moved}, nil), want, 1e-12)
	if g, w := values(t, a.Attend(x, nn.AttentionInput{KeyPlaces: moved}, nil)), values(t, want); math.Abs(g[0]-w[0]) < 1e-6 {
		t.Error("the places of keys change nothing")
	}
}

func TestRecurrentRefuses(t *testing.T) {
	l := &nn.LSTM{Recurrent: nn.Recurrent{In: 2, Hidden: 3, Layers: 2}}
	if err := nn.Init(l, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	x := sinter.Ones(sinter.F32, sinter.Dims(4, 1, 2)...)
	none := sinter.Tensor{}
	for i, bad := range []sinter.Tensor{sinter.Ones(sinter.F32, sinter.Dims(4, 2)...), sinter.Ones(sinter.F32, sinter.Dims(4, 1, 3)...), sinter.Ones(sinter.F32, sinter.Dims(0, 1, 2)...), none} {
		if y, h, c := l.Forward(bad, none, none, nil); y.Err() == nil || h.Err() == nil || c.Err() == nil {
			t.Errorf("x %d: no error", i)
		}
	}
	if y, _, _ := l.Forward(x, sinter.Ones(sinter.F32, sinter.Dims(1, 1, 3)...), none, nil); y.Err() == nil {
		t.Error("a state for one layer of two")
	}
	for _, shape := range [][]int{{3, 1, 3}, {2, 2, 3}, {2, 1, 1}, {2, 3}, {2, 1, 1, 3}} {
		h := sinter.Ones(sinter.F32, sinter.Dims(shape...)...)
		for i, states := range [][2]sinter.Tensor{{h, none}, {none, h}} {
			if y, _, _ := l.Forward(x, states[0], states[1], nil); y.Err() == nil || !strings.Contains(y.Err().Error(), "want [2, 1, 3]") {
				t.Errorf("state %d of shape %v: %v", i, shape, y.Err())
			}
		}
	}
	// A state of one row is not that of all rows.
	if y, _, _ := l.Forward(sinter.Ones(sinter.F32, sinter.Dims(4, 3, 2)...), sinter.Ones(sinter.F32, sinter.Dims(2, 1, 3)...), none, nil); y.Err() == nil {
		t.Error("a state of one row for three")
	}
	if y, _, _ := (&nn.LSTM{Recurrent: nn.Recurrent{In: 2, Hidden: 3}}).Forward(x, none, none, nil); y.Err() == nil {
		t.Error("no weights")
	}
	for _, r := range []nn.Recurrent{{In: 2}, {In: 2, Hidden: 3, Layers: -1}, {In: 2, Hidden: 3, Layers: 1 << 40}, {In: 2, Hidden: 1 << 60}, {In: 2, Hidden: 3, Dropout: 1}} {
		if err := nn.Init(&nn.GRU{Recurrent: r}, nn.Options{}); err == nil {
			t.Errorf("%+v was initialised", r)
		}
	}
	l.Dropout = 0.5
	a, _, _ := l.Forward(x, none, none, training(1))
	b, _, _ := l.Forward(x, none, none, nil)
	if av, bv := values(t, a), values(t, b); av[0] == bv[0] {
		t.Error("nothing was dropped between layers")
	}
}
