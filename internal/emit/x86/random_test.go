package x86

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// seeds is how many random kernels an instruction set is tried on; the build
// tag long sets more.
var seeds = uint64(200)

// Random kernels must agree with the interpreter bit for bit.
func TestRandom(t *testing.T) {
	config := looptest.Config{
		DTypes:      []ir.DType{ir.F32, ir.I32, ir.U32, ir.Bool, ir.I64, ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16, ir.F64},
		Op:          func(op ir.Op, from ir.DType) bool { return nativetest.Exact(op) },
		WildIndices: true,
		MaxTrip:     150,
	}
	eachISA(t, func(t *testing.T, isa ISA) {
		ran, refused := uint64(0), map[string]int{}
		for seed := range seeds {
			c := looptest.Random(rand.New(rand.NewPCG(seed, 7)), config)
			err := checkCase(c, isa)
			switch {
			case errors.Is(err, native.ErrUnsupported):
				refused[err.Error()]++
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			default:
				ran++
			}
		}
		if t.Logf("%d ran, refused %v", ran, refused); ran < seeds*9/10 {
			t.Errorf("%d of %d kernels had machine code", ran, seeds)
		}
	})
}
