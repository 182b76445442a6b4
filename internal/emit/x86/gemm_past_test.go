package x86

import (
	"strings"
	"testing"
)

// Whole vectors are stored past the caches and no line is fetched for them; a masked one is
// stored as elsewhere. Whoever learns that a call is over finds all of them.
func TestGemmStoresPast(t *testing.T) {
	const rows = 3
	for _, tail := range []bool{false, true} {
		a, err := emitGemmTile(AVX512, GemmBytes, GemmTile{rows, 2}, tail, GemmPast, true)
		if err != nil {
			t.Fatal(err)
		}
		past, masked := 2*rows, 0
		if tail {
			past, masked = rows, rows
		}
		text := a.Listing()
		for what, want := range map[string]int{"vmovntps zmmword ptr [r15": past, "vmovups zmmword ptr [r15 + 64] {k1}, ": masked, "prefetch": 0, "sfence": 1} {
			if n := strings.Count(text, what); n != want {
				t.Errorf("tail %v: %d times %q, want %d in\n%s", tail, n, what, want, text)
			}
		}
	}
	for format, isa := range map[GemmFormat]ISA{GemmF32: AVX2, GemmF64: AVX512, GemmBF16: AVX512, GemmAMXBytes: AVX512} {
		if _, err := emitGemmTile(isa, format, GemmTiles(isa, format)[0], false, GemmPast, false); err == nil {
			t.Errorf("no error for %v of %v past the caches", format, isa)
		}
	}
}
