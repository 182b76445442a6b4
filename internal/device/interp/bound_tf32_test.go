package interp

import (
	"context"
	le "encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// A product that may be rounded to TF32 is computed as written. Its bound covers
// one of which any operand is rounded, or 0 where it is subnormal; and it is no
// wider than that of f32 where nothing is to be rounded.
func TestBoundOfTF32(t *testing.T) {
	const m, k, n = 3, 20, 4
	rng := rand.New(rand.NewPCG(4, 0))
	for _, few := range []bool{false, true} {
		used := 0.0
		for range 300 {
			x, w := make([]float32, m*k), make([]float32, k*n)
			for _, v := range [][]float32{x, w} {
				for i := range v {
					v[i] = float32(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20))
					if few {
						v[i] = ir.RoundTF32(v[i])
					} else if rng.IntN(10) == 0 {
						v[i] = float32(math.Ldexp(rng.NormFloat64(), -130))
					}
				}
			}
			want, plain := tf32Product(t, x, w, m, k, n, false)
			got, bounds := tf32Product(t, x, w, m, k, n, true)
			for i, y := range got {
				if y != want[i] {
					t.Fatalf("element %d is %v, as written %v", i, y, want[i])
				}
				if few {
					if bounds[i] != plain[i] {
						t.Fatalf("element %d: bound %v, as written %v", i, bounds[i], plain[i])
					}
					continue
				}
				exact := 0.0
				for j := range k {
					exact += tf32Of(rng, x[i/n*k+j]) * tf32Of(rng, w[j*n+i%n])
				}
				if d := math.Abs(exact - float64(y)); !(d <= bounds[i]) {
					t.Fatalf("element %d is %v, %v where operands are rounded, the bound is %v", i, y, exact, bounds[i])
				} else {
					used = max(used, d/bounds[i])
				}
			}
		}
		if !few && used < 0.3 {
			t.Errorf("only %v of the bound is used", used)
		}
	}
	// What is so large that it is rounded to infinity may be anything.
	if _, bounds := tf32Product(t, []float32{math.MaxFloat32}, []float32{1}, 1, 1, 1, true); !math.IsInf(bounds[0], 1) {
		t.Errorf("the largest number has the bound %v", bounds[0])
	}
}

// tf32Of is what a device may take for x.
func tf32Of(rng *rand.Rand, x float32) float64 {
	switch r := ir.RoundTF32(x); {
	case rng.IntN(4) == 0:
		return float64(x)
	case rng.IntN(2) == 0 && math.Abs(float64(r)) < 0x1p-126:
		return 0
	default:
		return float64(r)
	}
}

// tf32Product gives a product and its bounds.
func tf32Product(t *testing.T, x, w []float32, m, k, n int, allowed bool) (values, bounds []float64) {
	t.Helper()
	b := ir.NewBuilder(nil)
	leaf := func(name string, s ir.Shape) *ir.Node {
		l, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: ir.F32, Shape: s}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	y, err := b.Add(ir.MatMul, ir.Attr{TF32: allowed}, leaf("x", ir.Static(m, k)), leaf("w", ir.Static(k, n)))
	if err != nil {
		t.Fatal(err)
	}
	var data [2][]byte
	for i, v := range [][]float32{x, w} {
		for _, f := range v {
			data[i] = le.LittleEndian.AppendUint32(data[i], math.Float32bits(f))
		}
	}
	out, all, err := Evaluate(context.Background(), b.Finish(y), ir.Env{}, data[:])
	if err != nil {
		t.Fatal(err)
	}
	for i := range m * n {
		values = append(values, float64(math.Float32frombits(le.LittleEndian.Uint32(out[0][4*i:]))))
	}
	return values, all[0]
}
