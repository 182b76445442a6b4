package sinter_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
)

// TestTopKIsOfSort: the first elements of a sorted axis are the same where the others are
// not asked for, with equal ones and NaN, along either axis, in either direction.
func TestTopKIsOfSort(t *testing.T) {
	ctx := sinter.WithDevice(context.Background(), openCPU(t, sinter.CPUOptions{}))
	rng := rand.New(rand.NewPCG(7, 9))
	for range 60 {
		rows, cols := 1+rng.IntN(5), 1+rng.IntN(70)
		data := make([]float32, rows*cols)
		for i := range data {
			data[i] = float32(rng.IntN(2*cols) - cols)
			if rng.IntN(9) == 0 {
				data[i] = float32(math.NaN())
			}
		}
		axis := rng.IntN(2)
		n := []int{rows, cols}[axis]
		k, down := rng.IntN(n+1), rng.IntN(2) == 0
		for _, dt := range []sinter.DType{sinter.F32, sinter.F64, sinter.F16, sinter.I32} {
			x := sinter.Of(data, rows, cols)
			if dt == sinter.I32 {
				x = sinter.Where(x.Equal(x), x, sinter.Scalar(0))
			}
			x = x.Cast(dt)
			cut := func(y tensor) tensor { return y.Narrow(axis, sinter.N(0), sinter.N(k)) }
			values, indices := x.Sort(axis, down)
			first, err := sinter.Eval(ctx, cut(values), cut(indices))
			if err != nil {
				t.Fatal(err)
			}
			// The whole of it is an output here.
			again, places := x.Sort(axis, down)
			whole, err := sinter.Eval(ctx, again, places, cut(again), cut(places))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				got, want := bitsOf(ctx, t, first[i]), bitsOf(ctx, t, whole[2+i])
				if !slices.Equal(got, want) {
					t.Fatalf("%v, %d of %d along axis %d: %v, want %v", dt, k, n, axis, got, want)
				}
			}
		}
	}
}

// bitsOf are values as f64, of which NaN are alike.
func bitsOf(ctx context.Context, t *testing.T, x tensor) []uint64 {
	t.Helper()
	v, err := sinter.Values[float64](ctx, x.Cast(sinter.F64))
	if err != nil {
		t.Fatal(err)
	}
	bits := make([]uint64, len(v))
	for i, f := range v {
		bits[i] = math.Float64bits(f)
	}
	return bits
}
