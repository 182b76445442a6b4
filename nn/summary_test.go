package nn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

func ExampleSummary() {
	net := &struct {
		Conv nn.Conv2d    `weight:"conv"`
		Norm nn.BatchNorm `weight:"norm"`
	}{nn.Conv2d{In: 1, Out: 4, Kernel: []int{3}, Same: true, NoBias: true}, nn.BatchNorm{Channels: 4}}
	if err := nn.Init(net, nn.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 1, 64), sinter.N(1), sinter.N(8), sinter.N(8))
	fmt.Print(nn.Summary(net, net.Conv.Forward(x)))
	// Output:
	// name                      shape         elements  bytes
	// conv.weight               f32[4 1 3 3]  36        144
	// norm.weight               f32[4]        4         16
	// norm.bias                 f32[4]        4         16
	// norm.running_mean         f32[4]        4         16  state
	// norm.running_var          f32[4]        4         16  state
	// norm.num_batches_tracked  i64[]         1         8   state
	// 44 parameters and 9 elements of state, 216 bytes
	// 4608*batch operations forward
}

func TestSummaryOfMistakes(t *testing.T) {
	if s := nn.Summary(&nn.Linear{In: 1, Out: 1}); !strings.Contains(s, "nn.Init") {
		t.Error(s)
	}
	if s := nn.Summary(3); !strings.Contains(s, "pointer") {
		t.Error(s)
	}
	l := &nn.Linear{In: 1, Out: 1}
	if err := nn.Init(l, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	if s := nn.Summary(l, sinter.Tensor{}); !strings.Contains(s, "no operations") {
		t.Error(s)
	}
}

// scale is a user's own layer.
type scale struct {
	Width  int
	Factor *sinter.Variable `weight:"factor"`
	Steps  *sinter.Variable `state:"steps"`
	path   string
}

func (s *scale) Make(b *nn.Builder) error {
	if s.Width < 1 {
		return errors.New("no width")
	}
	s.path = b.Path()
	b.Variable(&s.Factor, nn.Constant(2), s.Width)
	b.VariableOf(&s.Steps, sinter.I64, nn.Constant(7))
	return nil
}

// Layers of one's own have names, first values and a place in files like those
// of the package, also inside nets that set their sizes.
func TestOwnLayers(t *testing.T) {
	net := &struct {
		Parts map[string]int
		A     []*scale `weight:"a"`
		B     struct {
			scale
			C scale `weight:"c"`
		} `weight:"b"`
		D [2]scale `weight:"-"`
	}{A: []*scale{{Width: 2}, nil, {Width: 1}}}
	net.B.Width, net.B.C.Width = 3, 1
	err := nn.Init(net, nn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := nn.State(net)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		got = append(got, p.Name)
	}
	if s := strings.Join(got, " "); s != "a.0.factor a.0.steps a.2.factor a.2.steps b.factor b.steps b.c.factor b.c.steps" {
		t.Errorf("names %s", s)
	}
	if net.A[2].path != "a.2" {
		t.Errorf("path %q", net.A[2].path)
	}
	if v, err := sinter.Values[int64](context.Background(), net.A[0].Steps.Tensor()); err != nil || v[0] != 7 {
		t.Error(v, err)
	}
	net.A[1] = &scale{}
	if err := nn.Init(net, nn.Options{}); err == nil || !strings.Contains(err.Error(), "a.1: no width") {
		t.Error(err)
	}
	elsewhere := &struct {
		nn.Linear
		Lost *sinter.Variable `weight:"-"`
	}{Linear: nn.Linear{In: 2, Out: 2}}
	if err := nn.Init(elsewhere, nn.Options{}); err != nil || len(nn.Params(elsewhere)) != 2 {
		t.Error(err, nn.Params(elsewhere))
	}
}
