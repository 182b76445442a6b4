package sinter

import (
	"context"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/ir"
)

// builder makes a random graph from bytes: each operation takes its operands
// and arguments from the next ones, also such that do not fit.
type builder struct {
	data  []byte
	stack []Tensor
}

func (b *builder) byte() int {
	if len(b.data) == 0 {
		return 0
	}
	n := b.data[0]
	b.data = b.data[1:]
	return int(n)
}

// small is mostly within -3 to 8, sometimes far out.
func (b *builder) small() int {
	switch n := b.byte(); {
	case n < 240:
		return n%12 - 3
	case n < 250:
		return n
	default:
		return []int{1 << 62, -1 << 62, 1 << 31, 1 << 47, 1 << 40, 1 << 24}[n-250]
	}
}

func (b *builder) smalls() []int {
	v := make([]int, b.byte()%5)
	for i := range v {
		v[i] = b.small()
	}
	return v
}

func (b *builder) dims() []Dim {
	v := Dims(b.smalls()...)
	for i := range v {
		if b.byte()%6 == 0 {
			v[i] = Sym([]string{"n", "m", "", "off.rows"}[b.byte()%4], b.small(), b.small()).Plus(b.small())
		}
	}
	return v
}

func (b *builder) dtype() DType { return DType(b.byte() % 16) }

// take is a tensor made before; sometimes none at all.
func (b *builder) take() Tensor {
	if n := b.byte(); len(b.stack) > 0 && n != 255 {
		return b.stack[n%len(b.stack)]
	}
	return Tensor{}
}

func (b *builder) leaf() Tensor {
	switch b.byte() % 8 {
	case 0:
		return Scalar(float64(b.small()) / 2)
	case 1:
		return Input([]string{"x", "off", ""}[b.byte()%3], b.dtype(), b.dims()...)
	case 2:
		return Of([]int32{0, 2, 3}, 3)
	case 3:
		return Of([]int64{int64(b.small()), int64(b.small())}, b.smalls()...)
	case 4:
		return Full(b.dtype(), float64(b.small()), b.dims()...)
	case 5:
		return Weight("w", b.dtype(), make([]byte, 4*(b.byte()%7)), b.smalls()...)
	case 6:
		return NewVariable("v", b.take()).Tensor()
	}
	return Of([]float32{1, -2, 3, 4, 5, 6}, 2, 3)
}

var fuzzUnary = []func(Tensor) Tensor{
	Tensor.Neg, Tensor.Abs, Tensor.Sqrt, Tensor.Rsqrt, Tensor.Exp, Tensor.Log, Tensor.Sinh, Tensor.Cosh, Tensor.Ceil, Tensor.Sign,
	Tensor.ReLU, Tensor.Sigmoid, Tensor.Softplus, Tensor.GELU, Tensor.GELUTanh, Tensor.Mish, Tensor.HardSwish, Tensor.Not,
	Tensor.IsNaN, Tensor.IsInf, Tensor.T, Tensor.Detach, Tensor.Round, Tensor.LogSigmoid,
}

var fuzzBinary = []func(x, y Tensor) Tensor{
	Tensor.Add, Tensor.Sub, Tensor.Mul, Tensor.Div, Tensor.FloorDiv, Tensor.Mod, Tensor.Pow, Tensor.Minimum, Tensor.Maximum,
	Tensor.And, Tensor.Xor, Tensor.Shl, Tensor.Shr, Tensor.Less, Tensor.LessEqual, Tensor.Equal, Tensor.MatMul, Tensor.Outer,
	MSE, L1, BCEWithLogits, SegmentSum, SegmentMean, SegmentMax,
}

var fuzzAxis = []func(x Tensor, axis int) Tensor{
	Tensor.Softmax, Tensor.LogSoftmax, Tensor.ArgMax, Tensor.CumSum, Tensor.CumMax, Tensor.Unsqueeze, Tensor.Tril, Tensor.Triu, OneHot,
	func(x Tensor, axis int) Tensor { v, i := x.Sort(axis, true); return Stack(0, v, i.Cast(v.DType())) },
	func(x Tensor, axis int) Tensor { v, _ := x.TopK(axis, axis); return v },
}

var fuzzAxes = []func(x Tensor, axes ...int) Tensor{
	Tensor.Sum, Tensor.SumKeep, Tensor.Mean, Tensor.Max, Tensor.Prod, Tensor.LogSumExp, Tensor.Any, Tensor.All, Tensor.Squeeze,
	Tensor.Permute, Tensor.Flip, Tensor.Reshape, Tensor.Expand, Upsample,
	func(x Tensor, axes ...int) Tensor { return x.Var(len(axes), axes...) },
	func(x Tensor, axes ...int) Tensor { return MaxPool(x, PoolOptions{Kernel: axes, Padding: []int{1}}) },
	func(x Tensor, axes ...int) Tensor { return AvgPool(x, PoolOptions{Kernel: []int{2}, Stride: axes}) },
}

// step makes one more tensor.
func (b *builder) step() Tensor {
	x := b.take()
	switch b.byte() % 24 {
	case 0, 1, 2:
		return b.leaf()
	case 3:
		return fuzzUnary[b.byte()%len(fuzzUnary)](x)
	case 4, 5:
		return fuzzBinary[b.byte()%len(fuzzBinary)](x, b.take())
	case 6:
		return fuzzAxis[b.byte()%len(fuzzAxis)](x, b.small())
	case 7:
		return fuzzAxes[b.byte()%len(fuzzAxes)](x, b.smalls()...)
	case 8:
		return Where(x, b.take(), b.take())
	case 9:
		return x.Slice(Range{b.small(), b.small(), b.small()}, Range{b.small(), b.small(), b.small()})
	case 10:
		return x.Narrow(b.small(), N(b.small()), N(b.small())).Roll(b.small(), b.small())
	case 11:
		return x.Pad(b.smalls(), b.smalls(), float64(b.small())/2)
	case 12:
		return Concat(b.small(), x, b.take(), b.take())
	case 13:
		return Stack(b.small(), x, b.take())
	case 14:
		return x.Take(b.take(), b.small()).TakeAlong(b.take(), b.small())
	case 15:
		return ScatterAdd(Gather(x, b.small(), b.take()), b.small(), b.take(), b.take())
	case 16:
		o := ConvOptions{Stride: b.smalls(), Dilation: b.smalls(), Padding: b.smalls(), Groups: b.small(), Bias: b.take()}
		if b.byte()%2 == 0 {
			return Conv(x, b.take(), o)
		}
		return ConvTranspose(x, b.take(), o)
	case 17:
		y, _ := Attention(x, b.take(), b.take(), AttentionOptions{QOffsets: b.take(), KOffsets: b.take(), Mask: b.take(),
			Causal: b.byte()%2 == 0, Window: b.small(), SoftCap: float64(b.small()), Scale: float64(b.small())})
		return y
	case 18:
		return Positions(x, b.dims()...)
	case 19:
		return Einsum([]string{"ij,jk->ik", "ii->i", "i,i", "abc,cd", "->", "ij->ji,"}[b.byte()%6], x, b.take())
	case 20:
		return LayerNorm(GroupNorm(x, b.small(), b.take(), b.take(), 1e-5), b.take(), b.take(), 1e-5)
	case 21:
		return CrossEntropy(x, b.take(), CrossEntropyOptions{LabelSmoothing: 0.1, IgnoreIndex: new(b.small()), Weights: b.take()})
	case 22:
		ys, _, _ := LSTM(x, b.take(), b.take(), LSTMOptions{InputBias: b.take()})
		return ys
	}
	r := NewRand(b.take())
	return Concat(0, r.Normal(b.dims()...), r.Dropout(x, float64(b.small())/4), x.Cast(b.dtype()), x.ReshapeDims(b.dims()...))
}

// FuzzBuild makes sure that no use of the library panics: what does not fit is
// an error. Small graphs that are sound are computed.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{0, 1, 7, 0, 3, 1, 0, 4, 0, 0, 1, 7, 2, 1, 0})
	f.Add([]byte("tensors are made of bytes, and of operations"))
	// The first evaluation opens the best device: drivers can take longer to
	// load than an input may take to run.
	if _, err := Eval(context.Background(), Full(F32, 1)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &builder{data: data}
		for len(b.data) > 0 && len(b.stack) < 40 {
			b.stack = append(b.stack, b.step())
		}
		for _, x := range b.stack {
			checkSound(t, x)
		}
	})
}

func checkSound(t *testing.T, x Tensor) {
	if x.Err() != nil {
		return
	}
	if x.String() == "" || !x.DType().Valid() {
		t.Fatalf("%v has no dtype", x)
	}
	g := Capture(x)
	if g.Err() != nil {
		return // one name for two inputs
	}
	work := 0
	for _, n := range g.graph.Nodes {
		_, hi := n.Shape.Numel().Bounds()
		work += int(min(hi, 1<<20))
		if n.Op == ir.MatMul || n.Op == ir.Conv || n.Op == ir.Attention {
			for _, in := range n.In {
				_, wide := in.Shape.Numel().Bounds()
				work += int(min(wide, 1<<20) * min(hi, 1<<20))
			}
		}
	}
	if work > 1<<14 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	Eval(ctx, x) // may fail, as on an Input
}
