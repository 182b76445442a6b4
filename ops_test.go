package sinter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// shapeOf fails unless x has this shape.
func shapeOf(t *testing.T, x Tensor, want string) {
	t.Helper()
	if err := x.Err(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(x.Shape()); got != want {
		t.Fatalf("shape %v, want %v", got, want)
	}
}

func arange(n int, shape ...int) Tensor {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return Of(v, shape...)
}

func TestSymbolicShapes(t *testing.T) {
	n, m := Sym("n", 1, 64), Sym("m", 1, 64)
	x := Input("x", F32, n, m, N(6))
	shapeOf(t, x.Reshape(-1, 6), "[m*n 6]")
	shapeOf(t, x.Reshape(-1, 3, 2).Permute(2, 0, 1), "[2 m*n 3]")
	shapeOf(t, x.Flatten(0, 1), "[m*n 6]")
	shapeOf(t, x.Sum(1), "[n 6]")
	shapeOf(t, x.Mean(), "[]")
	shapeOf(t, x.Softmax(1).LogSumExp(0, 2), "[m]")
	shapeOf(t, Concat(0, x, x), "[2*n m 6]")
	shapeOf(t, x.MatMul(Zeros(F32, Dims(6, 4)...)), "[n m 4]")
	shapeOf(t, x.Slice(Range{Stop: -1}, Range{Start: -1}, Range{1, -1, 2}), "[n-1 1 2]")
	shapeOf(t, x.Roll(1, 0), "[n m 6]")
	shapeOf(t, x.Pad([]int{1, 0, 0}, []int{0, 2, 0}, 0), "[n+1 m+2 6]")
	shapeOf(t, x.Add(Zeros(F32, m, N(1))), "[n m 6]")
	shapeOf(t, Einsum("abc,adc->abd", x, x), "[n m m]")
	shapeOf(t, x.Tril(0).Cast(F16).Var(0, -1), "[n m]")
	for name, bad := range map[string]Tensor{
		"sizes m and n": x.Add(Zeros(F32, n, N(6))),
		"elements":      x.Reshape(4, -1),
		"reach":         x.Narrow(0, N(0), N(2)),
		"symbolic size": x.Slice(Range{Step: 2}),
	} {
		if err := bad.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

func TestMovement(t *testing.T) {
	x := arange(6, 2, 3)
	want[float32](t, x.Slice(Range{}, Range{Start: 1}), 1, 2, 4, 5)
	want[float32](t, x.Slice(Range{Start: -1}, Range{Step: 2}), 3, 5)
	want[float32](t, x.Slice(Range{1, 1, 1}))
	want[float32](t, x.Index(1, -1), 2, 5)
	want[float32](t, x.Roll(-1, 1), 1, 2, 0, 4, 5, 3)
	want[float32](t, x.Roll(7, -1), 2, 0, 1, 5, 3, 4)
	want[float32](t, x.Tile(0, 2).Index(1, 0), 0, 3, 0, 3)
	want[float32](t, x.Repeat(1, 2).Index(0, 0), 0, 0, 1, 1, 2, 2)
	want[float32](t, x.T().Flatten(0, 1), 0, 3, 1, 4, 2, 5)
	want[float32](t, x.Flip(1), 2, 1, 0, 5, 4, 3)
	want[float32](t, x.Tril(-1), 0, 0, 0, 3, 0, 0)
	want[float32](t, x.Triu(1), 0, 1, 2, 0, 0, 5)
	want[float32](t, x.Tril(math.MaxInt), 0, 1, 2, 3, 4, 5)
	want[float32](t, x.Triu(math.MaxInt), 0, 0, 0, 0, 0, 0)
	want[float32](t, x.Slice(Range{}, Range{Step: math.MaxInt}), 0, 3)
	want[float32](t, x.Pad([]int{0, 1}, []int{0, 0}, 9), 9, 0, 1, 2, 9, 3, 4, 5)
	want[float32](t, Stack(-1, x.Index(0, 0), x.Index(0, 1)), 0, 3, 1, 4, 2, 5)
	want[float32](t, Concat(0, x.Squeeze(), x.Unsqueeze(0).Squeeze(0)).Index(1, 0), 0, 3, 0, 3)
	want[float32](t, x.Index(0, 0).Expand(2, -1), 0, 1, 2, 0, 1, 2)
	for _, part := range x.Split(1, 1, 1) {
		if part.Err() == nil {
			t.Error("sizes that do not add up")
		}
	}
	for i, bad := range []Tensor{
		x.Slice(Range{Start: 3}), x.Slice(Range{Stop: 4}), x.Slice(Range{Step: -1}), x.Reshape(-1, -1), x.Reshape(-1, 0), x.Permute(0, 0),
		x.Expand(3, 3), x.BroadcastTo(N(3)), x.Squeeze(0), x.Unsqueeze(4), x.Flatten(1, 0), x.Sum(0, 0), x.Index(0, 2), x.Transpose(0, 2),
	} {
		if bad.Err() == nil {
			t.Errorf("case %d fits", i)
		}
	}
}

func TestIndexing(t *testing.T) {
	x := arange(6, 2, 3)
	ids := Of([]int64{1, 0, 1}, 3)
	want[float32](t, x.Take(ids, 0), 3, 4, 5, 0, 1, 2, 3, 4, 5)
	want[float32](t, x.Take(Of([]int32{2}), 1), 2, 5)
	// PyTorch's gather: an index smaller than x beside the axis.
	want[float32](t, Gather(x, 1, Of([]int64{2, 0}, 1, 2)), 2, 0)
	// numpy's take_along_axis: the other axes broadcast.
	want[float32](t, x.TakeAlong(Of([]int64{2, 0}, 1, 2), 1), 2, 0, 5, 3)
	want[float32](t, Scatter(x, 1, Of([]int64{2, 2}, 1, 2), Of([]float32{7, 8}, 1, 2)), 0, 1, 8, 3, 4, 5)
	want[float32](t, ScatterAdd(x, 0, Of([]int64{1, 1}, 2, 1), Scalar(10)), 0, 1, 2, 23, 4, 5)
	want[float32](t, IndexAdd(x, 1, Of([]int64{0}, 1), Of([]float32{1, 2}, 2, 1)), 1, 1, 2, 5, 4, 5)
	want[int64](t, OneHot(Of([]int64{2, 0}, 2), 3), 0, 0, 1, 1, 0, 0)
	want[uint8](t, OneHot(Of([]uint8{255}, 1), 256).Slice(Range{}, Range{Start: 254}), 0, 1)
	if OneHot(Of([]uint8{0}, 1), 257).Err() == nil {
		t.Error("class 256 would be class 0 as u8")
	}
	values, indices := Of([]float32{2, float32(math.NaN()), 3, 2}, 4).Sort(0, false)
	want[float32](t, values, 2, 2, 3, float32(math.NaN()))
	want[int64](t, indices, 0, 3, 2, 1)
	_, top := Of([]float32{2, 5, 5, 1}, 4).TopK(2, 0)
	want[int64](t, top, 1, 2)
	for _, index := range []int64{-1, 3} {
		var e *IndexError
		_, err := Values[float32](context.Background(), x.Take(Of([]int64{0, index}, 2), 1))
		if !errors.As(err, &e) || e.Index != index || e.Size != 3 {
			t.Errorf("index %d: %v", index, err)
		}
	}
}

// An axis of size 1 has one index that is right.
func TestIndexOfSizeOne(t *testing.T) {
	one := Of([]float32{1, 2}, 1, 2)
	for name, x := range map[string]Tensor{
		"take":    one.Take(Of([]int32{0, 5}, 2), 0),
		"gather":  Gather(one, 0, Of([]int32{0, 5}, 1, 2)),
		"scatter": Scatter(Of([]float32{1}, 1), 0, Of([]int32{5}, 1), Of([]float32{5}, 1)),
		"add":     ScatterAdd(Of([]float32{1}, 1), 0, Of([]int32{5}, 1), Of([]float32{5}, 1)),
		"along":   Of([]float32{1}, 1, 1).TakeAlong(Of([]int32{0, 5}, 1, 2), 0),
		"wide":    Of([]float32{1, 2}, 1, 2).Sum(1).Unsqueeze(1).TakeAlong(Of([]int64{0, 0, 5, 0}, 2, 2), 0),
	} {
		var e *IndexError
		if v, err := Values[float32](context.Background(), x); !errors.As(err, &e) || e.Index != 5 || e.Size != 1 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	want[float32](t, one.Take(Of([]int32{0, 0}, 2), 0), 1, 2, 1, 2)
}

func TestSpecialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := Of([]float32{-inf, -1000, 0, 1000, inf, nan}, 6)
	want[float32](t, x.Sigmoid(), 0, 0, 0.5, 1, 1, nan)
	want[float32](t, x.Softplus(), 0, 0, 0.6931472, 1000, inf, nan)
	want[float32](t, x.Sinh(), -inf, -inf, 0, inf, inf, nan)
	want[float32](t, x.ELU(1), -1, -1, 0, 1000, inf, nan)
	want[float32](t, x.Clamp(-2, 2), -2, -2, 0, 2, 2, nan)
	want[float32](t, x.LeakyReLU(0.5), -inf, -500, 0, 1000, inf, nan)
	want[float32](t, Of([]float32{89}, 1).Cosh().Sub(Of([]float32{89}, 1).Sinh()), 0) // e^89 overflows
	empty := Of([]float32{-inf, -inf}, 2)
	want[float32](t, empty.LogSumExp(), -inf)
	want[float32](t, Of([]float32{inf, 0}, 2).LogSumExp(), inf)
	want[float32](t, Of([]float32{1e30, 1e30}, 2).LogSoftmax(0), -0.6931472, -0.6931472)
	want[float32](t, Of([]float32{1000, 1000}, 2).Softmax(0), 0.5, 0.5)
	want[bool](t, x.LessEqual(x), true, true, true, true, true, false)
	want[bool](t, x.NotEqual(x), false, false, false, false, false, true)
	want[bool](t, x.IsFinite(), false, true, true, true, false, false)
	want[bool](t, Of([]int8{1, 2}, 2).GreaterEqual(Scalar(2)), false, true)
	want[uint8](t, Of([]uint8{5}).Not(), 250)
	want[bool](t, Of([]bool{true, false}, 2).Not(), false, true)
	want[float32](t, Of([]float32{-7, 7}, 2).FloorDiv(Scalar(2)), -4, 3)
	want[float32](t, Of([]float32{-7, 7}, 2).Mod(Scalar(2)), 1, 1)
	want(t, Of([]float32{-7, 7, 0}, 3).Mod(Scalar(math.Inf(1))), float32(math.Inf(1)), 7, 0)
	want[Float16](t, Of([]Float16{NewFloat16(2049)}).Sub(Scalar(1)).Mean(), NewFloat16(2047))
}

// The quotient of these rounds up to 33, and 33*y is above x.
func TestModHasTheSignOfTheDivisor(t *testing.T) {
	x, y := float32(9.853788), float32(0.29859966)
	for _, noOpt := range [][]string{nil, {"all"}} {
		for _, device := range []string{"interp", "cpu"} {
			g := Capture(Of([]float32{x, -x, x, -x, 5, -5, 6}, 7).Mod(Of([]float32{y, y, -y, -y, 3, 3, -3}, 7)))
			p, err := Compile(g, Options{Device: open(t, device), NoOpt: noOpt})
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Values[float32](context.Background(), out[0])
			if err != nil {
				t.Fatal(err)
			}
			if v[0] < 0 || v[1] < 0 || v[2] > 0 || v[3] > 0 || v[4] != 2 || v[5] != 1 || v[6] != 0 {
				t.Errorf("%s without %v: %v", device, noOpt, v)
			}
		}
	}
}

func TestHalfTypesReduceInF32(t *testing.T) {
	n := 4096
	x := make([]Float16, n)
	for i := range x {
		x[i] = NewFloat16(40) // their sum is beyond f16
	}
	want(t, Of(x, n).Mean(), NewFloat16(40))
	want(t, Of(x, n).Softmax(0).Index(0, 0), NewFloat16(1.0/4096))
	// The square of one difference of eight is beyond f16, the mean is not.
	far := Where(Iota(I32, 0, N(8)).Equal(Scalar(3)), Full(F16, 400, N(8)), Zeros(F16, N(8)))
	want(t, MSE(far, Zeros(F16, N(8))), NewFloat16(20000))
	want(t, Huber(far, Zeros(F16, N(8)), 500), NewFloat16(10000))
}

// The variance that lies between is beyond f16, above or below.
func TestHalfTypesHaveDeviationsInF32(t *testing.T) {
	x := Of([]float32{0, 600, 0, 600}, 4).Cast(F16)
	want(t, x.Std(0), NewFloat16(300))
	want(t, x.Mul(Scalar(0x1p-22)).StdKeep(0, 0), NewFloat16(300*0x1p-22))
	y, mean, _ := BatchNormTrain(x.Unsqueeze(1), Tensor{}, Tensor{}, 1e-5)
	want(t, y, NewFloat16(-1), NewFloat16(1), NewFloat16(-1), NewFloat16(1))
	want(t, mean, NewFloat16(300))
}

// Neither the numbers of a range's elements nor its step need fit its dtype.
func TestArange(t *testing.T) {
	n := 100_000
	want(t, Arange(F16, 0, 1, 1e-5).Index(0, n-1), NewFloat16(0.99999))
	want(t, Arange(BF16, 0, 512, 0.5).Index(0, 2*130+1), NewBFloat16(130.5))
	want(t, Arange(F16, -3000, 3000, 1).Narrow(0, N(2999), N(3)), NewFloat16(-1), NewFloat16(0), NewFloat16(1))
	want[uint8](t, Arange(U8, 3, 0, -1), 3, 2, 1)
	want[uint64](t, Arange(U64, 5, 0, -2), 5, 3, 1)
	want[int8](t, Arange(I8, -128, 127, 200), -128, 72)
	want[int8](t, Arange(I8, -128, -126, 1), -128, -127)
	want[uint8](t, Arange(U8, 255, 0, 1))
	want[uint8](t, Arange(U8, 250, 256, 1), 250, 251, 252, 253, 254, 255)
	for i, bad := range []Tensor{Arange(U8, 250, 257, 1), Arange(I8, 0, -300, -1), Arange(F32, 3, 0, 0), Arange(U8, 1, -2, -1), Arange(I8, 0, 300, 200), Arange(I32, 0, 1, 0.5), Arange(Bool, 0, 2, 1)} {
		if bad.Err() == nil {
			t.Errorf("case %d fits", i)
		}
	}
	far := Where(Iota(I32, 0, N(8)).Equal(Scalar(3)), Full(F16, 400, N(8)), Zeros(F16, N(8)))
	want(t, MSE(far, Zeros(F16, N(8))), NewFloat16(20000))
	want(t, Huber(far, Zeros(F16, N(8)), 500), NewFloat16(10000))
}

// A variance by fewer degrees of freedom than none is one by none, of sizes that
// are known and of those that are not.
func TestVarOfFew(t *testing.T) {
	x := Input("x", F32, Sym("n", 0, 10))
	nan, inf := math.NaN(), math.Inf(1)
	for correction, wants := range [][]float64{{nan, 0, 0.25, 2}, {nan, nan, 0.5, 3}, {nan, nan, inf, 6}, {nan, nan, inf, inf}} {
		p, err := Compile(Capture(x.Var(correction)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for n, want := range wants {
			given := Of([]float32{1, 2, 4.5}[:n:n], n)
			if n == 3 {
				given = Of([]float32{0, 3, 3}, 3)
			}
			outs, err := p.Run(context.Background(), inputs{"x": given})
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range []Tensor{outs[0], given.Var(correction)} {
				got, err := Values[float32](context.Background(), y)
				if err != nil || !(float64(got[0]) == want || math.IsNaN(float64(got[0])) && math.IsNaN(want)) {
					t.Errorf("of %d by %d less: %v %v, want %v", n, correction, got, err, want)
				}
			}
		}
	}
}

func TestRagged(t *testing.T) {
	d := open(t, "interp")
	b := Sym("b", 1, 8)
	offsets := Input("offsets", I32, b.Plus(1))
	x := Input("x", F32, Rows(offsets), N(2))
	p := compileOn(t, d, Positions(offsets), SegmentIDs(offsets), SegmentSum(x, offsets), SegmentMean(x, offsets), SegmentMax(x, offsets))
	inf := float32(math.Inf(-1))
	out, err := p.Run(context.Background(), inputs{"offsets": Of([]int32{0, 2, 2, 3}, 4), "x": arange(6, 3, 2)})
	if err != nil {
		t.Fatal(err)
	}
	want[int32](t, out[0], 0, 1, 0)
	want[int32](t, out[1], 0, 0, 2)
	want[float32](t, out[2], 2, 4, 0, 0, 4, 5)
	want[float32](t, out[3], 1, 2, 0, 0, 4, 5)
	want[float32](t, out[4], 2, 3, inf, inf, 4, 5)
	for text, in := range map[string][]int32{"begin": {1, 3}, "fall": {0, 2, 1, 3}, "there are 3 rows": {0, 2}} {
		_, err := p.Run(context.Background(), inputs{"offsets": Of(in, len(in)), "x": arange(6, 3, 2)})
		if err == nil || !strings.Contains(err.Error(), text) && !strings.Contains(err.Error(), "want 2") {
			t.Errorf("offsets %v: %v", in, err)
		}
	}
	bound := Of([]int32{0, 1, 4}, 3)
	want[int32](t, Positions(bound), 0, 0, 1, 2)
	if _, err := Values[float32](context.Background(), SegmentSum(arange(6, 3, 2), bound)); err == nil {
		t.Error("offsets beyond the rows")
	}
	if err := Positions(bound.Add(Scalar(0))).Err(); err == nil || !strings.Contains(err.Error(), "Eval") {
		t.Errorf("computed offsets: %v", err)
	}
}

// A ragged attention is each sequence's attention on its own.
func TestRaggedAttentionIsAttentionOfEach(t *testing.T) {
	r := NewRand(Scalar(1))
	q, k, v := r.Normal(Dims(5, 4, 8)...), r.Normal(Dims(5, 2, 8)...), r.Normal(Dims(5, 2, 8)...)
	offsets := Of([]int32{0, 2, 5}, 3)
	for _, o := range []AttentionOptions{{}, {Causal: true}, {Causal: true, Window: 2}, {SoftCap: 5, Scale: 0.3}} {
		dense := o
		o.QOffsets = offsets
		all, lse := Attention(q, k, v, o)
		for i, part := range [][2]int{{0, 2}, {2, 5}} {
			rows := func(x Tensor) Tensor {
				return x.Slice(Range{Start: part[0], Stop: part[1]}).Transpose(0, 1).Unsqueeze(0)
			}
			y, l := Attention(rows(q), rows(k), rows(v), dense)
			diff := rows(all).Sub(y).Abs().Max()
			diffL := lse.Slice(Range{Start: part[0], Stop: part[1]}).T().Sub(l.Squeeze(0)).Abs().Max()
			got, err := Values[float32](context.Background(), diff.Maximum(diffL))
			if err != nil || !(got[0] < 1e-6) {
				t.Errorf("%+v, sequence %d: differs by %v, %v", dense, i, got, err)
			}
		}
	}
}

func TestAttentionRefuses(t *testing.T) {
	x := Zeros(F32, Dims(1, 2, 3, 4)...)
	for text, o := range map[string]AttentionOptions{
		"does not broadcast": {Mask: Zeros(F32, Dims(2, 1, 3, 3)...)},
		"negative":           {Window: -1},
		"finite":             {Scale: math.NaN()},
		"offsets are i32":    {QOffsets: Of([]int64{0, 1}, 2)},
		"cap":                {SoftCap: -1},
	} {
		y, l := Attention(x, x, x, o)
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), text) || l.Err() == nil {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}

func TestEinsum(t *testing.T) {
	x, y := arange(4, 2, 2), arange(2, 2)
	want[float32](t, Einsum("ij,j", x, y), 1, 3)
	want[float32](t, Einsum("ii->i", x), 0, 3)
	want[float32](t, Einsum("ii", x), 3)
	want[float32](t, Einsum("ij->ji", x), 0, 2, 1, 3)
	want[float32](t, Einsum("i,j->ij", y, y), 0, 0, 0, 1)
	want[float32](t, Einsum("ij,jk,kl->il", x, x, x), 6, 11, 22, 39)
	want[float32](t, Einsum(",", Scalar(2), Scalar(3)), 6)
	for _, bad := range []string{"ij", "ij,jk->il", "i1,j", "ij,jk,kl", "ij,j->ii", "ijk,j"} {
		if Einsum(bad, x, y).Err() == nil {
			t.Errorf("%q fits", bad)
		}
	}
}

// Axes without a letter broadcast, as numpy's and PyTorch's do.
func TestEinsumEllipsis(t *testing.T) {
	x, y := arange(12, 2, 1, 2, 3), arange(18, 3, 3, 2)
	want[float32](t, Einsum("...ij,...jk->...ik", x, y).Sub(x.MatMul(y)).Abs().Max(), 0)
	want[float32](t, Einsum("i...j,...jk->...ki", x.Permute(2, 0, 1, 3), y).Sub(x.MatMul(y).T()).Abs().Max(), 0)
	want[float32](t, Einsum("...ij,...jk", x, y).Sub(x.MatMul(y)).Abs().Max(), 0)
	want[float32](t, Einsum("...ij->...", x), 15, 51)
	want[float32](t, Einsum("...ij->ij", x), 6, 8, 10, 12, 14, 16)
	want[float32](t, Einsum("a...,...", x, Scalar(2)).Sub(x.Permute(1, 2, 3, 0).Mul(Scalar(2))).Abs().Max(), 0)
	shapeOf(t, Einsum("...d,...d->...", Input("x", F32, Sym("n", 0, 9), N(1), N(4)), Input("y", F32, N(5), N(4))), "[n 5]")
	for _, bad := range []string{"...abcde,...", "......,...", "..ij,...", "...ij,...jk->......", "i...j,...->k..."} {
		if Einsum(bad, x, y).Err() == nil {
			t.Errorf("%q fits", bad)
		}
	}
}

func TestMatMulShapes(t *testing.T) {
	for _, c := range [][3]string{
		{"[3]", "[3]", "[]"}, {"[3]", "[2 3 4]", "[2 4]"}, {"[2 4 3]", "[3]", "[2 4]"}, {"[4 3]", "[3 5]", "[4 5]"},
		{"[2 4 3]", "[3 5]", "[2 4 5]"}, {"[4 3]", "[2 3 5]", "[2 4 5]"}, {"[7 1 4 3]", "[2 3 5]", "[7 2 4 5]"},
	} {
		parse := func(s string) (shape []int) {
			for _, f := range strings.Fields(strings.Trim(s, "[]")) {
				shape = append(shape, int(f[0]-'0'))
			}
			return shape
		}
		shapeOf(t, Zeros(F32, Dims(parse(c[0])...)...).MatMul(Zeros(F32, Dims(parse(c[1])...)...)), c[2])
	}
	want[int32](t, Of([]int32{1, 2}, 2).Dot(Of([]int32{3, 4}, 2)), 11)
}

func TestRandomDraws(t *testing.T) {
	ctx := context.Background()
	const n = 1 << 14
	draws := func() (u, z []float32) {
		r := NewRand(Of([]int64{42}))
		u, err1 := Values[float32](ctx, r.Uniform(N(n)))
		z, err2 := Values[float32](ctx, r.Normal(N(n)))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		return u, z
	}
	u, z := draws()
	again, _ := draws()
	var sumU, sumZ, squares float64
	for i := range u {
		if u[i] != again[i] || u[i] < 0 || u[i] >= 1 {
			t.Fatalf("draw %d: %v, then %v", i, u[i], again[i])
		}
		sumU += float64(u[i])
		sumZ += float64(z[i])
		squares += float64(z[i]) * float64(z[i])
	}
	// Five standard errors.
	if m := sumU / n; !(math.Abs(m-0.5) <= 5*math.Sqrt(1.0/12/n)) {
		t.Errorf("uniform mean %v", m)
	}
	if m, v := sumZ/n, squares/n; !(math.Abs(m) <= 5/math.Sqrt(n)) || !(math.Abs(v-1) <= 5*math.Sqrt(2.0/n)) {
		t.Errorf("normal mean %v, variance %v", m, v)
	}
	r := NewRand(Scalar(42))
	want(t, r.Uniform(N(2)), u[0], u[1])
	kept, err := Values[float32](ctx, r.Dropout(Ones(F32, N(n)), 0.25).Cast(Bool).Cast(F32).Mean())
	if err != nil || !(math.Abs(float64(kept[0])-0.75) <= 5*math.Sqrt(0.25*0.75/n)) {
		t.Errorf("kept %v, %v", kept, err)
	}
	x := r.Uniform(N(64)).Cast(BF16)
	dropped := r.Dropout(x, 0.1) // the factor, 1.1111, is 1.1094 in bf16
	right := dropped.Equal(x.Cast(F32).Mul(Scalar(1 / 0.9)).Cast(BF16)).Or(dropped.Equal(Scalar(0)))
	want[bool](t, right.All(), true)
}

func TestPoolsAndConvolutions(t *testing.T) {
	x := arange(16, 1, 1, 4, 4)
	want[float32](t, MaxPool(x, PoolOptions{Kernel: []int{2}}), 5, 7, 13, 15)
	want[float32](t, AvgPool(x, PoolOptions{Kernel: []int{2, 2}}), 2.5, 4.5, 10.5, 12.5)
	want[int8](t, MaxPool(Of([]int8{-5, -7}, 1, 1, 2), PoolOptions{Kernel: []int{3}, Stride: []int{1}, Padding: []int{1}}), -5, -5)
	want[float32](t, Upsample(arange(2, 1, 1, 2), 2), 0, 0, 1, 1)
	// A transposed convolution in two groups is each group's own.
	w := arange(8, 4, 1, 2)
	y := ConvTranspose(arange(12, 1, 4, 3), w, ConvOptions{Stride: []int{2}, Groups: 2, Bias: Of([]float32{0, 0}, 2)})
	a := ConvTranspose(arange(12, 1, 4, 3).Slice(Range{}, Range{Stop: 2}), w.Slice(Range{Stop: 2}), ConvOptions{Stride: []int{2}})
	b := ConvTranspose(arange(12, 1, 4, 3).Slice(Range{}, Range{Start: 2}), w.Slice(Range{Start: 2}), ConvOptions{Stride: []int{2}})
	want[bool](t, y.Equal(Concat(1, a, b)).All(), true)
	for i, o := range []ConvOptions{{Stride: []int{0}}, {Stride: []int{1, 1}}, {Groups: -1}, {Groups: 3}, {Padding: []int{-1}}, {Bias: Scalar(1)}} {
		if Conv(arange(12, 1, 4, 3), arange(8, 1, 4, 2), o).Err() == nil {
			t.Errorf("options %d fit", i)
		}
	}
}

func TestLosses(t *testing.T) {
	logits := Of([]float32{0, 0, 0, 0}, 2, 2)
	targets := Of([]int64{0, 1}, 2)
	want[float32](t, CrossEntropy(logits, targets, CrossEntropyOptions{Reduction: ReduceNone}), 0.6931472, 0.6931472)
	want[float32](t, CrossEntropy(logits, targets, CrossEntropyOptions{Reduction: ReduceSum, IgnoreIndex: new(1)}), 0.6931472)
	if CrossEntropy(logits, targets, CrossEntropyOptions{Reduction: 9}).Err() == nil || CrossEntropy(logits, logits, CrossEntropyOptions{}).Err() == nil {
		t.Error("misuse fits")
	}
}

// The statistics of halves are those of their values in F32.
func TestBatchNormOfHalves(t *testing.T) {
	for _, c := range []struct {
		dt DType
		x  []float32
	}{{BF16, []float32{100, 101, 100.5, 100}}, {F16, []float32{1000, -1000, 500, 100}}} {
		x := Of(c.x, 4, 1)
		y, _, _ := BatchNormTrain(x.Cast(c.dt), Tensor{}, Tensor{}, 1e-5)
		exact, _, _ := BatchNormTrain(x, Tensor{}, Tensor{}, 1e-5)
		if y.DType() != c.dt {
			t.Errorf("%v became %v", c.dt, y.DType())
		}
		if got := single(t, y.Cast(F32).Sub(exact).Abs().Max()); !(got < 0.01) {
			t.Errorf("%v: off by %v", c.dt, got)
		}
	}
}

// What has no gradient is detached as it is.
func TestDetachTakesEveryType(t *testing.T) {
	want(t, Of([]bool{true, false}, 2).Detach(), true, false)
	want[int8](t, Of([]int8{-1}, 1).Detach(), -1)
}

// 1 + erf of a negative number has few digits of a half type.
func TestGELUOfHalves(t *testing.T) {
	x := Of([]float32{-4, -2, -0.5, 0, 1, 3}, 6)
	for _, f := range []func(Tensor) Tensor{Tensor.GELU, Tensor.GELUTanh} {
		for _, dt := range []DType{F16, BF16} {
			want[bool](t, f(x.Cast(dt)).Equal(f(x).Cast(dt)).All(), true)
		}
	}
	if !(math.Abs(single(t, x.Cast(BF16).GELU().Index(0, 0).Cast(F32))+1.2669e-4) <= 1e-6) {
		t.Error("the tail is lost")
	}
}
