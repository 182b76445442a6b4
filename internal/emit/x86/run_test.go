package x86

import (
	"runtime"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

var isaNames = map[ISA]string{AVX2: "avx2", AVX512: "avx512"}

// runnable tells whether this machine runs code for isa.
func runnable(isa ISA) bool {
	host := cpuid.Host()
	if isa == AVX2 {
		return jit.Available() && host.HasAVX2()
	}
	return jit.Available() && host.HasAVX512()
}

// eachISA runs f for the instruction sets of this machine.
func eachISA(t *testing.T, f func(t *testing.T, isa ISA)) {
	ran := false
	for _, isa := range []ISA{AVX512, AVX2} {
		if !runnable(isa) {
			continue
		}
		ran = true
		t.Run(isaNames[isa], func(t *testing.T) { f(t, isa) })
	}
	if !ran && runtime.GOARCH == "amd64" {
		t.Log("this machine runs neither instruction set: nothing was executed")
	}
}

// emitterFor is Emit for an instruction set.
func emitterFor(isa ISA) nativetest.Emitter {
	return func(k *loop.Kernel) (*nativetest.Code, error) {
		code, err := Emit(k, isa)
		if err != nil {
			return nil, err
		}
		return &nativetest.Code{Text: code.Text, SpillBytes: code.SpillBytes, Listing: code.Listing()}, nil
	}
}

// checkCase compares machine code with the interpreter.
func checkCase(c *looptest.Case, isa ISA) error { return nativetest.Check(c, emitterFor(isa), 0) }

// parse reads a kernel from its text.
func parse(t testing.TB, text string) *loop.Kernel {
	t.Helper()
	k, err := nativetest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
