package embed

import (
	"context"
	"fmt"
	"strings"

	"github.com/sinterml/sinter"
)

const usualTokens = 128

// BatchAdvice is what Encoder.RecommendBatch has found; Size is in texts.
type BatchAdvice struct {
	sinter.BatchAdvice
	Tokens int // of a text
	// BatchTokens is for Options.BatchTokens: Size times Tokens if that did more in a
	// second than the default, by more than 2 %, or else the default, which on the
	// device "cpu" it always is.
	BatchTokens int
}

// RecommendBatch finds how many texts of so many tokens to run at a time, as
// sinter.Program.RecommendBatch does; 0 is 128 tokens, or as many as the model
// takes. o.Inputs is the encoder's own, o.Least, if 0, what the default comes to.
func (e *Encoder) RecommendBatch(ctx context.Context, tokens int, o sinter.BatchOptions) (*BatchAdvice, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	if tokens == 0 {
		tokens = e.usual()
	}
	if most := e.model.MaxTokens; tokens < 1 || most > 0 && tokens > most {
		return nil, fmt.Errorf("embed: texts of %d tokens: use 1 or more, and no more than the model takes, %d", tokens, most)
	}
	if !e.uses.begin() {
		return nil, errClosed
	}
	defer e.uses.end()
	o.Inputs = func(n int) map[string]sinter.Tensor {
		offsets := make([]int32, n+1)
		for i := range offsets {
			offsets[i] = int32(i * tokens)
		}
		return inputs(make([]int32, n*tokens), offsets) // whatever the tokens are, the work is the same
	}
	if o.Least == 0 {
		o.Least = usualBatch(e.program.Info().Device) / tokens // to be compared with
	}
	a, err := e.program.RecommendBatch(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	if a == nil {
		return nil, nil // there is none yet, and no other was asked for
	}
	return &BatchAdvice{BatchAdvice: *a, Tokens: tokens, BatchTokens: better(a, tokens, e.program.Info().Device)}, nil
}

// usual is the length of text for which the batch of Options.KeptBatch was found.
func (e *Encoder) usual() int {
	if most := e.model.MaxTokens; most > 0 {
		return min(usualTokens, most)
	}
	return usualTokens
}

// kept is the batch that was found earlier, in tokens, or the default.
func (e *Encoder) kept(ctx context.Context) int {
	a, err := e.RecommendBatch(ctx, 0, sinter.BatchOptions{KeptOnly: true})
	if err != nil || a == nil {
		return usualBatch(e.program.Info().Device)
	}
	return a.BatchTokens
}

// usualBatch is how many tokens a device runs at a time where nobody says: a GPU
// needs many rows to have work for all of it. Devices that may be software have as
// many as the processor.
func usualBatch(device string) int {
	if isGPU(device) {
		return gpuBatchTokens
	}
	return cpuBatchTokens
}

// isGPU tells whether a device is surely one.
func isGPU(device string) bool {
	kind, _, _ := strings.Cut(device, ":")
	return kind == "cuda" || kind == "hip" || kind == "metal"
}

// better is the batch of an advice for texts of so many tokens, or the default
// unless that was compared and did clearly less. The cpu keeps the default, which
// was found on idle machines: small batches are ahead there while other programs
// take turns on its cores, and behind when these have ended.
func better(a *sinter.BatchAdvice, tokens int, device string) int {
	usual := usualBatch(device)
	if device == "cpu" {
		return usual
	}
	rates := map[int]float64{}
	for _, t := range a.Tried {
		rates[t.Size*tokens] = t.Rate()
	}
	const clearly = 1.02 // more than runs differ by
	if rate, ok := rates[usual]; ok && rates[a.Size*tokens] > clearly*rate {
		return a.Size * tokens
	}
	return usual
}

// inputs are those of the program.
func inputs(ids, offsets []int32) map[string]sinter.Tensor {
	return map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}
}
