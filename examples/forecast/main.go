// Forecast trains a small net to continue a series:
//
//	go run ./examples/forecast
//
// The series lies in one tensor. A step is given numbers of rows alone and takes
// the windows out of the series itself, so that nothing is copied for them.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/train"
)

const (
	window = 16 // values that the net sees
	count  = 4000
	batch  = 64
	noise  = 0.1
)

// series is an oscillation that noise keeps going: its next value is known from
// the last two, but for the noise.
func series(seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, count+window)
	a, b := 1.8*math.Cos(0.6), -0.81
	for t := 2; t < len(x); t++ {
		x[t] = float32(a*float64(x[t-1]) + b*float64(x[t-2]) + noise*r.NormFloat64())
	}
	return x
}

// net is two layers.
type net struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

func (n *net) Forward(x sinter.Tensor) sinter.Tensor {
	return n.Out.Forward(n.Hidden.Forward(x).ReLU()).Squeeze(1)
}

func main() {
	if _, err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run gives the mean squared error on the last fifth of the series.
func run(ctx context.Context, w io.Writer) (float64, error) {
	values := series(1)
	all := sinter.Of(values, len(values))
	// at holds the numbers of rows: row i is values i to i+window-1, and the one
	// that follows.
	at := sinter.Input("row", sinter.I64, sinter.Sym("rows", 1, 1024))
	offsets := sinter.Iota(sinter.I64, 1, sinter.N(1), sinter.N(window))
	rows := func(first float64) (x, y sinter.Tensor) {
		i := at.Add(sinter.Scalar(first))
		return all.Take(i.Unsqueeze(1).Add(offsets), 0), all.Take(i.Add(sinter.Scalar(window)), 0)
	}
	n := &net{nn.Linear{In: window, Out: 32}, nn.Linear{In: 32, Out: 1}}
	if err := nn.Init(n, nn.Options{Seed: 1}); err != nil {
		return 0, err
	}
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(n), Method: optim.AdamW{WeightDecay: 0.5}})
	if err != nil {
		return 0, err
	}
	const held = count / 5 // to judge by: the last, since the future is what is wanted
	const epochs = 15
	result, err := train.Run(ctx, train.Options{
		Net: n, Optimizer: opt, Epochs: epochs, Seed: 1,
		Schedule: optim.Cosine(3e-3, 0, epochs*(count-held)/batch),
		Data:     train.Batches{Rows: train.Numbers{Name: "row", Rows: count - held}, Size: batch, Shuffle: true},
		Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			x, y := rows(0)
			return sinter.MSE(n.Forward(x), y), nil
		},
		Evaluate: train.Evaluation{
			Data: train.Batches{Rows: train.Numbers{Name: "row", Rows: held}, Size: 1024},
			Metrics: func() []train.Metric {
				x, y := rows(count - held)
				return []train.Metric{train.Mean("error", n.Forward(x).Sub(y).Square())}
			},
		},
		Report: func(e train.Event) error {
			if e.EpochEnd {
				v, _ := e.Scores.Value("error")
				_, err := fmt.Fprintf(w, "epoch %2d  loss %.4f  held out %.4f\n", e.Epoch+1, e.Loss, v)
				return err
			}
			return nil
		},
	})
	if err != nil {
		return 0, err
	}
	found, _ := result.Scores.Value("error")
	_, err = fmt.Fprintf(w, "squared error %.4f, of which the noise is %.4f\n", found, noise*noise)
	return found, err
}
