package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/train"
)

// features are texts as the block before the last leaves them. What does not
// change in training is computed once.
type features struct {
	width  int
	tokens []int       // of each text
	values [][]float32 // [tokens, width] of each text
}

const (
	maxTokens    = 1 << 15 // of a run
	batchTokens  = 1024
	featureTexts = 64
)

// newFeatures runs all blocks but the last on texts given by their tokens.
func newFeatures(ctx context.Context, e *model.Encoder, c *config, texts [][]int32) (*features, error) {
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, maxTokens))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, maxTokens).Plus(1))
	program, err := sinter.Compile(sinter.Capture(e.Forward(model.Inputs{IDs: ids, Offsets: offsets}).Hidden[c.Layers-1]), sinter.Options{})
	if err != nil {
		return nil, err
	}
	defer program.Close()
	f := &features{width: c.Hidden}
	for len(texts) > 0 {
		var batch []int32
		ends := []int32{0}
		for len(texts) > 0 && len(ends) <= featureTexts && len(batch) < batchTokens {
			batch = append(batch, texts[0]...)
			ends = append(ends, int32(len(batch)))
			texts = texts[1:]
		}
		out, err := program.Run(ctx, train.Batch{"ids": sinter.Of(batch, len(batch)), "offsets": sinter.Of(ends, len(ends))})
		if err != nil {
			return nil, fmt.Errorf("computing features: %w", err)
		}
		values, err := sinter.Values[float32](ctx, out[0])
		if err != nil {
			return nil, err
		}
		for i, end := range ends[1:] {
			n := int(end - ends[i])
			f.tokens = append(f.tokens, n)
			f.values = append(f.values, values[:n*f.width:n*f.width])
			values = values[n*f.width:]
		}
	}
	return f, nil
}

// tokenize gives the tokens of texts.
func tokenize(e *model.Encoder, texts []string) [][]int32 {
	ids := make([][]int32, len(texts))
	for i, t := range texts {
		ids[i] = e.Tokenizer.EncodeMax(t, e.MaxTokens).IDs
	}
	return ids
}

// batch puts texts one after another, under names that begin with a side.
func (f *features) batch(side string, texts []int) train.Batch {
	var x []float32
	offsets := []int32{0}
	for _, i := range texts {
		x = append(x, f.values[i]...)
		offsets = append(offsets, offsets[len(offsets)-1]+int32(f.tokens[i]))
	}
	return train.Batch{
		side + ".x":       sinter.Of(x, len(x)/f.width, f.width),
		side + ".offsets": sinter.Of(offsets, len(offsets)),
	}
}

// inputs are what batch binds.
func (f *features) inputs(side string, texts int) (x, offsets sinter.Tensor) {
	return sinter.Input(side+".x", sinter.F32, sinter.Sym(side+".tokens", 0, maxTokens), sinter.N(f.width)),
		sinter.Input(side+".offsets", sinter.I32, sinter.N(texts+1))
}

// pairsData deals the pairs of queries and answers anew for each epoch. What
// fills no batch is left out.
type pairsData struct {
	queries, answers *features
	size             int
}

// Epoch is for train.Run.
func (d pairsData) Epoch(seed int64, epoch, skip int) iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		order := rand.New(rand.NewPCG(uint64(seed), uint64(epoch))).Perm(len(d.queries.tokens))
		for i := skip; i < len(order)/d.size; i++ {
			rows := order[i*d.size : (i+1)*d.size]
			batch := d.queries.batch("query", rows)
			for name, x := range d.answers.batch("answer", rows) {
				batch[name] = x
			}
			if !yield(batch, nil) {
				return
			}
		}
	}
}
