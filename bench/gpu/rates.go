//go:build !static

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// memory times what moves bytes: a chain of pointwise operations, and rows.
func memory(ctx context.Context, m *meter) error {
	rows, cols := m.size(1<<16, 64), m.size(4096, 96)
	for _, dt := range []sinter.DType{sinter.F32, sinter.BF16} {
		x := sinter.Input("x", dt, sinter.Dims(rows, cols)...)
		ones, zeros := sinter.Ones(dt, sinter.N(cols)), sinter.Zeros(dt, sinter.N(cols))
		for _, c := range []struct {
			name string
			out  sinter.Tensor
		}{
			{"copy", x.Mul(sinter.Scalar(2))},
			{"pointwise chain", x.Mul(x).Add(x).Sub(sinter.Scalar(1)).ReLU().GELU()},
			{"softmax", x.Softmax(-1)},
			{"layer norm", sinter.LayerNorm(x, ones, zeros, 1e-5)},
			{"row sum", x.Sum(-1)},
		} {
			bytes := float64(dt.Size() * rows * cols)
			if c.name != "row sum" {
				bytes *= 2
			}
			err := m.time(ctx, work{
				row:    row{Name: c.name, DType: dt.String(), Shape: []int{rows, cols}, Unit: "GB/s", Bound: m.bounds.bytes / 1e9},
				amount: bytes / 1e9, inputs: map[string]sinter.Tensor{"x": random(dt, rows, cols)}, output: c.out,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// format is what a product is timed in.
type format struct {
	name      string
	in        sinter.DType
	precision sinter.Precision
	most      float64 // how far a result may be from its sum, relative to that
}

// formats are all. Where a device has no units for TF32 that is f32.
var formats = []format{{"f32", sinter.F32, 0, 5e-5}, {"tf32", sinter.F32, sinter.TF32, 1e-3}, {"bf16", sinter.BF16, 0, 4e-3}, {"f16", sinter.F16, 0, 1e-3}, {name: "int8", in: sinter.I8}}

// gemms times products: squares, and those of an encoder.
func gemms(ctx context.Context, m *meter) error {
	shapes := [][3]int{{1024, 1024, 1024}, {4096, 4096, 4096}, {8192, 8192, 8192}, {32768, 384, 384}, {32768, 1536, 384}, {1, 4096, 4096}}
	if m.small {
		shapes = [][3]int{{70, 40, 50}}
	}
	for _, s := range shapes {
		for _, f := range formats {
			if err := m.time(ctx, m.gemm(s, f)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *meter) gemm(s [3]int, f format) work {
	out, inputs := product(f.in, s[0], s[1], s[2])
	return work{
		row:    row{Name: "gemm", DType: f.name, Shape: s[:], Unit: "TFLOP/s", Bound: m.bounds.flops[f.name] / 1e12},
		amount: 2 * float64(s[0]) * float64(s[1]) * float64(s[2]) / 1e12, inputs: inputs, output: out, precision: f.precision,
		check: func(ctx context.Context, inputs map[string]sinter.Tensor, out sinter.Tensor) (string, error) {
			return checkProduct(ctx, f, s, inputs, out)
		},
	}
}

// product is one of rows x k and k x cols. With I8 it is what Precision Int8 makes
// of a layer: data in U8, a weight whose columns lie one after another.
func product(d sinter.DType, rows, cols, k int) (sinter.Tensor, map[string]sinter.Tensor) {
	a, b := random(sinter.F32, rows, k), random(sinter.F32, k, cols)
	if d != sinter.I8 {
		x, w := sinter.Input("x", d, sinter.Dims(rows, k)...), sinter.Input("w", d, sinter.Dims(k, cols)...)
		return x.MatMul(w), map[string]sinter.Tensor{"x": a.Cast(d), "w": b.Cast(d)}
	}
	x, w := sinter.Input("x", sinter.U8, sinter.Dims(rows, k)...), sinter.Input("w", sinter.I8, sinter.Dims(cols, k)...)
	hundred := sinter.Scalar(100)
	return x.Cast(sinter.I32).MatMul(w.T().Cast(sinter.I32)), map[string]sinter.Tensor{"x": a.Mul(hundred).Cast(sinter.U8), "w": b.T().Mul(hundred).Cast(sinter.I8)}
}

// attentions times attention forwards, not causal: 4 T^2 d operations a head.
func attentions(ctx context.Context, m *meter) error {
	for _, tokens := range []int{m.size(2048, 20), m.size(16384, 33)} {
		for _, dt := range []sinter.DType{sinter.F32, sinter.BF16} {
			heads, width := m.size(16, 2), m.size(128, 16)
			shape := []int{1, heads, tokens, width}
			in, inputs := map[string]sinter.Tensor{}, map[string]sinter.Tensor{}
			for _, name := range []string{"q", "k", "v"} {
				in[name], inputs[name] = sinter.Input(name, dt, sinter.Dims(shape...)...), random(dt, shape...)
			}
			out, _ := sinter.Attention(in["q"], in["k"], in["v"], sinter.AttentionOptions{})
			flops := 4 * float64(tokens) * float64(tokens) * float64(width) * float64(heads)
			err := m.time(ctx, work{
				row:    row{Name: "attention", DType: dt.String(), Shape: shape, Unit: "TFLOP/s", Bound: m.bounds.flops[dt.String()] / 1e12},
				amount: flops / 1e12, inputs: inputs, output: out,
				check: func(ctx context.Context, inputs map[string]sinter.Tensor, out sinter.Tensor) (string, error) {
					return checkAttention(ctx, shape, map[sinter.DType]float64{sinter.F32: 5e-5, sinter.BF16: 1e-2}[dt], inputs, out)
				},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// batch is texts of one length, as ids.
func batch(texts, tokens int) [][]int32 {
	const words, begin, end = 20000, 101, 102
	all := make([][]int32, texts)
	for i := range all {
		all[i] = make([]int32, tokens)
		for j := range all[i] {
			all[i][j] = 1000 + int32(i*7919+j*104729)%words
		}
		all[i][0], all[i][tokens-1] = begin, end
	}
	return all
}

// precisions are what the encoder's products are computed in.
var precisions = []struct {
	name string
	p    sinter.Precision
	// least is what the cosine of an embedding to that of the processor in f32
	// may be; most, of f32, how far any of its values may be.
	least, most float64
}{{"f32", sinter.F32, 0.999999, 2e-5}, {"bf16", sinter.BF16, 0.999, 0}, {"int8", sinter.Int8, 0.98, 0}}

// encoder opens the model whose weights package minilm embeds.
func (m *meter) encoder(ctx context.Context, d *sinter.Device, p sinter.Precision) (*embed.Encoder, error) {
	return embed.New(ctx, embed.Options{Model: filepath.Join(m.root, "model", "minilm", "data"), Device: d, Precision: p})
}

// texts compares the encoder with the processor.
func texts(ctx context.Context, m *meter) error {
	c, err := sinter.Open("cpu")
	if err != nil {
		return err
	}
	defer c.Close()
	ids := append(batch(m.size(32, 1), m.size(128, 5)), batch(1, m.size(12, 4))...)
	want, err := m.vectors(ctx, c, sinter.F32, ids)
	if err != nil {
		return err
	}
	for _, p := range precisions[:m.size(len(precisions), 1)] {
		r := row{Name: "texts", DType: p.name, Shape: []int{len(ids), len(ids[0])}, Unit: "cosine"}
		got, err := m.vectors(ctx, m.device, p.p, ids)
		if err != nil {
			r.Wrong = err.Error()
		} else {
			far := 0.0
			r.Rate = 1
			for i := range got {
				r.Rate = min(r.Rate, float64(embed.Cosine(got[i], want[i])))
				for j := range got[i] {
					far = max(far, float64(max(got[i][j]-want[i][j], want[i][j]-got[i][j])))
				}
			}
			r.Note = fmt.Sprintf("%.2g apart", far)
			if !(r.Rate >= p.least) || p.most > 0 && !(far <= p.most) {
				r.Wrong = fmt.Sprintf("cosine %.6f, %.2g apart", r.Rate, far)
			}
		}
		if err := m.print(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) vectors(ctx context.Context, d *sinter.Device, p sinter.Precision, ids [][]int32) (_ [][]float32, err error) {
	e, err := m.encoder(ctx, d, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return e.EncodeIDs(ctx, ids)
}

// encoders times the encoder.
func encoders(ctx context.Context, m *meter) error {
	for _, shape := range [][]int{{m.size(256, 1), m.size(128, 6)}, {m.size(32, 1), m.size(128, 5)}, {1, m.size(12, 4)}} {
		for _, p := range precisions[:m.size(len(precisions), 1)] {
			r := row{Name: "all-MiniLM-L6-v2", DType: p.name, Shape: shape, Unit: "seq/s"}
			ids := batch(shape[0], shape[1])
			e, err := m.encoder(ctx, m.device, p.p)
			if err == nil {
				r.Seconds, err = m.median(ctx, func(ctx context.Context) error {
					_, err := e.EncodeIDs(ctx, ids)
					return err
				})
				err = errors.Join(err, e.Close())
			}
			if r.Rate = float64(shape[0]) / r.Seconds; err != nil {
				r.Wrong, r.Rate = err.Error(), 0
			}
			if err := m.print(r); err != nil {
				return err
			}
		}
	}
	return nil
}
