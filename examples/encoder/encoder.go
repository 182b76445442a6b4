package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter"
)

// sizes are those of an encoder.
type sizes struct {
	vocab, positions, layers, width, heads, inner int
}

// weights are those of an encoder with pre-norm blocks: x + f(norm(x)), twice
// a block. Matrices are [out, in], as Linear takes them.
type weights struct {
	words, positions sinter.Tensor
	blocks           []block
	norm             sinter.Tensor // gamma, of the last norm
}

type block struct {
	norm1, query, key, value, output sinter.Tensor
	norm2, up, down                  sinter.Tensor
}

// draw makes random weights, the same for the same sizes and seed. Sums over
// inputs keep the variance of one of them.
func (s sizes) draw(seed uint64) weights {
	r := rand.New(rand.NewPCG(seed, 1))
	uniform := func(mean, variance float64, shape ...int) sinter.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		half := float32(math.Sqrt(3 * variance))
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(mean) + half*(2*r.Float32()-1)
		}
		return sinter.Of(values, shape...)
	}
	matrix := func(out, in int) sinter.Tensor { return uniform(0, 1/float64(in), out, in) }
	gamma := func() sinter.Tensor { return uniform(1, 0.01, s.width) }
	w := weights{words: uniform(0, 1, s.vocab, s.width), positions: uniform(0, 0.1, s.positions, s.width), norm: gamma()}
	for range s.layers {
		w.blocks = append(w.blocks, block{
			norm1: gamma(), query: matrix(s.width, s.width), key: matrix(s.width, s.width),
			value: matrix(s.width, s.width), output: matrix(s.width, s.width),
			norm2: gamma(), up: matrix(s.inner, s.width), down: matrix(s.width, s.inner),
		})
	}
	return w
}

const normEps = 1e-6

// forward embeds texts: their ids one after another, and offsets, which say
// where each begins and ends. The result is [texts, width], of unit length.
func (s sizes) forward(w weights, ids, offsets sinter.Tensor) sinter.Tensor {
	none := sinter.Tensor{}
	x := w.words.Take(ids, 0).Add(w.positions.Take(sinter.Positions(offsets, ids.Dim(0)), 0))
	for _, b := range w.blocks {
		h := sinter.RMSNorm(x, b.norm1, normEps)
		heads := func(weight sinter.Tensor) sinter.Tensor {
			return sinter.Linear(h, weight, none).Reshape(-1, s.heads, s.width/s.heads)
		}
		a, _ := sinter.Attention(heads(b.query), heads(b.key), heads(b.value), sinter.AttentionOptions{QOffsets: offsets, KOffsets: offsets})
		x = x.Add(sinter.Linear(a.Reshape(-1, s.width), b.output, none))
		h = sinter.RMSNorm(x, b.norm2, normEps)
		x = x.Add(sinter.Linear(sinter.Linear(h, b.up, none).SiLU(), b.down, none))
	}
	x = sinter.SegmentMean(sinter.RMSNorm(x, w.norm, normEps), offsets)
	return x.Div(x.Square().SumKeep(-1).Sqrt().Maximum(sinter.Scalar(1e-12)))
}

// flops counts the multiplications and additions of the products and the
// attention for texts of equal length: for each token four products of the
// width by itself and two with the inner width, and for each pair of tokens
// the width twice, for scores and for sums.
func (s sizes) flops(texts, tokens int) float64 {
	w, i := float64(s.width), float64(s.inner)
	each := 4*w*w + 2*w*i + 2*float64(tokens)*w
	return 2 * float64(texts) * float64(tokens) * float64(s.layers) * each
}

// encoder is a compiled program: one, for texts of any number and length.
type encoder struct {
	sizes
	program *sinter.Program
}

const maxTokens = 1 << 20 // of a run

// compile makes the program. The zero Device is not one: nil stands for the best.
// Precision 0 is F32.
func (s sizes) compile(w weights, d *sinter.Device, p sinter.Precision) (*encoder, error) {
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, maxTokens))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, maxTokens).Plus(1))
	program, err := sinter.Compile(sinter.Capture(s.forward(w, ids, offsets)), sinter.Options{Device: d, Precision: p})
	if err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	return &encoder{s, program}, nil
}

// embed returns a vector for each text. Texts have up to s.positions ids.
func (e *encoder) embed(ctx context.Context, texts [][]int32) ([][]float32, error) {
	var ids []int32
	offsets := []int32{0}
	for _, t := range texts {
		ids = append(ids, t...)
		offsets = append(offsets, int32(len(ids)))
	}
	out, err := e.program.Run(ctx, map[string]sinter.Tensor{
		"ids":     sinter.Of(ids, len(ids)),
		"offsets": sinter.Of(offsets, len(offsets)),
	})
	if err != nil {
		return nil, err
	}
	values, err := sinter.Values[float32](ctx, out[0])
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = values[i*e.width : (i+1)*e.width]
	}
	return vectors, nil
}

func (e *encoder) close() error { return e.program.Close() }
