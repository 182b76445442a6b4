package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// gemmShape is a product of [M, K] with a weight [K, N].
type gemmShape struct {
	m, n, k int
	set     string
}

// nineShapes are three squares, and the products of a sentence encoder for
// few and for many rows.
func nineShapes() []gemmShape {
	var all []gemmShape
	for _, n := range []int{512, 1024, 2048} {
		all = append(all, gemmShape{n, n, n, "nine"})
	}
	for _, m := range []int{1024, 4096} {
		for _, nk := range [][2]int{{384, 384}, {1536, 384}, {384, 1536}} {
			all = append(all, gemmShape{m, nk[0], nk[1], "nine"})
		}
	}
	return all
}

// drawShapes draws sizes evenly up to 4096, of every third shape prime numbers,
// and not more than a few seconds' work.
func drawShapes(count int, seed uint64) []gemmShape {
	r := rand.New(rand.NewPCG(seed, 0))
	var all []gemmShape
	for len(all) < count {
		size := func(from int) int {
			n := from + r.IntN(4096-from+1)
			for len(all)%3 == 2 && n > from && !big.NewInt(int64(n)).ProbablyPrime(0) {
				n--
			}
			return n
		}
		s := gemmShape{size(1), size(16), size(16), "drawn"}
		if s.m*s.n*s.k <= 1<<33 {
			all = append(all, s)
		}
	}
	return all
}

// givenShapes reads the shapes of --shape.
func givenShapes(texts []string) ([]gemmShape, error) {
	var all []gemmShape
	for _, text := range texts {
		s := gemmShape{set: "given"}
		var rest string
		if n, _ := fmt.Sscanf(text+" end", "%dx%dx%d %s", &s.m, &s.n, &s.k, &rest); n < 4 || rest != "end" || min(s.m, s.n, s.k) < 1 || max(s.m, s.n, s.k) > 1<<16 {
			return nil, usagef("--shape %q: use MxNxK, three numbers from 1 to 65536", text)
		}
		all = append(all, s)
	}
	return all, nil
}

func (a *app) benchGemm(ctx context.Context, b *benchRun) error {
	shapes, err := givenShapes(b.flags.shapes)
	if err != nil {
		return err
	}
	if len(shapes) == 0 {
		shapes = nineShapes()
	}
	shapes = append(shapes, drawShapes(b.flags.draw, b.flags.seed)...)
	b.left = len(shapes) * len(b.isas) * len(b.dtypes)
	var slow []error
	for _, s := range shapes {
		for _, isa := range b.isas {
			for _, dtype := range b.dtypes {
				if b.flags.assert {
					slow = append(slow, b.assertTiles(ctx, s, isa, dtype))
				} else if err := b.gemm(ctx, s, isa, dtype); err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(slow...)
}

func (b *benchRun) gemm(ctx context.Context, s gemmShape, isa, dtype string) (err error) {
	o := gemmOperands(s, dtype)
	p, err := b.compile(sinter.Capture(o.product), isa, map[string]sinter.Tensor{"x": o.input})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
	return b.measure(ctx, bench.Case{
		Name: "gemm", Set: s.set, ISA: isa, DType: dtype, Shape: []int{s.m, s.n, s.k},
		Work: flops / 1e9, Unit: "GFLOP/s", Flops: flops,
		Read: o.size * (s.m*s.k + s.k*s.n), Written: 4 * s.m * s.n,
		Run: p.once,
		Accuracy: func(ctx context.Context, threads int) (float64, error) {
			if o.product.DType() == sinter.I32 {
				y, err := results[int32](ctx, p, threads)
				return gemmError(s, o.x, o.w, y), err
			}
			y, err := results[float32](ctx, p, threads)
			return gemmError(s, o.x, o.w, y), err
		},
	})
}

// operands are a product's in a number format, and their values.
type operands struct {
	product, input sinter.Tensor
	size           int // bytes of an element
	x, w           []float32
}

// gemmOperands makes a product of f32, one of bf16 summed in f32, or, for int8,
// one of u8 and s8 summed in s32.
func gemmOperands(s gemmShape, dtype string) operands {
	o := operands{x: uniform(s.m * s.k), w: uniform(s.k * s.n)}
	sums, in, weight := sinter.F32, sinter.F32, sinter.F32
	var data []byte
	switch dtype {
	case "bf16":
		in, weight = sinter.BF16, sinter.BF16
		x := make([]sinter.BFloat16, len(o.x))
		for i, v := range o.x {
			x[i] = sinter.NewBFloat16(v)
			o.x[i] = x[i].Float32()
		}
		for i, v := range o.w {
			short := sinter.NewBFloat16(v)
			o.w[i] = short.Float32()
			data = binary.LittleEndian.AppendUint16(data, uint16(short))
		}
		o.input = sinter.Of(x, s.m, s.k)
	case "int8":
		sums, in, weight = sinter.I32, sinter.U8, sinter.I8
		x := make([]uint8, len(o.x))
		for i, v := range o.x {
			x[i] = uint8(127.5 + 127.5*v)
			o.x[i] = float32(x[i])
		}
		o.w = bellShaped(s.k, s.n)
		for _, v := range o.w {
			data = append(data, byte(int8(v)))
		}
		o.input = sinter.Of(x, s.m, s.k)
	default:
		for _, v := range o.w {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		o.input = sinter.Of(o.x, s.m, s.k)
	}
	o.size = len(data) / max(1, len(o.w))
	x, w := sinter.Input("x", in, sinter.Dims(s.m, s.k)...), sinter.Weight("w", weight, data, s.k, s.n)
	o.product = x.Cast(sums).MatMul(w.Cast(sums))
	return o
}

// bellShaped is weights as models have them when each column is quantised to bytes: normal
// numbers, of which the largest is 127 or -127.
func bellShaped(k, n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	w, most := make([]float32, k*n), make([]float64, n)
	for i := range w {
		v := r.NormFloat64()
		w[i], most[i%n] = float32(v), max(most[i%n], math.Abs(v))
	}
	for i, v := range w {
		w[i] = float32(math.RoundToEven(127 * float64(v) / most[i%n]))
	}
	return w
}

// gemmError is the largest error of an element of some rows, by the sum of the
// magnitudes of the terms: at most about K*2^-24 for any order of summation, and
// 0 for integers.
func gemmError[T float32 | int32](s gemmShape, x, w []float32, y []T) float64 {
	if len(y) != s.m*s.n {
		return math.NaN()
	}
	worst := 0.0
	sum, size := make([]float64, s.n), make([]float64, s.n)
	for row := 0; row < s.m; row += max(1, s.m/8) {
		clear(sum)
		clear(size)
		for k := range s.k {
			f := float64(x[row*s.k+k])
			for j, v := range w[k*s.n : (k+1)*s.n] {
				t := f * float64(v)
				sum[j] += t
				size[j] += math.Abs(t)
			}
		}
		for j, v := range y[row*s.n : (row+1)*s.n] {
			if e := math.Abs(float64(v) - sum[j]); e != 0 {
				worst = max(worst, e/size[j]) // NaN stays
			}
		}
	}
	return worst
}
