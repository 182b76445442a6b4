package generic

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Every reduction that Check lets through, at lengths that leave partial
// results unused or need several blocks, over values of both signs, of one and
// of the other: a wrong identity shows where it is the extreme.
func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	tried := 0
	for _, d := range ir.DTypes() {
		for _, op := range []ir.Op{ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or} {
			for _, n := range []int{0, 1, 3, 9, 300} {
				for sign := range 3 {
					values := make([]uint64, n+1)
					for i := range values {
						values[i] = unordered(rng, d, op, sign)
					}
					k := reduction(d, op, n, values[n])
					if loop.Check(k) != nil {
						continue
					}
					tried++
					if err := compare(reductionCase(k, values[:n])); err != nil {
						t.Fatalf("%v\n%v", err, k)
					}
				}
			}
		}
	}
	if tried < 15*(4*4+8*6+2) { // floats have four operations, integers six, bool two
		t.Errorf("only %d reductions were valid", tried)
	}
}

// unordered draws bits that give the same result in every order: any for most
// operations, 1, 0 and -1 for sums and products of floats.
func unordered(rng *rand.Rand, d ir.DType, op ir.Op, sign int) uint64 {
	if d.IsFloat() && (op == ir.Add || op == ir.Mul) {
		v := float64(rng.IntN(3) - 1)
		if op == ir.Mul && v == 0 {
			v = 1
		}
		b, _ := ir.Bits(d, v) // floats hold them all
		return b
	}
	if d == ir.Bool {
		return rng.Uint64() & 1
	}
	width := 8 * d.Size()
	b := rng.Uint64() >> (64 - width)
	top := uint64(1) << (width - 1)
	switch sign {
	case 1:
		b &^= top
	case 2:
		b |= top
	}
	return b
}

func reduction(d ir.DType, op ir.Op, n int, start uint64) *loop.Kernel {
	acc, v := &loop.Local{Name: "s", DType: d}, &loop.Var{Name: "j"}
	return &loop.Kernel{
		Params: []loop.Param{{Name: "x", DType: d, Len: ir.N(n), Use: loop.Read}, {Name: "y", DType: d, Len: ir.N(1), Use: loop.Write}},
		Body: []loop.Stmt{
			&loop.Set{Local: acc, Value: loop.Const(d, start)},
			&loop.Loop{Var: v, Hi: loop.Int(n), Range: loop.Vector, Body: []loop.Stmt{
				&loop.Acc{Local: acc, Op: op, Value: loop.Load(0, d, v.Ref(), nil)}}},
			&loop.Store{Param: 1, Index: loop.Int(0), Value: acc.Ref()},
		},
	}
}

func reductionCase(k *loop.Kernel, values []uint64) *looptest.Case {
	size := k.Params[0].DType.Size()
	var b []byte
	for _, v := range values {
		for i := range size {
			b = append(b, byte(v>>(8*i)))
		}
	}
	return &looptest.Case{Kernel: k, Args: loop.Args{Buffers: [][]byte{b, make([]byte, size)}}}
}

// The order of a sum over lanes is that of eight partial ones and their tree,
// whatever the length.
func TestSumOrder(t *testing.T) {
	f := mustCompile(t, header+"s = f32(3)\nfor vector j < size(N) { s add= x[j] }\ny[0] = s")
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 7, 8, 9, 255, 256, 257, 1000} {
		x := randomFloats(rng, n)
		var p [8]float32
		for i, v := range x {
			p[i%8] += v
		}
		want := 3 + (((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7])))
		y := make([]float32, n)
		err := f.Run(&Args{Params: [][]byte{bytesOf(x), bytesOf(y), bytesOf(y)}, Sizes: []int64{int64(n)}, Status: make([]int64, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if y[0] != want {
			t.Errorf("%d elements: %v, not %v", n, y[0], want)
		}
	}
}

// A sum of -0 alone stays -0, as one by one.
func TestSumOfNegativeZeros(t *testing.T) {
	f := mustCompile(t, header+"s = f32(-0)\nfor vector j < size(N) { s add= x[j] }\ny[0] = s")
	x, y := []float32{float32(math.Copysign(0, -1))}, []float32{1}
	if err := f.Run(&Args{Params: [][]byte{bytesOf(x), bytesOf(x), bytesOf(y)}, Sizes: []int64{1}, Status: make([]int64, 1)}); err != nil {
		t.Fatal(err)
	}
	if y[0] != 0 || !math.Signbit(float64(y[0])) {
		t.Errorf("the sum is %v", y[0])
	}
}
