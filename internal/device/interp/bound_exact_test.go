package interp

import (
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// A sum that f32 rounds in its subnormal numbers has a bound, though its terms
// have few digits.
func TestBoundOfSubnormalSums(t *testing.T) {
	x, y := []float64{0x1.02p-70, 0x1.04p-70}, []float64{0x1.06p-70, 0x1.0ap-70}
	s := terms{n: 3, grain: grains(x) * grains(y)}
	r := float32(0)
	for i := range x {
		s.abs += x[i] * y[i]
		r = float32(math.FMA(x[i], y[i], float64(r)))
	}
	off := math.Abs(float64(r) - s.abs)
	if bound := s.bound(ir.F32, float64(r)); !(off != 0 && off <= bound) {
		t.Errorf("%g is off by %g, the bound is %g", r, off, bound)
	}
	if bound := s.bound(ir.F64, s.abs); bound != 0 {
		t.Errorf("in f64 the sum is exact, the bound is %g", bound)
	}
}
