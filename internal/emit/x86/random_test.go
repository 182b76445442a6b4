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

// Random kernels must agree with the interpreter bit for bit: of all types, and of few,
// which have more values that share registers.
func TestRandom(t *testing.T) {
	all := []ir.DType{ir.F32, ir.I32, ir.U32, ir.Bool, ir.I64, ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16, ir.F64}
	for i, set := range [][]ir.DType{all, {ir.F64, ir.I64, ir.Bool}, {ir.BF16, ir.F32, ir.Bool}} {
		config := looptest.Config{
			DTypes:      set,
			Op:          func(op ir.Op, from ir.DType) bool { return nativetest.Exact(op) },
			WildIndices: true,
			MaxTrip:     150,
		}
		count := seeds
		if i > 0 {
			count /= 2
		}
		eachISA(t, func(t *testing.T, isa ISA) { tryRandom(t, isa, config, count, 7+uint64(i)) })
	}
}

func tryRandom(t *testing.T, isa ISA, config looptest.Config, count, stream uint64) {
	ran, refused := uint64(0), map[string]int{}
	for seed := range count {
		c := looptest.Random(rand.New(rand.NewPCG(seed, stream)), config)
		err := checkCase(c, isa)
		switch {
		case errors.Is(err, native.ErrUnsupported):
			refused[err.Error()]++
		case err != nil:
			t.Fatalf("%v, seed %d: %v", config.DTypes, seed, err)
		default:
			ran++
		}
	}
	if t.Logf("%d ran, refused %v", ran, refused); ran < count*9/10 {
		t.Errorf("%d of %d kernels had machine code", ran, count)
	}
}
