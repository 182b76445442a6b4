package cpu

import (
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/template"
)

// gemmSize is what one run of a product computes.
type gemmSize struct{ batch, rows, cols, k int }

// gemmPlan says how a product is cut. Cutting never changes a result: every
// element is the sum that template.Gemm describes, whoever computes it.
type gemmPlan struct {
	gemmSize
	kCut
	steps int // of k, with those that fill up the last chunk
	lanes int // of a vector
	width int // columns of a panel of B

	rowPanels int // of at most a tile's height each, as even as can be
	panels    int // of B; the last may be a tail
	kBlocks   int

	// A task is a part of the row panels times a part of the panels of one
	// product, or of batchPart products.
	batchPart        int
	rowParts, cParts int

	// Within a task, columns go in blocks that the second cache holds for one
	// block of k, rows in blocks of blockRows row panels.
	blockPanels, blockRows int
}

// kCut says how k is cut.
type kCut struct {
	group int  // values of k in a step, which is a lane
	word  int  // bytes of a lane
	chunk int  // steps that a tile kernel takes a multiple of: behind the last k they are filled up with zeros
	block int  // steps at most, whose products are one sum from zero; by AMX, where that goes on, steps between two visits
	aside int  // rows whose unfinished sums are kept aside
	held  int  // bytes of a block of columns of B, over all k, beyond which those of amxAside rows are; 0: never
	speed int  // times that of products by vectors, about
	size  int  // bytes of a step of a column of B packed as a whole
	extra int  // bytes of a column behind each of its blocks there
	wide  int  // panels of B to a block at most
	whole bool // up to wholePanels, where k is one block: no row panel of results is wanted again
	parts bool // operands are split
	dear  bool // B is packed number by number, so hardly ever twice
	past  bool // results are stored past the caches
	fetch bool // while a block of B is multiplied, the next one is fetched
}

// Blocks of products by AMX and of those in thirds are so short that the rows of a
// tile stay in the first cache beside what passes of B. Splitting B again for each
// thirdsAside rows takes 6 % of their time.
const (
	amxBlock    = 192
	thirdsBlock = 128
	thirdsAside = 512
	halvesBlock = 192
	halvesAside = 384
	halvesWide  = 48 // half as wide as those of others

	// By AMX a row panel takes B over all k, unless that is so much of it that the
	// second cache, of 2 MB, would not hold it for the next one.
	amxHeld  = 3 << 19
	amxAside = 256
)

// cutOf is how tile kernels of a format want k to be cut.
func cutOf(f x86.GemmFormat) kCut {
	switch {
	case f == x86.GemmAMXThirds:
		return kCut{group: 1, word: f.Word(), chunk: x86.SplitValues, block: thirdsBlock, aside: thirdsAside, speed: 2, size: 6, wide: maxBlock, parts: true}
	case f == x86.GemmAMXHalves:
		return kCut{group: 1, word: f.Word(), chunk: x86.SplitValues, block: halvesBlock, aside: halvesAside, speed: 3, size: 4, extra: 4, wide: halvesWide, parts: true}
	case f.AMX():
		// Sums of a row panel stay near, and B comes from the second cache as fast as
		// it is multiplied.
		return kCut{group: f.Group(), word: f.Word(), chunk: x86.GemmChunk, block: amxBlock, aside: 1, held: amxHeld, speed: 6, size: 4, wide: maxBlock}
	}
	chunk := 1
	if f == x86.GemmPairs {
		chunk = x86.PairsSteps
	}
	return kCut{group: f.Group(), word: f.Word(), chunk: chunk, block: template.SumBlock, aside: partialRows, speed: 1, size: f.Word(), wide: maxBlock}
}

// work scales limits that stand for a time.
func (c kCut) work(steps int) int { return c.speed * steps }

// Sizes of blocks; BenchmarkGemm reports what they reach.
const (
	bBlockBytes = 512 << 10 // of B, half of a second cache of 1 MB
	maxBlock    = 16        // panels, so that a row panel of results stays in the first cache
	wholePanels = 128       // the same where it need not: more take a call of the tile kernels too long
	pastBBytes  = 16 << 10  // of B where results go past the caches, half of a first cache of 32 KB
	fetchBBytes = 64 << 10  // of B where row panels fetch the next block together: it is there for all of them, and calls are few
	partialRows = 256       // rows whose unfinished sums are kept aside

	minTaskWork = 1_500_000 // steps of results, about 25 microseconds
	// minShare is enough for a worker that would have no task, for every format alike:
	// of few rows it is the reading of weights that is shared. Where these are in the
	// caches already, sharing 12 x 384 x 384 in bytes by AMX loses 0.7 microseconds.
	minShare       = minTaskWork / 8
	tasksPerThread = 8
	memoryRows     = 8   // with fewer rows, reading B takes longer than multiplying
	splitRows      = 48  // rows that make up for reading B again
	partsTask      = 192 // the same where operands are split, as multiplying is faster
	pastTask       = 576 // the same where results go past the caches: six rows of a tile, six times, of each sixteenth row
)

// planGemm cuts a product for a number of workers. ownB tells that each task
// packs the part of B that it needs.
func planGemm(s gemmSize, cut kCut, lanes int, tile x86.GemmTile, workers int, ownB bool) gemmPlan {
	p := gemmPlan{gemmSize: s, kCut: cut, steps: ceilDiv(s.k, cut.group*cut.chunk) * cut.chunk, lanes: lanes, width: lanes * tile.Vectors, batchPart: 1, rowParts: 1, cParts: 1}
	p.rowPanels = ceilDiv(s.rows, tile.Rows)
	p.panels = ceilDiv(s.cols, p.width)
	p.kBlocks = max(1, ceilDiv(p.steps, p.kCut.block))
	if p.batch == 0 || p.rowPanels == 0 || p.panels == 0 {
		return p
	}
	if p.whole && p.kBlocks == 1 {
		p.wide = wholePanels // in long rows, which memory takes faster
	}
	bytes := bBlockBytes
	switch {
	case p.past:
		bytes = pastBBytes
	case p.fetch && p.rowPanels > 1:
		bytes = fetchBBytes
	}
	most := min(p.panels, p.wide, max(1, bytes/(p.word*p.width*max(1, min(p.steps, p.kCut.block)))))
	p.blockPanels = ceilDiv(p.panels, ceilDiv(p.panels, most)) // as even as can be
	if p.held > 0 && p.word*p.width*p.steps*p.blockPanels > p.held {
		p.aside = amxAside
	}
	p.blockRows = max(1, p.aside/tile.Rows)
	if p.chunk > 1 {
		p.kCut.block = max(p.chunk, ceilDiv(p.steps, p.kBlocks*p.chunk)*p.chunk) // as even as can be
	}
	p.split(workers, ownB)
	return p
}

// split cuts the work into tasks: enough to keep workers busy to the end, none
// too small to be worth its start.
func (p *gemmPlan) split(workers int, ownB bool) {
	if workers < 2 {
		p.batchPart = p.batch
		return
	}
	work := float64(p.batch) * float64(max(p.rows, p.work(memoryRows))) * float64(p.cols) * float64(max(p.steps, 1))
	want := int(min(work/float64(p.work(minTaskWork)), float64(workers*tasksPerThread)))
	want = max(want, int(min(work/minShare, float64(workers))))
	if p.batch >= want {
		p.batchPart = max(1, p.batch/max(want, 1))
		return
	}
	minRows := splitRows
	switch {
	case p.parts:
		minRows = partsTask
	case p.past:
		minRows = pastTask
	}
	minRows = ceilDiv(minRows*p.rowPanels, p.rows) // in panels
	if ownB && want > 1 {
		p.cParts = p.ownParts(min(p.panels, ceilDiv(workers, p.batch)))
	}
	for p.batch*p.rowParts*p.cParts < want {
		rows, cols := p.rowPanels/(2*p.rowParts), p.panels/(2*p.cParts) // in each half
		// Rows are split again for each part of the columns, and columns for each part
		// of the rows, if they are not kept.
		if p.parts && p.tasks() >= workers && (rows < minRows || ownB && !p.keepable()) {
			return
		}
		if p.dear && ownB && cols == 0 && p.tasks() >= workers {
			return
		}
		switch {
		case rows >= minRows && !(p.dear && ownB && cols > 0):
			p.rowParts *= 2
		case cols > 0:
			p.cParts *= 2
		case rows > 0:
			p.rowParts *= 2
		default:
			return
		}
	}
}

// ownParts cuts the columns for workers that pack the part of B they need: so
// that rows of A that are read and columns of B that are packed, by all workers
// together, are fewest. Where it does not matter rows are cut, as other kernels
// cut them: then a worker reads what it wrote.
func (p *gemmPlan) ownParts(workers int) int {
	best := 1
	cost := func(parts int) int { return p.rows*parts + p.cols*ceilDiv(workers, parts) }
	for parts := 2; parts <= workers; parts++ {
		if cost(parts) < cost(best) {
			best = parts
		}
	}
	return best
}

// tasks is the number of tasks.
func (p *gemmPlan) tasks() int {
	if p.rowPanels == 0 || p.panels == 0 {
		return 0
	}
	return ceilDiv(p.batch, p.batchPart) * p.rowParts * p.cParts
}

// area is a task's part of a product.
type area struct {
	batch0, batch1 int
	row0, row1     int // row panels
	col0, col1     int // panels of B
}

func (p *gemmPlan) area(task int) area {
	row, rest := task%p.rowParts, task/p.rowParts
	col, batch := rest%p.cParts, rest/p.cParts
	return area{
		batch0: batch * p.batchPart, batch1: min(p.batch, (batch+1)*p.batchPart),
		row0: row * p.rowPanels / p.rowParts, row1: (row + 1) * p.rowPanels / p.rowParts,
		col0: col * p.panels / p.cParts, col1: (col + 1) * p.panels / p.cParts,
	}
}

// row is the first row of a row panel: the first ones have a row more, if all
// cannot be equal.
func (p *gemmPlan) row(panel int) int {
	return p.rows/p.rowPanels*panel + min(panel, p.rows%p.rowPanels)
}

// sameHeight counts the row panels from one to end that are as high as the
// first of them.
func (p *gemmPlan) sameHeight(panel, end int) int {
	if higher := p.rows % p.rowPanels; panel < higher {
		end = min(end, higher)
	}
	return end - panel
}

// kStart is the first step of a block of k.
func (p *gemmPlan) kStart(block int) int { return min(p.steps, block*p.kCut.block) }

// maxK is at least the steps of every block of k.
func (p *gemmPlan) maxK() int { return min(p.steps, p.kCut.block) + x86.GemmUnroll }

// values are the k of steps k0 to k1.
func (p *gemmPlan) values(k0, k1 int) (first, end int) {
	return k0 * p.group, min(p.k, k1*p.group)
}

// panelCols is the columns of a panel of packed B.
func (p *gemmPlan) panelCols() int { return x86.PackedBytes / p.word }

// packedCols is the columns that packed B has room for.
func (p *gemmPlan) packedCols() int { return ceilDiv(p.cols, p.panelCols()) * p.panelCols() }

// packed is where a column begins in B packed as a whole, in bytes: blocks of k
// one behind the other, in each panels of panelCols columns. The column is the
// first of a panel.
func (p *gemmPlan) packed(block, col int) int {
	k0, k1 := p.kStart(block), p.kStart(block+1)
	return (p.size*k0+p.extra*block)*p.packedCols() + col*(p.size*(k1-k0)+p.extra)
}

// packedLen is the bytes of B packed as a whole.
func (p *gemmPlan) packedLen() int { return p.packed(p.kBlocks, 0) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }
