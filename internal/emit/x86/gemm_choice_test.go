package x86

import (
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// Tiles that were the fastest on the processor named, by the clock.
func TestTileChoice(t *testing.T) {
	zen4 := cpuid.CPU{Arch: "zen4", Caches: cpuid.Caches{L1D: 32 << 10, L2: 1 << 20, L3: 32 << 20}}
	wide, tall, one := GemmTile{6, 4}, GemmTile{14, 2}, GemmTile{3, 1}
	for _, c := range []struct {
		isa   asm.ISA
		shape GemmShape
		want  GemmTile
	}{
		{AVX512, GemmShape{4096, 384, 1536}, wide}, // rows of 14 would not fit the first cache
		{AVX512, GemmShape{2048, 2048, 2048}, wide},
		{AVX512, GemmShape{4096, 384, 96}, wide},  // fetching gains nothing
		{AVX512, GemmShape{24, 4096, 1024}, tall}, // two passes for four
		{AVX512, GemmShape{2, 1536, 1536}, wide},
		{AVX512, GemmShape{12, 1536, 1536}, tall}, // one pass over a weight in the third cache
		{AVX512, GemmShape{14, 8192, 2048}, tall}, // or in memory
		{AVX512, GemmShape{9, 8192, 2048}, tall},
		{AVX512, GemmShape{1, 4096, 4096}, one},
		{AVX512, GemmShape{1, 1536, 1536}, wide}, // the third cache feeds more than one chain of sums
		{AVX512, GemmShape{0, 1536, 1536}, wide},
		{AVX512, GemmShape{7, 0, 0}, wide},
		{AVX2, GemmShape{12, 1536, 384}, GemmTile{6, 2}},
	} {
		core := CoreOf(&zen4, c.isa)
		if got := core.Tile(c.isa, GemmF32, c.shape); got != c.want {
			t.Errorf("%v: %v, want %v", c.shape, got, c.want)
		}
	}
}

// The same on Zen 5, whose third cache feeds a wide tile without being asked to.
func TestTileChoiceZen5(t *testing.T) {
	zen5 := cpuid.CPU{Arch: "zen5", Caches: cpuid.Caches{L1D: 48 << 10, L2: 1 << 20, L3: 32 << 20}}
	wide, tall := GemmTile{6, 4}, GemmTile{14, 2}
	testTileChoices(t, CoreOf(&zen5, AVX512), []tileChoice{
		{GemmF32, GemmShape{6, 384, 1536}, wide},
		{GemmF32, GemmShape{6, 1536, 384}, wide},
		{GemmF32, GemmShape{16, 384, 1536}, wide},
		{GemmF32, GemmShape{7, 384, 384}, tall}, // in the second cache
		{GemmF32, GemmShape{14, 1536, 384}, tall},
		{GemmF32, GemmShape{10, 4096, 4096}, tall}, // from memory
		{GemmF32, GemmShape{2048, 2048, 2048}, wide},
		{GemmBytes, GemmShape{14, 4096, 1024}, tall}, // half of the third cache is not always there
		{GemmBytes, GemmShape{7, 384, 384}, tall},
	})
}

type tileChoice struct {
	format GemmFormat
	shape  GemmShape
	want   GemmTile
}

func testTileChoices(t *testing.T, core Core, cases []tileChoice) {
	t.Helper()
	for _, c := range cases {
		if got := core.Tile(AVX512, c.format, c.shape); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.format, c.shape, got, c.want)
		}
	}
}

// With AVX2 products of f64 that read B but once fetch it.
func TestTileChoiceDoubles(t *testing.T) {
	cpu := cpuid.CPU{Arch: "zen3", Caches: cpuid.Caches{L1D: 32 << 10, L2: 512 << 10, L3: 32 << 20}}
	core := CoreOf(&cpu, AVX2)
	for shape, want := range map[GemmShape]GemmTile{
		{1, 2000, 2000}: {5, 2}, {5, 2000, 2000}: {5, 2}, {512, 512, 512}: {6, 2}, {1000, 384, 384}: {6, 2}, {4096, 2000, 2000}: {6, 2},
	} {
		if got := core.Tile(AVX2, GemmF64, shape); got != want {
			t.Errorf("%v: %v, want %v", shape, got, want)
		}
	}
	if got := core.Tile(AVX2, GemmF32, GemmShape{1, 2000, 2000}); got != (GemmTile{6, 2}) {
		t.Errorf("f32: %v", got)
	}
}

// Numbers of bf16 that are widened have few rows for one vector of B only where
// there are no more.
func TestTileChoiceWide(t *testing.T) {
	cpu := cpuid.CPU{Arch: "emeraldrapids", Caches: cpuid.Caches{L1D: 48 << 10, L2: 2 << 20, L3: 260 << 20}}
	core := CoreOf(&cpu, AVX512)
	for shape, want := range map[GemmShape]GemmTile{
		{1024, 1536, 192}: {14, 2}, {1024, 384, 768}: {14, 2}, {12, 1536, 192}: {14, 2}, {1, 1536, 768}: {6, 4},
	} {
		if got := core.Tile(AVX512, GemmWide, shape); got != want {
			t.Errorf("%v: %v, want %v", shape, got, want)
		}
	}
}

// Columns are fetched ahead, and results stored past the caches, where that was measured
// to gain.
func TestMeasuredCores(t *testing.T) {
	for _, c := range []struct {
		vendor string
		isa    asm.ISA
		want   bool
	}{{"GenuineIntel", AVX512, true}, {"GenuineIntel", AVX2, false}, {"AuthenticAMD", AVX512, false}} {
		cpu := cpuid.CPU{Vendor: c.vendor}
		if core := CoreOf(&cpu, c.isa); core.FarColumns != c.want || (core.Past > 0) != cpu.Intel() {
			t.Errorf("%s %v: %v and %d, want %v and for Intel alone", c.vendor, c.isa, core.FarColumns, core.Past, c.want)
		}
	}
}

// More rows than the first cache has ways, a little more or less than a multiple of a
// page apart, push each other out; those at whole lines do not, nor where few of a
// product's lines are results.
func TestTileChoiceCrowded(t *testing.T) {
	amx := cpuid.CPU{Arch: "graniterapids", Caches: cpuid.Caches{L1D: 48 << 10, L2: 2 << 20, L3: 480 << 20}}
	square, few := GemmTile{32, 2}, GemmTile{12, 4}
	testTileChoices(t, CoreOf(&amx, AVX512), []tileChoice{
		{GemmAMXBytes, GemmShape{2071, 2054, 16}, few},
		{GemmAMXBytes, GemmShape{2071, 2042, 16}, few},
		{GemmAMXBytes, GemmShape{4000, 1027, 16}, few},
		{GemmAMXBytes, GemmShape{2071, 3077, 32}, few},
		{GemmAMXBytes, GemmShape{2071, 2054, 63}, few},
		{GemmAMXBytes, GemmShape{2048, 2048, 16}, square},
		{GemmAMXBytes, GemmShape{2071, 2056, 32}, square},
		{GemmAMXBytes, GemmShape{3000, 1030, 375}, square},
		{GemmAMXBF16, GemmShape{2071, 3077, 63}, few},
		{GemmAMXBF16, GemmShape{2071, 2054, 125}, square},
		{GemmBytes, GemmShape{2071, 2054, 16}, GemmTile{6, 4}},
		{GemmBytes, GemmShape{2071, 2100, 16}, GemmTile{14, 2}},
	})
}

// The estimate grows with the work, whatever tile does it, and knows no shape
// that takes no time.
func TestTileCyclesGrow(t *testing.T) {
	for _, arch := range []string{"", "zen4", "zen5"} {
		cpu := cpuid.CPU{Arch: arch}
		for _, isa := range []asm.ISA{AVX512, AVX2} {
			core := CoreOf(&cpu, isa)
			for _, tile := range GemmTiles(isa, GemmF32) {
				last := 0.0
				for n := 1; n <= 3000; n = 2*n + 5 {
					cycles := core.cycles(isa, GemmF32, tile, GemmShape{n, n, n})
					if bound := float64(n) * float64(n) * float64(n) / float64(GemmLanes(isa)) / core.Multiplies; !(cycles > last) || cycles < bound {
						t.Errorf("%q %v %v: %v cycles for sizes of %d, after %v; at least %v", arch, isa, tile, cycles, n, last, bound)
					}
					last = cycles
				}
			}
		}
	}
}
