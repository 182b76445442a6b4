package temporal

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// The nets are those that package nn's layers make of the same weights.
func TestForward(t *testing.T) {
	ctx := context.Background()
	values := make([]float32, 5*Features)
	for i := range values {
		values[i] = float32(math.Sin(float64(i * i)))
	}
	x := sinter.Of(values, 5, Features)
	for _, sizes := range []Sizes{
		DefaultSizes(MLPName, Classes), DefaultSizes(MLPName, 1), DefaultSizes(TransformerName, Classes), DefaultSizes(TransformerName, 1),
	} {
		net, err := New(sizes, 3)
		if err != nil {
			t.Fatal(err)
		}
		var y sinter.Tensor
		switch m := net.Module.(type) {
		case *mlp:
			y = m.Out.Forward(m.Hidden.Forward(x).ReLU())
		case *transformer:
			parts := x.Split(1, Window, Features-Window)
			patches := m.Position.Forward(m.Patches.Forward(parts[0].Reshape(5, m.Position.Count, m.Patches.In)))
			token := m.Context.Forward(parts[1]).Unsqueeze(1)
			read := m.Block.Attend(token, nn.AttentionInput{Key: m.Block.Norm1.Forward(patches)}, nil)
			y = m.Out.Forward(m.Norm.Forward(read.Squeeze(1)))
		}
		want, err := sinter.Values[float32](ctx, y)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sinter.Values[float32](ctx, net.Forward(x))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !(math.Abs(float64(got[i]-want[i])) <= 1e-5) {
				t.Errorf("%+v: output %d is %v, want %v", sizes, i, got[i], want[i])
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for _, s := range []Sizes{
		{}, {Net: MLPName, Outputs: 3}, {Net: MLPName, Hidden: 64}, {Net: MLPName, Outputs: 3, Hidden: -1}, {Net: "rnn", Outputs: 3},
		{Net: TransformerName, Outputs: 3, Patch: 5, Width: 16, Heads: 2, Inner: 16}, {Net: TransformerName, Outputs: 3, Patch: 4, Width: 16, Heads: 3, Inner: 16},
	} {
		if _, err := New(s, 1); err == nil {
			t.Errorf("%+v is no error", s)
		}
	}
}

// The same seed is the same net after training, bit for bit, on any number of
// threads.
func TestThreads(t *testing.T) {
	for _, name := range []string{MLPName, TransformerName} {
		var first [][]float32
		for _, threads := range []int{1, 2, 3} {
			d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			task, _ := trained(t, Options{Seed: 9, Sigma: 0.3, Rows: 1000, Net: name, Epochs: 3}, sinter.Options{Device: d})
			ctx := sinter.WithDevice(context.Background(), d)
			var all [][]float32
			for _, v := range nn.Params(task.Net.Module) {
				w, err := sinter.Values[float32](ctx, v.Tensor())
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, w)
			}
			if first == nil {
				first = all
			}
			if !slices.EqualFunc(first, all, slices.Equal) {
				t.Errorf("%s: %d threads end at other weights than 1", name, threads)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
