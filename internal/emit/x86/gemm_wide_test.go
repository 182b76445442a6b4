package x86

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/jit"
)

// A product of widened numbers has the bits of VDPBF16PS, sums far from 0 given.
func TestGemmWideBits(t *testing.T) {
	host := cpuid.Host()
	if !HasGemm(AVX512, GemmBF16, &host.Features) {
		t.Skip("no VDPBF16PS")
	}
	tile := GemmTiles(AVX512, GemmWide)[0]
	const steps, vectors = 37, 1
	rng := rand.New(rand.NewPCG(5, 6))
	a, wide := make([]uint32, tile.Rows*steps), make([]uint32, 2*tile.Rows*steps)
	b := make([]uint32, steps*GemmLanes(AVX512)*vectors)
	for i := range a {
		a[i] = bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
		wide[2*i], wide[2*i+1] = a[i]<<16, a[i]&^0xFFFF
	}
	for i := range b {
		b[i] = bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
	}
	multiply := func(format GemmFormat, a []uint32) []uint32 {
		g, err := EmitGemm(AVX512, format, tile, GemmPanels)
		if err != nil {
			t.Fatal(err)
		}
		code, err := jit.Map(g.Code)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = code.Close() }()
		lanes := GemmLanes(AVX512)
		c := make([]uint32, tile.Rows*lanes)
		args := GemmArgs{A: unsafe.Pointer(&a[0]), B: unsafe.Pointer(&b[0]), C: unsafe.Pointer(&c[0]), LDA: uintptr(format.StepA() * steps),
			LDB: uintptr(4 * lanes), VectorB: uintptr(4 * lanes), LDC: uintptr(4 * lanes), Panels: 1, RowPanels: 1}
		args.SetK(steps)
		args.SetMask(AVX512, GemmWide, lanes)
		jit.Call(code.Entry(g.Tail[tile.Rows][vectors]), unsafe.Pointer(&args))
		return c
	}
	got, want := multiply(GemmWide, wide), multiply(GemmBF16, a)
	for i := range want {
		if got[i] != want[i] {
			if !host.SlowBF16() { // where nobody widens
				t.Skipf("this processor's instruction has other sums: element %d is %#x, %#x when widened", i, want[i], got[i])
			}
			t.Fatalf("element %d is %#x, want %#x", i, got[i], want[i])
		}
	}
}
