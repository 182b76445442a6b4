package sinter_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sinterml/sinter"
)

func Example() {
	x := sinter.Of([]float32{1, 2, 3, 4}, 2, 2)
	y, err := sinter.Values[float32](context.Background(), x.MatMul(x).Add(sinter.Scalar(1)))
	fmt.Println(y, err)
	// Output: [8 11 16 23] <nil>
}

// An encoder block on ragged batches: sequences of any lengths lie one after
// another, and one program serves them all.
func Example_encoderBlock() {
	const width, heads = 8, 2
	r := sinter.NewRand(sinter.Scalar(0))
	weight := func(out, in int) sinter.Tensor {
		return r.Normal(sinter.Dims(out, in)...).Mul(sinter.Scalar(0.1))
	}
	none := sinter.Tensor{}
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("sequences", 1, 64).Plus(1))
	x := sinter.Input("x", sinter.F32, sinter.Rows(offsets), sinter.N(width))

	project := func(x sinter.Tensor) sinter.Tensor {
		return sinter.Linear(x, weight(width, width), none).Reshape(-1, heads, width/heads)
	}
	a, _ := sinter.Attention(project(x), project(x), project(x), sinter.AttentionOptions{QOffsets: offsets})
	a = sinter.Linear(a.Reshape(-1, width), weight(width, width), none)
	h := sinter.LayerNorm(x.Add(a), none, none, 1e-5)
	f := sinter.Linear(h, weight(4*width, width), none).GELU()
	y := sinter.LayerNorm(h.Add(sinter.Linear(f, weight(width, 4*width), none)), none, none, 1e-5)

	p, err := sinter.Compile(sinter.Capture(y), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, ends := range [][]int32{{0, 3, 5}, {0, 7}} {
		rows := sinter.Ones(sinter.F32, sinter.N(int(ends[len(ends)-1])), sinter.N(width))
		out, err := p.Run(context.Background(), map[string]sinter.Tensor{
			"offsets": sinter.Of(ends, len(ends)), "x": rows.Mul(sinter.Iota(sinter.F32, 0, sinter.N(width)))})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out[0].DType(), out[0].Shape())
	}
	// Output:
	// f32 [5 8]
	// f32 [7 8]
}

func ExampleTensor() {
	x := sinter.Of([]float32{1, 2, 3}, 3)
	y := x.Exp().Sum()
	fmt.Println(x)
	fmt.Println(y, y.DType(), y.Shape(), y.Err())
	// Output:
	// Tensor(f32[3] bound [1 2 3])
	// Tensor(f32[] reshape) f32 [] <nil>
}

func ExampleShapeError() {
	bad := sinter.Zeros(sinter.F32, sinter.Dims(2, 3)...).MatMul(sinter.Zeros(sinter.F32, sinter.Dims(2, 3)...))
	var e *sinter.ShapeError
	if errors.As(bad.Exp().Err(), &e) {
		fmt.Println(e.Op, e.Shapes, e.Err)
	}
	// Output: MatMul [[2 3] [2 3]] shapes [2 3] and [2 3]: inner sizes 3 and 2 differ
}

func ExampleDim() {
	n := sinter.Sym("n", 0, 512)
	x := sinter.Input("x", sinter.F32, n.Plus(1), sinter.N(64))
	fmt.Println(x.Reshape(-1, 8).Shape(), x.Slice(sinter.Range{Start: 1}).Shape())
	// Output: [8*n+8 8] [n 64]
}

func ExampleDType() {
	x := sinter.Of([]float32{1.7, -300, 40000}, 3)
	i, err := sinter.Values[int8](context.Background(), x.Cast(sinter.I8))
	fmt.Println(i, err)
	// Output: [1 -128 127] <nil>
}

func ExampleFloat16() {
	h := sinter.NewFloat16(0.1)
	b := sinter.NewBFloat16(0.1)
	fmt.Println(h.Float32(), b.Float32())
	// Output: 0.099975586 0.100097656
}

func ExampleRange() {
	x := sinter.Of([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	y, err := sinter.Values[int32](context.Background(), x.Slice(sinter.Range{}, sinter.Range{Start: -2}))
	fmt.Println(y, err)
	// Output: [1 2 4 5] <nil>
}

func ExampleGraph() {
	x := sinter.Input("x", sinter.F32, sinter.N(2))
	fmt.Print(sinter.Capture(x.Mul(x).Neg()))
	// Output:
	// graph
	// leaf 0 input "x" f32[2]
	// %0 = input : f32[2]
	// %1 = mul %0 %0 : f32[2]
	// %2 = neg %1 : f32[2]
	// return %2
}

func ExampleProgram() {
	ctx := context.Background()
	x := sinter.Input("x", sinter.F32, sinter.Sym("n", 1, 100))
	p, err := sinter.Compile(sinter.Capture(x.Mean(), x.Max()), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, values := range [][]float32{{1, 2, 6}, {4}} {
		out, err := p.Run(ctx, map[string]sinter.Tensor{"x": sinter.Of(values, len(values))})
		if err != nil {
			log.Fatal(err)
		}
		mean, _ := sinter.Values[float32](ctx, out[0])
		largest, _ := sinter.Values[float32](ctx, out[1])
		fmt.Println(mean, largest)
	}
	// Output:
	// [3] [6]
	// [4] [4]
}

func ExampleVariable() {
	ctx := context.Background()
	count := sinter.NewVariable("count", sinter.Of([]int64{0}))
	step, err := sinter.Compile(sinter.Capture(count.Assign(count.Tensor().Add(sinter.Scalar(1)))), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer step.Close()
	for range 3 {
		if _, err := step.Run(ctx, nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sinter.Values[int64](ctx, count.Tensor()))
	// Output: [3] <nil>
}

func ExampleRand() {
	r := sinter.NewRand(sinter.Scalar(7))
	a, b := r.Uniform(sinter.N(3)), r.Uniform(sinter.N(3))
	again := sinter.NewRand(sinter.Scalar(7)).Uniform(sinter.N(3))
	ctx := context.Background()
	fmt.Println(sinter.Values[bool](ctx, sinter.Stack(0, a.Equal(b).All(), a.Equal(again).All())))
	// Output: [false true] <nil>
}

func ExampleDevice() {
	d, err := sinter.Open("interp")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	ctx := sinter.WithDevice(context.Background(), d)
	v, err := sinter.Values[float64](ctx, sinter.Of([]float64{2}).Sqrt())
	fmt.Println(d, v, err)
	// Output: interp [1.4142135623730951] <nil>
}

func ExampleAttentionOptions() {
	// Two sequences, of one and two rows, in one batch.
	offsets := sinter.Of([]int32{0, 1, 3}, 3)
	q := sinter.Zeros(sinter.F32, sinter.Dims(3, 1, 2)...)
	v := sinter.Of([]float32{1, 1, 2, 2, 4, 4}, 3, 1, 2)
	y, _ := sinter.Attention(q, q, v, sinter.AttentionOptions{QOffsets: offsets, Causal: true})
	fmt.Println(sinter.Values[float32](context.Background(), y))
	// Output: [1 1 2 2 3 3] <nil>
}

func ExampleConvOptions() {
	x := sinter.Of([]float32{1, 2, 3, 4}, 1, 1, 4)
	w := sinter.Of([]float32{1, -1}, 1, 1, 2)
	fmt.Println(sinter.Values[float32](context.Background(), sinter.Conv(x, w, sinter.ConvOptions{Padding: []int{1}})))
	// Output: [-1 -1 -1 -1 4] <nil>
}

func ExamplePoolOptions() {
	x := sinter.Of([]float32{1, 2, 4, 3}, 1, 1, 4)
	fmt.Println(sinter.Values[float32](context.Background(), sinter.MaxPool(x, sinter.PoolOptions{Kernel: []int{2}})))
	// Output: [2 4] <nil>
}

func ExampleCrossEntropyOptions() {
	logits := sinter.Zeros(sinter.F32, sinter.Dims(2, 4)...)
	targets := sinter.Of([]int64{3, -1}, 2)
	ignored := -1
	loss := sinter.CrossEntropy(logits, targets, sinter.CrossEntropyOptions{IgnoreIndex: &ignored})
	fmt.Println(sinter.Values[float32](context.Background(), loss))
	// Output: [1.3862944] <nil>
}

func ExampleLSTMOptions() {
	x := sinter.Zeros(sinter.F32, sinter.Dims(2, 1, 3)...)
	wx, wh := sinter.Zeros(sinter.F32, sinter.Dims(8, 3)...), sinter.Zeros(sinter.F32, sinter.Dims(8, 2)...)
	_, _, c := sinter.LSTM(x, wx, wh, sinter.LSTMOptions{C0: sinter.Ones(sinter.F32, sinter.Dims(1, 2)...)})
	fmt.Println(sinter.Values[float32](context.Background(), c)) // halved by the forget gate twice
	// Output: [0.25 0.25] <nil>
}
