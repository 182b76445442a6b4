package nn_test

import (
	"math"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// An infinity is in the averages that cover it and in no others.
func TestAdaptiveAvgPoolOfInfinity(t *testing.T) {
	inf := math.Inf(1)
	for _, dt := range []sinter.DType{sinter.F32, sinter.F64, sinter.F16} {
		x := sinter.Of([]float64{1, 2, 3, inf, 5, 6}, 1, 1, 6).Cast(dt)
		for n, want := range map[int][]float64{1: {inf}, 2: {2, inf}, 3: {1.5, inf, 5.5}, 4: {1.5, 2.5, inf, 5.5}, 5: {1.5, 2.5, inf, inf, 5.5}, 6: {1, 2, 3, inf, 5, 6}, 8: {1, 1.5, 2.5, 3, inf, inf, 5.5, 6}} {
			got := values(t, nn.AdaptiveAvgPool(x, n))
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%v to %d: %v, want %v", dt, n, got, want)
					break
				}
			}
		}
	}
}
