package x86

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// askLinear has args ask for some of what tile kernels do with results of rows x cols, and
// gives what becomes of sums. Operands lie right before unmapped pages.
func askLinear(t *testing.T, rng *rand.Rand, args *GemmArgs, sums []uint32, rows, cols int) (want []uint32) {
	t.Helper()
	numbers := func(n int) ([]float32, uintptr) {
		f := make([]float32, n)
		for i := range f {
			f[i] = float32(rng.NormFloat64())
		}
		if n > 0 && rng.IntN(2) == 0 {
			f[rng.IntN(n)] = []float32{float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}[rng.IntN(3)]
		}
		m, err := jit.AllocGuarded(4*n, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		bits := make([]uint32, n)
		for i, v := range f {
			bits[i] = math.Float32bits(v)
		}
		copy(m.Bytes(), lanesAsBytes(bits))
		return f, uintptr(m.Pointer())
	}
	var bias, rowBias, beside []float32
	switch apart := 1 + rng.IntN(3); rng.IntN(3) {
	case 0:
		bias, args.Bias = numbers(cols)
	case 1:
		rowBias, args.RowBias = numbers((rows-1)*apart + 1)
		args.LDRowBias = uintptr(4 * apart)
	}
	args.Beside, args.LDBeside = 0, 0
	if rng.IntN(3) > 0 {
		args.AddBeside, args.Scale = 1, []float32{1, -0.37, 2.5}[rng.IntN(3)]
		beside, args.Beside = numbers(rows * cols)
		args.LDBeside = uintptr(4 * cols)
	}
	args.ReLU = uintptr(rng.IntN(2))
	for i, bits := range sums {
		v := math.Float32frombits(bits)
		if bias != nil {
			v += bias[i%cols]
		}
		if rowBias != nil {
			v += rowBias[i/cols*int(args.LDRowBias/4)]
		}
		if beside != nil {
			v = loop.FMA32(v, args.Scale, beside[i])
		}
		if args.ReLU != 0 && v < 0 {
			v = 0
		}
		want = append(want, math.Float32bits(v))
	}
	return want
}

func (g *GemmArgs) askNothing() {
	g.Bias, g.RowBias, g.AddBeside, g.ReLU, g.Beside, g.LDBeside = 0, 0, 0, 0, 0, 0
}
