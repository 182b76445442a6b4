package arm64

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

func emit(k *loop.Kernel) (*nativetest.Code, error) {
	code, err := Emit(k)
	if err != nil {
		return nil, err
	}
	return &nativetest.Code{Text: code.Text, SpillBytes: code.SpillBytes, Listing: code.Listing()}, nil
}

// needNEON leaves out what runs code where the processor is none of the kind.
func needNEON(t *testing.T) {
	if runtime.GOARCH != "arm64" {
		t.Skip("this machine is no arm64: build the test for one and run it under emulation")
	}
}

func kernels(t testing.TB) map[string]*loop.Kernel {
	all, err := nativetest.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var update = flag.Bool("update", false, "write the listings of testdata anew")

// Listings are compared with those on file, on machines of any kind.
func TestListings(t *testing.T) {
	all := kernels(t)
	for _, name := range []string{"bias_relu", "layer_norm", "quantise", "embedding"} {
		code, err := Emit(all[name])
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "listings", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(code.Listing()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if code.Listing() != string(want) {
			t.Errorf("%s differs; if that is meant, run go test -update\n%s", file, code.Listing())
		}
	}
}

// Kernels of this size keep everything in registers.
func TestNoSpills(t *testing.T) {
	for name, k := range kernels(t) {
		code, err := Emit(k)
		if err != nil {
			t.Fatal(err)
		}
		if code.SpillBytes != 0 {
			t.Errorf("%s uses %d bytes of spill area:\n%s", name, code.SpillBytes, code.Listing())
		}
	}
}

// The main loop of a fused chain holds what it must and nothing else: for four
// registers a load of each operand, the addition, relu, a store.
func TestHotLoop(t *testing.T) {
	code, err := Emit(kernels(t)["bias_relu"])
	if err != nil {
		t.Fatal(err)
	}
	_, loop, _ := strings.Cut(code.Listing(), "b.ge")
	_, loop, _ = strings.Cut(loop, "b.ge")
	loop, _, _ = strings.Cut(loop, "b.lt")
	for op, want := range map[string]int{"ldr ": 8, "fadd": 4, "fmax": 4, "str ": 4} {
		if got := strings.Count(loop, op); got != want {
			t.Errorf("%d of %q instead of %d:\n%s", got, op, want, loop)
		}
	}
}

func TestKernels(t *testing.T) {
	needNEON(t)
	for name, k := range kernels(t) {
		t.Run(name, func(t *testing.T) {
			code, err := emit(k)
			if err != nil {
				t.Fatal(err)
			}
			emitted := func(*loop.Kernel) (*nativetest.Code, error) { return code, nil }
			for n := 0; n <= 36; n++ {
				for _, m := range []int{0, 1, 3} {
					c, err := nativetest.CaseOf(k, ir.Env{"N": n, "M": m}, uint64(n))
					if err != nil {
						t.Fatal(err)
					}
					if err := nativetest.Check(c, emitted, nativetest.Near[name]); err != nil {
						t.Fatalf("N=%d M=%d: %v", n, m, err)
					}
				}
			}
		})
	}
}

// Random kernels must agree with the interpreter bit for bit.
func TestRandom(t *testing.T) {
	needNEON(t)
	config := looptest.Config{
		DTypes:      []ir.DType{ir.F32, ir.I32, ir.U32, ir.Bool, ir.I64, ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16, ir.F64},
		Op:          func(op ir.Op, from ir.DType) bool { return nativetest.Exact(op) },
		WildIndices: true,
		MaxTrip:     70,
	}
	const seeds = 120 // most are run under emulation
	ran, refused := 0, map[string]int{}
	for seed := range uint64(seeds) {
		c := looptest.Random(rand.New(rand.NewPCG(seed, 7)), config)
		err := nativetest.Check(c, emit, 0)
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
}
