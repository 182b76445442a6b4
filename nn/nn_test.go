package nn_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

type mlp struct {
	Layers []nn.Linear      `weight:"layers"`
	Norm   *nn.BatchNorm    `weight:"norm"`
	Scale  *sinter.Variable `weight:"scale"`
}

func newMLP(t *testing.T, seed int64) *mlp {
	t.Helper()
	m := &mlp{Layers: []nn.Linear{{In: 3, Out: 4}, {In: 4, Out: 2, NoBias: true}}, Norm: &nn.BatchNorm{Channels: 4},
		Scale: sinter.NewVariable("scale", sinter.Of([]float32{2}, 1))}
	if err := nn.Init(m, nn.Options{Seed: seed}); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mlp) forward(x sinter.Tensor, mode *nn.Mode) sinter.Tensor {
	h := m.Norm.Forward(m.Layers[0].Forward(x), mode).ReLU()
	return m.Layers[1].Forward(h).Mul(m.Scale.Tensor())
}

func values(t *testing.T, x sinter.Tensor) []float64 {
	t.Helper()
	v, err := sinter.Values[float64](context.Background(), x.Cast(sinter.F64))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func names(all []*sinter.Variable) (names []string) {
	for _, v := range all {
		names = append(names, v.Name())
	}
	return names
}

func TestNamesAndOrder(t *testing.T) {
	m := newMLP(t, 1)
	want := []string{"layers.0.weight", "layers.0.bias", "layers.1.weight", "norm.weight", "norm.bias", "scale"}
	if got := names(nn.Params(m)); !slices.Equal(got, want) {
		t.Errorf("parameters %v, want %v", got, want)
	}
	all, err := nn.State(m)
	if err != nil || len(all) != 9 || all[5].Name != "norm.running_mean" || !all[5].State || all[7].Name != "norm.num_batches_tracked" {
		t.Errorf("state %v, %v", all, err)
	}
}

func TestFirstValuesFollowSeedAndName(t *testing.T) {
	a, b, c := newMLP(t, 1), newMLP(t, 1), newMLP(t, 2)
	x := values(t, a.Layers[0].Weight.Tensor())
	if !slices.Equal(x, values(t, b.Layers[0].Weight.Tensor())) {
		t.Error("the same seed gives other values")
	}
	if slices.Equal(x, values(t, c.Layers[0].Weight.Tensor())) {
		t.Error("another seed gives the same values")
	}
	// Another layer in front changes nothing.
	alone := struct {
		First  nn.Linear   `weight:"first"`
		Layers []nn.Linear `weight:"layers"`
	}{nn.Linear{In: 2, Out: 2}, []nn.Linear{{In: 3, Out: 4}}}
	if err := nn.Init(&alone, nn.Options{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x, values(t, alone.Layers[0].Weight.Tensor())) {
		t.Error("a variable's values depend on other layers")
	}
}

func TestInitAgainChangesNothing(t *testing.T) {
	m := newMLP(t, 1)
	before := nn.Params(m)
	if err := nn.Init(m, nn.Options{Seed: 9}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, nn.Params(m)) {
		t.Error("variables were made anew")
	}
}

func TestMatch(t *testing.T) {
	params := nn.Params(newMLP(t, 1))
	weights, rest, err := nn.Match(params, "*.weight", "sc?le")
	if err != nil || !slices.Equal(names(weights), []string{"layers.0.weight", "layers.1.weight", "norm.weight", "scale"}) || len(rest) != 2 {
		t.Errorf("%v, %v, %v", names(weights), names(rest), err)
	}
	for _, bad := range []string{"nosuch*", "[", "layers"} {
		if _, _, err := nn.Match(params, bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTiedOnce(t *testing.T) {
	m := &struct {
		Words nn.Embedding `weight:"words"`
		Head  nn.Linear    `weight:"head"`
	}{nn.Embedding{Count: 5, Width: 3}, nn.Linear{In: 3, Out: 5, NoBias: true}}
	if err := nn.Init(m, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	m.Head.Weight = m.Words.Weight
	if got := names(nn.Params(m)); !slices.Equal(got, []string{"words.weight"}) {
		t.Errorf("parameters %v", got)
	}
	var b bytes.Buffer
	ctx := context.Background()
	if err := nn.Save(ctx, &b, m, nil); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Parse("tied", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"head.weight", "words.weight"}) {
		t.Errorf("saved %v", f.Names())
	}
	if r, err := nn.Load(ctx, f, m, nn.LoadOptions{}); err != nil || r.Loaded != 1 {
		t.Errorf("%v, %v", r, err)
	}
	if s := nn.Summary(m); !strings.Contains(s, "= words.weight") || !strings.Contains(s, "15 parameters, 60 bytes") {
		t.Error(s)
	}
}

// A layer with two places has a name in each, and is trained once.
func TestSharedLayer(t *testing.T) {
	l := &nn.Linear{In: 2, Out: 2}
	m := &struct {
		A *nn.Linear   `weight:"a"`
		B []*nn.Linear `weight:"b"`
	}{l, []*nn.Linear{l, l}}
	if err := nn.Init(m, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	all, err := nn.State(m)
	if err != nil || len(all) != 6 || all[5].Name != "b.1.bias" || len(nn.Params(m)) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestInitRefuses(t *testing.T) {
	type own struct {
		A *sinter.Variable `weight:"a"`
	}
	loop := &struct {
		L  nn.Linear `weight:"l"`
		Up any       `weight:"up"`
	}{L: nn.Linear{In: 1, Out: 1}}
	loop.Up = loop
	for want, net := range map[string]any{
		"pointer to its struct": mlp{},
		"l.1: In is 0": &struct {
			L []nn.Linear `weight:"l"`
		}{[]nn.Linear{{In: 1, Out: 1}, {Out: 3}}},
		"field L": &struct{ L nn.Linear }{},
		"variable o.a": &struct {
			O own `weight:"o"`
		}{},
		"not exported": &struct {
			l nn.Linear `weight:"l"`
		}{},
		"leads back":             loop,
		"Heads is 0":             &nn.MultiHeadAttention{Width: 4},
		"divide into Heads":      &nn.MultiHeadAttention{Width: 4, Heads: 3},
		"divide into the groups": &nn.ConvTranspose1d{In: 4, Out: 3, Kernel: 2, Groups: 2},
		"neither below":          &nn.ConvTranspose2d{In: 2, Out: 2, Kernel: []int{3}, Stride: []int{1, 2}, OutputPadding: []int{1}},
		"In and Out":             &nn.Conv1d{In: 4, Out: 4, Kernel: 3, Groups: -2},
		"no size for each axis":  &nn.ConvTranspose2d{In: 2, Out: 2, Kernel: []int{3, 3, 3}},
		"variable a: ":           &own{sinter.NewVariable("a", sinter.Tensor{})},
		"running_mean has shape": &nn.BatchNorm{Channels: 2, Mean: sinter.NewVariable("m", sinter.Of([]float32{1}))},
	} {
		if err := nn.Init(net, nn.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v", want, err)
		}
	}
	if err := nn.Init(&nn.Linear{In: 1, Out: 1}, nn.Options{DType: sinter.I32}); err == nil {
		t.Error("integers as parameters")
	}
}

func TestErrorsNameTheLayer(t *testing.T) {
	m := newMLP(t, 1)
	y := m.forward(sinter.Zeros(sinter.F32, sinter.Dims(2, 5)...), nil)
	var e *nn.Error
	var shape *sinter.ShapeError
	if !errors.As(y.Err(), &e) || e.Path != "layers.0" || e.Kind != "Linear" || !errors.As(y.Err(), &shape) || !strings.Contains(shape.Caller, "nn_test.go") {
		t.Errorf("%v", y.Err())
	}
	if y := (&nn.Linear{In: 1, Out: 1}).Forward(sinter.Zeros(sinter.F32, sinter.Dims(2, 1)...)); y.Err() == nil || !strings.Contains(y.Err().Error(), "nn.Init") {
		t.Errorf("without Init: %v", y.Err())
	}
}
