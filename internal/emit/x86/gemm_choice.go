package x86

import (
	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// Core is what the choice of a tile knows of a processor core. Rates are a
// cycle. `sinter bench gemm --assert` compares what follows with the clock.
type Core struct {
	Multiplies float64 // vectors multiplied and added
	Loads      float64 // vectors loaded, broadcasts among them
	Latency    float64 // cycles from a multiply-add to the next into the same sums
	L1, L2, L3 int     // bytes

	// Bytes of B that arrive from beyond the first cache. From memory one stream
	// is faster than several.
	FromL2, FromL3, FromMemory, OneStream float64

	// From the third cache: the part of the time for B that is not hidden, and of its
	// rate where the next panel is fetched.
	ExposedL3, FetchedL3 float64

	// Rows of A that make up for packing a B that lies by rows, and where its rows compete
	// for lines of the first cache. BenchmarkGemmForms and BenchmarkGemmTraining compare.
	DirectRows, DirectCrowded int

	// FarColumns tells that lines of a left operand that lies by columns had better be
	// fetched ahead: see GemmFarColumns.
	FarColumns bool

	// Past is the bytes of results from which on two threads and fewer StoresPast; 0: never.
	Past int
}

// CoreOf describes a processor's core. Zen 4 splits 512-bit operations in two;
// its rates from the caches are measured, and stand for others too, as none of
// their orders hangs on them, but for Zen 5, which was measured as well: it brings
// more from the third cache ahead by itself than where panels are fetched, and reads
// rows as fast as panels for up to a thousand rows of A.
func CoreOf(cpu *cpuid.CPU, isa asm.ISA) Core {
	c := Core{
		Multiplies: 2, Loads: 2, Latency: 4,
		L1: cpu.Caches.L1D, L2: cpu.Caches.L2, L3: cpu.Caches.L3,
		FromL2: 32, FromL3: 21, FromMemory: 8, OneStream: 12,
		ExposedL3: exposed, FetchedL3: fetchedRate,
		DirectRows: 48,
	}
	switch {
	case cpu.Intel():
		// Measured on an Emerald Rapids, and on no Zen. By AVX2, whose tiles have copies where
		// that matters, nothing is gained from columns fetched ahead.
		c.FarColumns = isa == asm.AVX512
		// Its third cache of 260 MB, shared by many, keeps some 20 MB for one core. A product and
		// what then reads its results take 1.5 times as long for 8 MB, 1.0 to 1.3 for 25 and 0.9 for 50
		// if these were in it from the run before, else 1.0, 0.9 and 0.85.
		c.Past = 16 << 20
	case isa == asm.AVX512 && cpu.Arch == "zen4":
		c.Multiplies, c.Loads = 1, 1
	case cpu.Arch == "zen5":
		c.FromL3, c.FromMemory, c.ExposedL3, c.FetchedL3 = 26, 10, 0.3, 0.5
		c.DirectRows, c.DirectCrowded = 1025, 1025
		if isa == asm.AVX2 {
			c.DirectCrowded = 129
		}
	}
	for size, usual := range map[*int]int{&c.L1: 32 << 10, &c.L2: 1 << 20, &c.L3: 32 << 20} {
		if *size == 0 {
			*size = usual
		}
	}
	return c
}

// GemmShape is the sizes of a product, with K in steps.
type GemmShape struct{ Rows, Cols, Steps int }

// What BenchmarkGemmPast of the device reports of an Emerald Rapids: products of 10 steps of
// bytes and 8 of f32 take 0.7 of their time, of 16 up to 0.9, of more no less.
const (
	PastSteps = 16
	PastRows  = 192 // as a tile has each 16th
	PastCols  = 256 // as some at both ends of a row lie in no whole line
)

// StoresPast tells whether the results of a product, of which nothing else becomes, had
// better go past the caches, see GemmPast. More threads than two have more of the third
// cache, up to half of it.
func (c *Core) StoresPast(isa asm.ISA, f GemmFormat, s GemmShape, threads int) bool {
	least := max(c.Past, min(c.Past/2*threads, c.L3/2))
	few := (f == GemmBytes || f == GemmF32) && s.Steps > 0 && s.Steps <= PastSteps
	return few && isa == asm.AVX512 && c.Past > 0 && s.Rows >= PastRows && s.Cols >= PastCols && f.Word()*s.Rows*s.Cols >= least
}

// fetchingPanels is the row panels of a product up to which FetchesNext.
const fetchingPanels = 12

// FetchesNext tells whether a product by panels that are packed had better fetch the next
// one, see GemmFetching: where they come from beyond the second cache, and rows are so few
// that they wait for them. On a Zen 3 products of MiniLM with 12 rows take 0.75 of their
// time, with 48 0.9, with 72 0.96, and with more no less.
func (c *Core) FetchesNext(isa asm.ISA, f GemmFormat, s GemmShape) bool {
	few := s.Rows <= fetchingPanels*GemmTiles(isa, f)[0].Rows
	return isa == asm.AVX2 && (f == GemmF32 || f == GemmWide) && few && f.Word()*s.Cols*s.Steps > c.L2/2
}

// GemmTiles are the candidates for the tile of a product. The first is for
// products of many rows; it comes first where two are as good.
func GemmTiles(isa asm.ISA, f GemmFormat) []GemmTile {
	if f.AMX() {
		switch f {
		case GemmAMXThirds: // splitting panels takes as long as what is saved by wider ones
			return []GemmTile{{2 * amxRows, 2}}
		case GemmAMXHalves: // two sums each
			return []GemmTile{{2 * amxRows, 1}}
		}
		// All registers of sums in a square, or in a row where that has all rows, or
		// where rows of results crowd.
		return []GemmTile{{2 * amxRows, 2}, {amxRows, 4}, {crowdedRows, 4}}
	}
	if isa == asm.AVX512 {
		// Few and wide rows for many, for up to 14 rows one pass over B, and one
		// stream of it where there is hardly more to do than read it.
		return []GemmTile{{6, 4}, {14, 2}, {3, 1}}
	}
	if f == GemmF64 { // and one that fetches, for few rows: two passes of it would be slower than one without
		return []GemmTile{{6, 2}, {5, 2}}
	}
	return []GemmTile{{6, 2}}
}

// fetches tells whether tile kernels fetch the next panel of B into the second
// cache meanwhile. It pays where B comes from beyond it: in one pass, which is
// what tall tiles are for; where B is there already the others are as good. By AVX2 it
// takes 5 % of a product of many rows in f64, and halves the time of four that are
// multiplied by what lies in memory. Kernels by pairs fetch in a way of their own.
func (t GemmTile) fetches(isa asm.ISA, f GemmFormat) bool {
	if isa == asm.AVX2 {
		return f == GemmF64 && t.Rows < GemmTiles(isa, f)[0].Rows
	}
	return isa == asm.AVX512 && !f.AMX() && t.Vectors == 2
}

// Tile is the candidate that takes the fewest cycles for a product of a format.
func (c *Core) Tile(isa asm.ISA, f GemmFormat, s GemmShape) GemmTile {
	all := GemmTiles(isa, f)
	best, least := all[0], 0.0
	if len(all) == 1 || s.Rows < 1 || s.Cols < 1 || s.Steps < 1 {
		return best
	}
	if isa == asm.AVX2 { // one reads B but once, the other is for all else
		if s.Rows <= all[1].Rows {
			return all[1]
		}
		return best
	}
	for i, t := range all {
		if cycles := c.cycles(isa, f, t, s); i == 0 || cycles < least {
			best, least = t, cycles
		}
	}
	return best
}

// Parts of the time to bring B that are not hidden behind multiply-adds, of the
// shorter of the two: from beyond the second cache, there if the next panel is
// fetched, and from the second cache. Fetching itself slows the stream.
const (
	exposed        = 0.6
	exposedFetched = 0.15
	exposedNear    = 0.1
	fetchedRate    = 0.75
)

// Cycles beside the steps of a tile: of each accumulator, to clear and store it,
// and of each tile.
const (
	accumulatorCycles = 2
	tileCycles        = 20
)

// Rows of results that lie a little more or less than a multiple of a page apart share a
// few sets of lines of the first cache, as these go by the lower 12 bits of an address.
// If a tile has more of them than the cache has ways, they push lines out of which the
// tile has written a part, and the next one is to write the rest: cycles of each.
const (
	page          = 4096
	crowdedOff    = 32 // bytes off the multiple
	crowdedCycles = 5
	crowdedRows   = 12 // ways of the first caches of processors with AMX
)

// crowds tells whether a tile's rows of results push each other out.
func (c *Core) crowds(f GemmFormat, t GemmTile, cols int) bool {
	off := f.Word() * cols % page
	off = min(off, page-off)
	return t.Rows > c.L1/page && off > 0 && off < crowdedOff
}

// fetchSlows is what fetching adds to a step where B is near already.
const fetchSlows = 1.03

// cycles estimates the time of a product in a tile: row panels, each a pass over
// B, of which the first brings it from where it lies.
func (c *Core) cycles(isa asm.ISA, f GemmFormat, t GemmTile, s GemmShape) float64 {
	lanes, word := f.Lanes(isa), f.Word()
	vectors := (s.Cols + lanes - 1) / lanes
	panels := (s.Rows + t.Rows - 1) / t.Rows
	low, tall := s.Rows/panels, s.Rows%panels // tall panels have a row more
	bytes := float64(vectors) * float64(lanes*word) * float64(s.Steps)
	rate, shown, fetched := c.FromMemory, exposed, fetchedRate
	switch {
	case bytes <= float64(c.L2)*5/8:
		rate, shown = c.FromL2, exposedNear
	case bytes <= float64(c.L3)*3/8:
		rate, shown, fetched = c.FromL3, c.ExposedL3, c.FetchedL3
	case t.Vectors == 1:
		rate = c.OneStream
	}
	if t.fetches(isa, f) && rate < c.FromL2 {
		rate, shown = rate*fetched, exposedFetched
	}
	pass := func(rows int, rate, exposed float64) float64 {
		work := c.compute(isa, f, t, rows, vectors, s.Steps)
		read := bytes / rate
		return max(work, read) + exposed*min(work, read)
	}
	cycles := pass(low+min(tall, 1), rate, shown)
	if c.crowds(f, t, s.Cols) {
		const line = 64
		cycles += crowdedCycles * float64(s.Rows) * float64(s.Cols) * float64(word) / line
	}
	if tall > 1 {
		cycles += float64(tall-1) * pass(low+1, c.FromL2, exposedNear)
	}
	return cycles + float64(panels-max(tall, 1))*pass(low, c.FromL2, exposedNear)
}

// compute is the cycles of a row panel whose operands are in the first cache,
// but for rows of A that fill it: they come from the second for each tile.
func (c *Core) compute(isa asm.ISA, f GemmFormat, t GemmTile, rows, vectors, steps int) float64 {
	tile := func(vectors int) float64 {
		if vectors == 0 {
			return 0
		}
		if f.AMX() {
			return c.amxTile(GemmTile{rows, vectors}, steps)
		}
		sums := float64(rows * vectors)
		step := max(sums/c.Multiplies, float64(rows+vectors)/c.Loads, c.Latency)
		if f == GemmWide { // its two halves, for which vectors of B are taken apart where others are multiplied
			step = max(2*(sums+float64(vectors))/c.Multiplies, 2*float64(rows+vectors)/c.Loads, 2*c.Latency)
		}
		if t.fetches(isa, f) {
			step *= fetchSlows
		}
		const block = 512 // steps that a tile does at once
		if rows*min(steps, block)*f.StepA() > c.L1/2 {
			const streams = 2 // times FromL2: rows follow one another
			step += float64(rows*f.StepA()) / (streams * c.FromL2)
		}
		return float64(steps)*step + accumulatorCycles*sums + tileCycles
	}
	return float64(vectors/t.Vectors)*tile(t.Vectors) + tile(vectors%t.Vectors)
}

// amxTile is the cycles of a tile by AMX whose operands are in the first cache. An
// instruction takes one for each row of A, but ten at least; tiles are loaded line
// by line.
func (c *Core) amxTile(t GemmTile, steps int) float64 {
	const least, start = 10, 60
	multiply := 0
	for _, rows := range t.heights() {
		multiply += t.Vectors * max(rows+1, least)
	}
	load := float64(t.Rows+t.Vectors*GemmChunk) / c.Loads
	chunks := (steps + GemmChunk - 1) / GemmChunk
	return float64(chunks)*max(float64(multiply), load) + float64(t.Rows*t.Vectors) + start
}
