package main

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// attentionShape is an attention of as many queries as keys.
type attentionShape struct {
	batch, heads, tokens, width int
	causal                      bool
}

// attentionShapes are those of a sentence encoder, of BERT, of the step of a small
// GPT, and one of wide heads and a long text.
var attentionShapes = []attentionShape{
	{8, 12, 128, 32, false}, {4, 12, 512, 64, false}, {8, 6, 256, 64, true}, {1, 8, 2048, 128, true},
}

// attentionDTypes are what processors compute attention in.
var attentionDTypes = []string{"f32", "bf16"}

func (a *app) benchAttention(ctx context.Context, b *benchRun) error {
	dtypes := slices.DeleteFunc(slices.Clone(b.dtypes), func(d string) bool { return !slices.Contains(attentionDTypes, d) })
	b.left = len(attentionShapes) * len(b.isas) * len(dtypes)
	for i, s := range attentionShapes {
		for _, isa := range b.isas {
			for _, dtype := range dtypes {
				if i > 0 && isa == bench.Generic { // takes minutes
					b.left--
					continue
				}
				if err := b.attention(ctx, s, isa, dtype); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// attention measures a shape in a number format.
func (b *benchRun) attention(ctx context.Context, s attentionShape, isa, dtype string) (err error) {
	name := "attention"
	if s.causal {
		name = "attention-causal"
	}
	o := newAttentionOperands(s, dtype)
	p, err := b.compile(sinter.Capture(o.result), isa, o.inputs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	size := o.result.DType().Size() * s.batch * s.heads * s.tokens * s.width
	return b.measure(ctx, bench.Case{
		Name: name, Set: "attention", ISA: isa, DType: dtype, Shape: []int{s.batch, s.heads, s.tokens, s.width},
		Work: s.flops() / 1e9, Unit: "GFLOP/s", Flops: s.flops(), Read: 3 * size, Written: size,
		Run: p.once,
		Accuracy: func(ctx context.Context, threads int) (float64, error) {
			if o.result.DType() == sinter.BF16 {
				y, err := results[sinter.BFloat16](ctx, p, threads)
				return s.error(o.values, singles(y)), err
			}
			y, err := results[float32](ctx, p, threads)
			return s.error(o.values, y), err
		},
	})
}

// flops are those of the two products, of the keys that queries see. The softmax
// between them is not counted: it is what an attention takes beside its bound.
func (s attentionShape) flops() float64 {
	seen := float64(s.tokens) * float64(s.tokens)
	if s.causal {
		seen = float64(s.tokens) * float64(s.tokens+1) / 2
	}
	return 4 * float64(s.batch*s.heads) * seen * float64(s.width)
}

// attentionOperands are queries, keys and values, and their attention.
type attentionOperands struct {
	result sinter.Tensor
	inputs map[string]sinter.Tensor
	values [3][]float32
}

func newAttentionOperands(s attentionShape, dtype string) attentionOperands {
	o := attentionOperands{inputs: map[string]sinter.Tensor{}}
	dt, shape := sinter.F32, []int{s.batch, s.heads, s.tokens, s.width}
	if dtype == "bf16" {
		dt = sinter.BF16
	}
	var in [3]sinter.Tensor
	all := uniform(3 * s.batch * s.heads * s.tokens * s.width)
	for i, name := range []string{"q", "k", "v"} {
		n := len(all) / 3
		o.values[i] = all[i*n : (i+1)*n]
		o.inputs[name] = sinter.Of(o.values[i], shape...)
		if dt == sinter.BF16 {
			short := make([]sinter.BFloat16, n)
			for j, v := range o.values[i] {
				short[j] = sinter.NewBFloat16(v)
			}
			o.values[i] = singles(short)
			o.inputs[name] = sinter.Of(short, shape...)
		}
		in[i] = sinter.Input(name, dt, sinter.Dims(shape...)...)
	}
	o.result, _ = sinter.Attention(in[0], in[1], in[2], sinter.AttentionOptions{Causal: s.causal})
	return o
}

func singles(x []sinter.BFloat16) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v.Float32()
	}
	return y
}

// error is the largest error of an element of some queries, of weights of keys
// that sum to 1 and values between -1 and 1.
func (s attentionShape) error(values [3][]float32, got []float32) float64 {
	if len(got) != len(values[0]) {
		return math.NaN()
	}
	rows := s.batch * s.heads * s.tokens
	worst := 0.0
	for r := 0; r < rows; r += max(1, rows/8-1) { // of several places in a text
		head := r / s.tokens * s.tokens * s.width
		k, v := values[1][head:], values[2][head:]
		keys := s.tokens
		if s.causal {
			keys = r%s.tokens + 1
		}
		for i, want := range s.query(values[0][r*s.width:][:s.width], k, v, keys) {
			worst = max(worst, math.Abs(float64(got[r*s.width+i])-want)) // NaN stays
		}
	}
	return worst
}

// query is the result of one query in float64.
func (s attentionShape) query(q, k, v []float32, keys int) []float64 {
	out, sum := make([]float64, s.width), 0.0
	for j := range keys {
		score := 0.0
		for i, x := range q {
			score += float64(x) * float64(k[j*s.width+i])
		}
		weight := math.Exp(score / math.Sqrt(float64(s.width)))
		sum += weight
		for i := range out {
			out[i] += weight * float64(v[j*s.width+i])
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
