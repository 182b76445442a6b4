package optim_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// TestRecurrentRemembers: nets that read eight symbols learn to say which was
// the first, on new sequences at each step. Guessing has a loss of log 4, 1.39.
func TestRecurrentRemembers(t *testing.T) {
	const batch, places, symbols, hidden = 32, 8, 4, 16
	ids := sinter.Input("ids", sinter.I64, sinter.Dims(places, batch)...)
	for name, make := range map[string]func() (net any, last func(x sinter.Tensor) sinter.Tensor){
		"lstm": func() (any, func(sinter.Tensor) sinter.Tensor) {
			l := &nn.LSTM{Recurrent: nn.Recurrent{In: hidden, Hidden: hidden}}
			return l, func(x sinter.Tensor) sinter.Tensor {
				y, _, _ := l.Forward(x, sinter.Tensor{}, sinter.Tensor{}, nil)
				return y.Index(0, -1)
			}
		},
		"gru": func() (any, func(sinter.Tensor) sinter.Tensor) {
			g := &nn.GRU{Recurrent: nn.Recurrent{In: hidden, Hidden: hidden}}
			return g, func(x sinter.Tensor) sinter.Tensor { y, _ := g.Forward(x, sinter.Tensor{}, nil); return y.Index(0, -1) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			words, out := &nn.Embedding{Count: symbols, Width: hidden}, &nn.Linear{In: hidden, Out: symbols}
			recurrent, last := make()
			var params []*sinter.Variable
			for i, part := range []any{words, recurrent, out} {
				if err := nn.Init(part, nn.Options{Seed: int64(i)}); err != nil {
					t.Fatal(err)
				}
				params = append(params, nn.Params(part)...)
			}
			loss := sinter.CrossEntropy(out.Forward(last(words.Forward(ids))), ids.Index(0, 0), sinter.CrossEntropyOptions{})
			opt, err := optim.New(optim.Options{ClipNorm: 1}, optim.Group{Params: params, Method: optim.Adam{}})
			if err != nil {
				t.Fatal(err)
			}
			updates, err := opt.Update(loss, sinter.Scalar(1e-2))
			if err != nil {
				t.Fatal(err)
			}
			step, err := sinter.Compile(sinter.Capture(append(updates, loss)...), sinter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer step.Close()
			r := rand.New(rand.NewPCG(1, 2))
			var losses []float32
			for range 300 {
				outs, err := step.Run(t.Context(), map[string]sinter.Tensor{"ids": labels(r, places*batch, symbols).Reshape(places, batch)})
				if err != nil {
					t.Fatal(err)
				}
				v, err := sinter.Values[float32](t.Context(), outs[len(outs)-1])
				if err != nil {
					t.Fatal(err)
				}
				losses = append(losses, v[0])
			}
			t.Logf("loss %.3f at first, %.3f after 100 steps, %.4f at the end", losses[0], losses[100], losses[299])
			if !(losses[299] < 0.05) {
				t.Errorf("the loss is %v after %d steps", losses[299], len(losses))
			}
		})
	}
}
