package x86

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

// BenchmarkBesideAMX is the time of so many products of tiles and, behind them, so many
// multiply-adds of vectors, none of which waits for another's result.
func BenchmarkBesideAMX(b *testing.B) {
	host := cpuid.Host()
	if !HasGemm(AVX512, GemmAMXBytes, &host.Features) {
		b.Skip("no AMX")
	}
	for _, products := range []int{0, 4} {
		for _, vectors := range []int{0, 64, 128, 256} {
			if products+vectors == 0 {
				continue
			}
			b.Run(fmt.Sprintf("%d products, %d multiply-adds", products, vectors), func(b *testing.B) {
				code, err := jit.Map(besideAMX(b, products, vectors))
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = code.Close() }()
				rounds := int64(1000)
				for b.Loop() {
					jit.Call(code.Entry(0), unsafe.Pointer(&rounds))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rounds), "ns/round")
			})
		}
	}
}

// besideAMX is a loop over both, as often as RDI points to.
func besideAMX(b *testing.B, products, vectors int) []byte {
	b.Helper()
	t := newTileGen(AVX512, GemmAMXBytes, GemmTile{32, 2}, false)
	t.configure()
	for v := range asm.V(16) {
		t.zero(v)
	}
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, 0))
	t.Align(64)
	again := t.Here()
	for i := range products {
		t.Op(asm.TDPBUSD, t.amxSum(0, i/2, i%2), t.amxA(i/2), t.amxB(i%2, 0))
	}
	for i := range vectors {
		t.Op(asm.VFMADD231PS, asm.V(i%14), asm.V(14), asm.V(15))
	}
	t.Op(asm.SUB, gCount, asm.Imm(1))
	t.J(asm.NE, again)
	t.Op(asm.TILERELEASE)
	t.Op(asm.VZEROUPPER)
	t.Op(asm.RET)
	code, err := t.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return code
}
