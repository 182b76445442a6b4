package chars

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn/gpt"
)

// Sampler writes text with a net as it is at the moment.
type Sampler struct {
	program *sinter.Program
	block   int
	// Temperature divides the logits: below 1 the likelier characters come more
	// often than they should; 0: 0.8.
	Temperature float64
}

// NewSampler compiles a program that looks at one block.
func NewSampler(net *gpt.Net, block int, o sinter.Options) (*Sampler, error) {
	ids := sinter.Input("ids", sinter.I64, sinter.Dims(1, block)...)
	// What stands behind the last character is not seen by it.
	last := net.Logits(ids).Squeeze(0).Take(sinter.Input("last", sinter.I64, sinter.N(1)), 0)
	p, err := sinter.Compile(sinter.Capture(last.Reshape(-1)), o)
	if err != nil {
		return nil, fmt.Errorf("chars: compiling the sampler: %w", err)
	}
	return &Sampler{program: p, block: block}, nil
}

// Continue writes n characters behind a beginning of at least one.
func (s *Sampler) Continue(ctx context.Context, beginning []int64, n int, seed uint64) ([]int64, error) {
	if len(beginning) == 0 {
		return nil, errors.New("chars: a sample begins with at least one character")
	}
	r := rand.New(rand.NewPCG(seed, 0))
	all := append([]int64{}, beginning...)
	for range n {
		seen := all[max(0, len(all)-s.block):]
		ids := make([]int64, s.block)
		copy(ids, seen)
		outs, err := s.program.Run(ctx, map[string]sinter.Tensor{
			"ids": sinter.Of(ids, 1, s.block), "last": sinter.Of([]int64{int64(len(seen) - 1)}, 1),
		})
		if err != nil {
			return nil, fmt.Errorf("chars: sampling: %w", err)
		}
		logits, err := sinter.Values[float32](ctx, outs[0])
		if err != nil {
			return nil, fmt.Errorf("chars: sampling: %w", err)
		}
		all = append(all, int64(s.draw(logits, r)))
	}
	return all[len(beginning):], nil
}

// draw picks a class with the probability that its logit gives it.
func (s *Sampler) draw(logits []float32, r *rand.Rand) int {
	temperature := s.Temperature
	if temperature == 0 {
		temperature = 0.8
	}
	most := math.Inf(-1)
	for _, x := range logits {
		most = max(most, float64(x))
	}
	sum := 0.0
	weights := make([]float64, len(logits))
	for i, x := range logits {
		weights[i] = math.Exp((float64(x) - most) / temperature)
		sum += weights[i]
	}
	at := r.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// Close frees the program.
func (s *Sampler) Close() error { return s.program.Close() }
