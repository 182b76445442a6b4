package x86

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
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

// Few steps, many rows and columns, and more results than the threads have caches for.
func TestStoresPast(t *testing.T) {
	core := CoreOf(&cpuid.CPU{Vendor: "GenuineIntel", Caches: cpuid.Caches{L3: 100 << 20}}, AVX512)
	megabytes := func(n int) GemmShape { return GemmShape{Rows: n << 8, Cols: 1 << 10, Steps: PastSteps} }
	for _, c := range []struct {
		shape   GemmShape
		threads int
		want    bool
	}{
		{megabytes(16), 1, true}, {megabytes(16), 2, true}, {megabytes(15), 1, false}, {megabytes(31), 4, false}, {megabytes(32), 4, true},
		{megabytes(49), 60, false}, {megabytes(50), 60, true},
		{GemmShape{Rows: 4096, Cols: 1024, Steps: PastSteps + 1}, 1, false}, {GemmShape{Rows: 4096, Cols: 1024}, 1, false},
		{GemmShape{Rows: PastRows - 1, Cols: 1 << 20, Steps: 1}, 1, false}, {GemmShape{Rows: 1 << 20, Cols: PastCols - 1, Steps: 1}, 1, false},
	} {
		if got := core.StoresPast(AVX512, GemmBytes, c.shape, c.threads); got != c.want {
			t.Errorf("%+v on %d threads: %v", c.shape, c.threads, got)
		}
	}
	if core.StoresPast(AVX512, GemmBF16, megabytes(50), 1) || core.StoresPast(AVX2, GemmF32, megabytes(50), 1) {
		t.Error("bf16 or AVX2 stores past the caches")
	}
}
