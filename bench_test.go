package sinter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// What a call costs beside the work: tracing, hashing and binding.
func BenchmarkOverhead(b *testing.B) {
	for _, name := range []string{"interp", "cpu"} {
		d := open(b, name)
		ctx := WithDevice(context.Background(), d)
		b.Run(name+"/Values", func(b *testing.B) {
			x := Of([]float32{1, 2, 3, 4}, 4)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Values[float32](ctx, x.Mul(x).Add(x).Sum()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/Run", func(b *testing.B) {
			x := Input("x", F32, Sym("n", 1, 64))
			p := compileOn(b, d, x.Mul(x).Add(x).Sum())
			in := inputs{"x": Of([]float32{1, 2, 3, 4}, 4)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOperators times operators that are loops or steps of the host on the
// cpu, no products: sorting, windows over padded images, gradients, and random
// numbers; convolutions in groups; and types of 8 bytes.
func BenchmarkOperators(b *testing.B) {
	numbers := func(shape ...int) Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		data := make([]float32, n)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range data {
			data[i] = rng.Float32()
		}
		return Of(data, shape...)
	}
	d := open(b, "cpu")
	x := Input("x", F32, N(8), N(32), N(32), N(32))
	rows := Input("x", F32, N(512), N(100))
	image := inputs{"x": numbers(8, 32, 32, 32)}
	best, _ := rows.TopK(10, 1)
	halves := x.Split(3, 16, 16)
	kernel := NewVariable("kernel", numbers(32, 8, 3, 3)).Tensor()
	grouped := Conv(x, kernel, ConvOptions{Padding: []int{1, 1}, Groups: 4})
	back := VJP([]Tensor{grouped}, []Tensor{x}, x, kernel)
	scale := NewVariable("scale", numbers(32, 1, 1)).Tensor()
	whole := NewVariable("whole", numbers(32, 32, 3, 3)).Tensor()
	colours, alone := NewVariable("colours", numbers(32, 3, 3, 3)).Tensor(), NewVariable("alone", numbers(64, 256, 1, 1)).Tensor()
	random := NewRand(Input("seed", I64))
	// Two layers with a dropout between them, 2048 rows: what a transformer has in each block.
	up, down := NewVariable("up", numbers(512, 128)).Tensor(), NewVariable("down", numbers(128, 512)).Tensor()
	dropped := random.Dropout(Linear(x.Reshape(2048, 128), up, Tensor{}).GELU(), 0.1)
	layers := Grad(Linear(dropped, down, Tensor{}).Square().Mean(), up)[0]
	apart := NewVariable("apart", numbers(32, 1, 3, 3)).Tensor() // a channel each
	strided := Conv(x, whole, ConvOptions{Padding: []int{1, 1}, Stride: []int{2, 2}})
	places := make([]int32, 1024*256)
	for i := range places {
		places[i] = int32(i * 7919 % 1024)
	}
	ids, lines := Of(places, 1024, 256), x.Reshape(1024, 256)
	gates, hidden := NewVariable("gates", numbers(512, 64)).Tensor(), NewVariable("hidden", numbers(512, 128)).Tensor()
	steps := Input("x", F32, N(64), N(16), N(64))
	outputs, _, _ := LSTM(steps, gates, hidden, LSTMOptions{})
	given := Input("hidden", F32, N(512), N(128)) // in training too it is another one in each run
	trained, _, _ := LSTM(steps, gates, given, LSTMOptions{})
	seed, step := inputs{"seed": Of([]int64{7})}, inputs{"seed": Of([]int64{7}), "x": numbers(8, 32, 32, 32)}
	for _, c := range []struct {
		name string
		y    Tensor
		in   inputs
	}{
		{"uniform", random.Uniform(Dims(8, 32, 32, 32)...), seed},
		{"normal", random.Normal(Dims(8, 32, 32, 32)...), seed},
		{"dropout", random.Dropout(x, 0.1), step},
		{"gradient of dropout", Grad(random.Dropout(x, 0.1).Square().Sum(), x)[0], step},
		{"layers with dropout", layers, step},
		{"topk", best, inputs{"x": numbers(512, 100)}},
		{"depthwise", Conv(x, numbers(32, 1, 3, 3), ConvOptions{Padding: []int{1, 1}, Groups: 32}), image},
		{"grouped", grouped, image},
		{"grouped dx", back[0], image},
		{"grouped dw", back[1], image},
		{"convolution", Conv(Input("x", F32, N(8), N(32), N(64), N(64)), whole, ConvOptions{Padding: []int{1, 1}}), inputs{"x": numbers(8, 32, 64, 64)}},
		{"convolution of colours", Conv(Input("x", F32, N(8), N(3), N(64), N(64)), colours, ConvOptions{Padding: []int{1, 1}}), inputs{"x": numbers(8, 3, 64, 64)}},
		{"convolution of places", Conv(Input("x", F32, N(8), N(256), N(28), N(28)), alone, ConvOptions{}), inputs{"x": numbers(8, 256, 28, 28)}},
		{"convolution dw", VJP([]Tensor{Conv(x, whole, ConvOptions{Padding: []int{1, 1}})}, []Tensor{x}, whole)[0], image},
		{"convolution dw in groups of one", VJP([]Tensor{Conv(x, apart, ConvOptions{Padding: []int{1, 1}, Groups: 32})}, []Tensor{x}, apart)[0], image},
		{"convolution dx with strides", Grad(strided.Square().Sum(), x)[0], image},
		{"transposed convolution", ConvTranspose(x, whole.Slice(Range{}, Range{}, Range{Stop: 2}, Range{Stop: 2}), ConvOptions{Stride: []int{2, 2}}), image},
		{"row by a variable", Linear(Input("x", F32, N(1), N(768)), NewVariable("w", numbers(3072, 768)).Tensor(), Tensor{}), inputs{"x": numbers(1, 768)}},
		{"flip", x.Flip(3), image},
		{"larger of bf16", x.Cast(BF16).Maximum(x.Flip(0).Cast(BF16)), image},
		{"pad of a length", Input("x", F32, N(512), Sym("n", 1, 4096)).Pad([]int{0, 2}, []int{0, 3}, 0), inputs{"x": numbers(512, 1000)}},
		{"scatter", ScatterAdd(lines, 0, ids, lines), image},
		{"exp of f64", x.Cast(F64).Exp(), image},
		{"softmax of f64", rows.Cast(F64).Softmax(1), inputs{"x": numbers(512, 100)}},
		{"i64 modulo", x.Mul(Scalar(1000)).Cast(I64).Mod(Of([]int64{97})), image},
		{"tile", rows.Tile(1, 3), inputs{"x": numbers(512, 100)}},
		{"pad", x.Pad([]int{0, 0, 1, 1}, []int{0, 0, 1, 1}, 0), image},
		{"channels last", x.Permute(0, 2, 3, 1), image},
		{"transposition", Input("x", F32, N(1024), N(1024)).Permute(1, 0), inputs{"x": numbers(1024, 1024)}},
		{"join", Concat(0, rows, rows), inputs{"x": numbers(512, 100)}},
		{"stack", Stack(2, rows, rows), inputs{"x": numbers(512, 100)}},
		{"every second", x.Slice(Range{}, Range{}, Range{}, Range{Step: 2}).Square(), image},
		{"maxpool", MaxPool(x, PoolOptions{Kernel: []int{2, 2}}), image},
		{"avgpool", AvgPool(x, PoolOptions{Kernel: []int{3, 3}, Stride: []int{2, 2}, Padding: []int{1, 1}}), image},
		{"rotate halves", Concat(3, halves[1].Neg(), halves[0]).Mul(x), image},
		{"gradient of groupnorm", VJP([]Tensor{GroupNorm(x, 4, Tensor{}, Tensor{}, 1e-5).Mul(scale)}, []Tensor{x}, x)[0], image},
		{"gradient of max", Grad(rows.Max(1).Sum(), rows)[0], inputs{"x": numbers(512, 100)}},
		{"gradient of maxpool", Grad(MaxPool(x, PoolOptions{Kernel: []int{2, 2}}).Sum(), x)[0], image},
		{"gradient of maxpool that overlaps", Grad(MaxPool(x, PoolOptions{Kernel: []int{3, 3}, Stride: []int{2, 2}, Padding: []int{1, 1}}).Sum(), x)[0], image},
		{"gradient of lstm", Grad(outputs.Square().Sum(), hidden)[0], inputs{"x": numbers(64, 16, 64)}},
		{"gradient of lstm in training", Grad(trained.Square().Sum(), given)[0], inputs{"x": numbers(64, 16, 64), "hidden": numbers(512, 128)}},
		{"gradient of cummax", Grad(rows.CumMax(1).Sum(), rows)[0], inputs{"x": numbers(512, 100)}},
		{"gradient of cumprod", Grad(rows.CumProd(1).Sum(), rows)[0], inputs{"x": numbers(512, 100)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := compileOn(b, d, c.y)
			for b.Loop() {
				if _, err := p.Run(context.Background(), c.in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile compiles what grows with the number of its parts: the gradient
// of an LSTM over many steps, and a concatenation of as many lengths.
func BenchmarkCompile(b *testing.B) {
	d := open(b, "cpu")
	number := func(shape ...int) Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return NewVariable("w", Of(make([]float32, n), shape...)).Tensor()
	}
	compiled := func(b *testing.B, y Tensor) {
		for i := 0; b.Loop(); i++ { // another program each time
			p, err := Compile(Capture(y.Mul(Scalar(1/float64(3+i)))), Options{Device: d})
			if err != nil {
				b.Fatal(err)
			}
			_ = p.Close()
		}
	}
	for _, n := range []int{50, 100, 200} {
		w := number(64, 16)
		ys, _, _ := LSTM(Input("x", F32, N(n), N(4), N(32)), number(64, 32), w, LSTMOptions{})
		b.Run(fmt.Sprintf("LSTM/%d", n), func(b *testing.B) { compiled(b, Grad(ys.Square().Sum(), w)[0]) })
		var parts []Tensor
		for i := range n {
			parts = append(parts, Input(fmt.Sprint("x", i), F32, Sym(fmt.Sprint("n", i), 1, 100), N(8)))
		}
		b.Run(fmt.Sprintf("concatenation/%d", n), func(b *testing.B) { compiled(b, Concat(0, parts...)) })
	}
}
