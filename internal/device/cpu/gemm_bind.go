package cpu

import (
	"weak"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

func (s *gemmStep) flags() []int64 { return s.status }

// Tasks is the number of tasks.
func (s *gemmStep) Tasks() int { return s.tasks() }

// bind fixes sizes, pointers and the way the work is cut.
func (k *gemmKernel) bind(r *binding) (jit.Step, error) {
	g := k.work
	n, err := r.sizeOf(g.BatchSize, g.Rows, g.Cols, g.K)
	if err != nil {
		return nil, err
	}
	s := &gemmStep{kernel: k, env: r.env, ptrs: r.ptrs, status: r.status}
	size := gemmSize{n[0], n[1], n[2], n[3]}
	kind := k.tiles
	if k.columns != nil {
		if s.places, err = k.places(r.env, size.k, size.cols); err != nil {
			return nil, err
		}
		if kind.form == x86.GemmPanels && s.places.worthDirect(size, x86.GemmLanes(kind.isa)) {
			kind.form = x86.GemmPlaces
		}
	}
	if k.mayPair(r.module.device) && worthPairs(size.k) {
		kind.format = x86.GemmPairs
	}
	if err := s.cut(r, kind, size); err != nil || s.tasks() == 0 {
		return s, err
	}
	fromB := r.numbers(k.constY) // before the values are read, which may change
	made, err := s.packedY(r)
	if err != nil {
		return nil, err
	}
	if s.tiles.Format == x86.GemmPairs && made.mem == nil {
		if err := s.cut(r, k.tiles, size); err != nil {
			return nil, err
		}
		if made, err = s.packedY(r); err != nil {
			return nil, err
		}
	}
	s.packedB, s.foundB, s.pairB = made.mem, made.found, made.pairs
	if form := k.packedForm(r, kind, size); s.packedB != nil && form != kind.form {
		kind.form = form
		if err := s.cut(r, kind, size); err != nil {
			return nil, err
		}
	}
	if err := s.shares(r); err != nil {
		return nil, err
	}
	switch {
	case s.commonB != nil:
		s.gemmPlan = s.plan(s.gemmSize, r.workers, s.packedB == nil)
	case s.packedB != nil:
		s.lastB, s.fromB = weak.Make(s.packedB), fromB
	default:
		if y := k.constY; len(y.sources(r)) > 0 && y.changes { // to be packed when a run finds it the same
			s.fromB = fromB
		}
		if s.directB = s.tiles.byPlaces() || k.yRows && !g.ConstY && !s.splits() && s.worthDirect(&r.module.device.core); !s.directB {
			s.gemmPlan = s.plan(s.gemmSize, r.workers, true)
		}
	}
	return s, s.memory(r)
}

// packedForm is the form of tiles for a Y that is packed once.
func (k *gemmKernel) packedForm(r *binding, kind tileKind, size gemmSize) x86.GemmForm {
	switch {
	case k.storesPast(r, size):
		return x86.GemmPast
	case k.fetchesNext(r.module.device, kind, size):
		return x86.GemmFetching
	}
	return kind.form
}

// fetchesNext tells whether tiles fetch what follows of a Y that is packed once.
func (k *gemmKernel) fetchesNext(d *Device, kind tileKind, size gemmSize) bool {
	return k.mayFetch(d, kind, size) && k.mayKeep(kind.format, size)
}

// mayFetch tells whether they may, as far as Y tells.
func (k *gemmKernel) mayFetch(d *Device, kind tileKind, size gemmSize) bool {
	return k.constY != nil && kind.form == x86.GemmPanels && d.core.FetchesNext(kind.isa, kind.format, k.shape(size))
}

// shape is the sizes of a product as those who choose tiles count them.
func (k *gemmKernel) shape(size gemmSize) x86.GemmShape {
	return x86.GemmShape{Rows: size.rows, Cols: size.cols, Steps: ceilDiv(size.k, k.format.Group())}
}

// cut chooses the tile and cuts the product.
func (s *gemmStep) cut(r *binding, kind tileKind, size gemmSize) (err error) {
	if s.tiles, err = kind.set(s.kernel.tile(r.module.device, kind, size, r.common != nil)); err != nil {
		return err
	}
	if s.linear, err = s.mayBeLinear(size); err != nil {
		return err
	}
	s.gemmPlan = s.plan(size, r.workers, false)
	if s.tasks() == 0 {
		return nil
	}
	return s.strides(r.module.device.core.L1)
}

// move puts new addresses into the parts' arguments; s.ptrs has them already. A
// packed Y is that of the last run where that was made of the same buffers; one that may
// change is packed, by binding anew, in the second run that finds it the same.
func (s *gemmStep) move(r *binding, moved bool) bool {
	if s.tasks() == 0 {
		return true
	}
	if s.unpaired != nil && s.pairsDue(r, s.unpaired) {
		return false
	}
	if y := s.kernel.constY; s.fromB != nil {
		same, packed := r.same(y, s.fromB), s.lastB != weak.Pointer[jit.Memory]{}
		if packed {
			s.packedB = s.lastB.Value()
		}
		if packed && (!same || s.packedB == nil) || !packed && same {
			return false
		}
		if !packed {
			s.fromB = r.numbers(y)
			y.again(s.fromB)
		}
	}
	if !moved {
		return true
	}
	if linear, err := s.mayBeLinear(s.gemmSize); err != nil || linear != s.linear {
		return false
	}
	if s.tiles.past() && !wordAligned(r.ptrs[s.kernel.out.Param]) {
		return false
	}
	for i := range s.workers {
		w := &s.workers[i]
		for _, c := range []*partCall{w.packX, w.packY, w.finish} {
			if c != nil && !c.move(r.ptrs) {
				return false
			}
		}
	}
	return true
}

// rest drops pointers: what is packed belongs to the weights.
func (s *gemmStep) rest() {
	if s.commonB == nil {
		s.packedB = nil
	}
	for i := range s.workers {
		g := &s.workers[i].args
		g.A, g.B, g.C, g.Ahead, g.Beside = nil, nil, nil, 0, 0
	}
}

// tile is the tile for a product. Parts are as wide as the tile for what cannot be
// split, by which they find the columns of that. What is packed once lies in the order in
// which it is read: with AVX2 the processor fetches that ahead, or GemmFetching. Results past the
// caches go in lines side by side.
func (k *gemmKernel) tile(d *Device, kind tileKind, size gemmSize, common bool) x86.GemmTile {
	if t := d.forced; t != (x86.GemmTile{}) && t.Fits(kind.isa, kind.format) && (!kind.format.Splits() || t.Vectors == oddTile(kind.format).Vectors) {
		return t
	}
	if kind.isa == x86.AVX2 && (k.work.ConstY || k.work.SteadyY || common) || kind.form == x86.GemmPast {
		return x86.GemmTiles(kind.isa, kind.format)[0]
	}
	return d.core.Tile(kind.isa, kind.format, k.shape(size))
}

// makeTiles makes the tile kernels that runs may choose, so that a length that is
// new to the program compiles nothing: few rows take other tiles than many.
func (k *gemmKernel) makeTiles(d *Device) error {
	const few = 64
	g := k.work
	low, high := g.Rows.Bounds()
	cols, fixedCols := g.Cols.Const()
	depth, fixedK := g.K.Const()
	tiles := map[x86.GemmTile]bool{}
	if fixedCols && fixedK || d.forced != (x86.GemmTile{}) {
		for rows := low; rows <= min(high, low+few); rows++ {
			tiles[k.tile(d, k.tiles, gemmSize{1, int(rows), cols, depth}, false)] = true
		}
		tiles[k.tile(d, k.tiles, gemmSize{1, int(high), cols, depth}, false)] = true
	} else {
		for _, t := range x86.GemmTiles(k.tiles.isa, k.tiles.format) {
			tiles[t] = true
		}
	}
	for _, kind := range k.otherKinds(d) {
		if _, err := kind.set(k.tile(d, kind, gemmSize{}, false)); err != nil {
			return err
		}
	}
	for t := range tiles {
		if _, err := k.tiles.set(t); err != nil {
			return err
		}
		if places := (tileKind{k.tiles.isa, k.tiles.format, x86.GemmPlaces}); k.columns != nil && k.tiles.form == x86.GemmPanels {
			if _, err := places.set(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherKinds are the kinds of tiles that runs may choose for what is packed once, which have
// one tile each.
func (k *gemmKernel) otherKinds(d *Device) (all []tileKind) {
	const most = 1 << 24
	g, t := k.work, k.tiles
	low, high := g.Rows.Bounds()
	_, wide := g.Cols.Bounds()
	least, deep := g.K.Bounds()
	if k.mayStorePast(d, gemmSize{1, int(high), int(wide), int(max(least, 1))}) {
		all = append(all, tileKind{t.isa, t.format, x86.GemmPast})
	}
	largest, smallest := gemmSize{1, int(low), int(min(wide, most)), int(min(deep, most))}, gemmSize{1, int(low), 1, int(least)}
	if k.mayFetch(d, t, largest) && k.mayKeep(t.format, smallest) {
		all = append(all, tileKind{t.isa, t.format, x86.GemmFetching})
	}
	if terms, fixed := g.K.Const(); k.mayPair(d) && (!fixed || worthPairs(terms)) {
		all = append(all, tileKind{t.isa, x86.GemmPairs, x86.GemmPanels})
	}
	return all
}

func (s *gemmStep) plan(size gemmSize, workers int, ownB bool) gemmPlan {
	cut := cutOf(s.tiles.Format)
	cut.dear = s.places != nil && !s.tiles.byPlaces()
	cut.whole = !cut.parts && (s.finish() == nil || s.handsOver())
	cut.past, cut.fetch = s.tiles.past(), s.tiles.fetching()
	return planGemm(size, cut, s.tiles.lanes, s.tiles.Tile, workers, ownB)
}

// strides evaluates those of operands that may be used in place, on a core with a first
// cache of l1 bytes.
func (s *gemmStep) strides(l1 int) (err error) {
	k := s.kernel
	both := func(p template.Plain, row, col *int) {
		if err == nil {
			*row, err = evalIndex(p.Row, s.env, 0)
		}
		if err == nil {
			*col, err = evalIndex(p.Col, s.env, 0)
		}
	}
	var one int
	if k.packX == nil || k.turnX != 0 && s.splits() {
		both(k.x, &s.rowX, &s.colX)
	}
	if k.packX == nil && !s.splits() {
		s.sizeX = k.work.Params[k.x.Param].DType.Size()
		s.copyX = !s.tiles.byColumns() && s.rowsCollide(l1) && s.cols > 2*s.width
		s.partX = s.k%s.group != 0 && s.tiles.Format.TakesPart(s.tiles.ISA)
		s.copyX = s.copyX || s.k%(s.group*s.chunk) != 0 && !s.partX // not to read behind the matrix
		s.copyX = s.copyX || s.tiles.byColumns() && s.spreads()
	}
	s.copyX = s.copyX || s.tiles.Format == x86.GemmWords
	if k.yRows || k.transpose != 0 {
		s.sizeY = k.work.Params[k.y.Param].DType.Size()
		both(k.y, &s.rowY, &s.colY)
	}
	if k.plainOut {
		both(k.out, &s.rowOut, &one)
	}
	if k.hasBeside {
		both(k.beside, &s.rowBeside, &one)
	}
	return err
}

// worthDirect tells whether B by rows is better read where it lies than packed.
func (s *gemmStep) worthDirect(core *x86.Core) bool {
	if s.cols <= s.width || s.rowPanels == 1 {
		return true // as good as packed, or read but once
	}
	if collides(s.word*s.rowY, s.kCut.block, fewWays) {
		return s.rows < core.DirectCrowded
	}
	return s.rows < core.DirectRows
}

// Rows a multiple of pageBytes apart compete for the same few lines of the
// first cache: it is indexed by the lower 12 bits of an address.
const (
	pageBytes = 4096
	fewWays   = 4 // half of those of the least associative first caches
)

// collides tells whether rows so many bytes apart want more than so many ways of the
// first cache.
func collides(stride, rows, ways int) bool {
	if stride == 0 {
		return false
	}
	low := stride & -stride // rows meet again after pageBytes/low of them
	return rows*min(low, pageBytes) > ways*pageBytes
}

// spreads tells whether the columns of X that a narrow tile takes, of each k a part of a
// line, fill the first cache: they come from beyond it again for each panel of B then, and
// to copy them is worth it for a few panels. A wide tile takes a line four times as seldom.
func (s *gemmStep) spreads() bool {
	const line = 64
	stride := s.sizeX * s.colX
	apart := max(line, min(stride&-stride, pageBytes))
	return s.tiles.ISA == x86.AVX2 && s.cols > 4*s.width && min(s.steps, s.kCut.block)*apart > fewWays*pageBytes
}

// rowsCollide tells whether the rows of X that a tile takes push each other out of the
// first cache, of l1 bytes, where they are to have half of its ways. Processors with AMX
// have 12, of which its tiles are to have 8.
func (s *gemmStep) rowsCollide(l1 int) bool {
	ways := max(fewWays, l1/pageBytes/2)
	if s.tiles.Format.AMX() {
		ways = 8
	}
	return collides(s.sizeX*s.rowX, s.tiles.Tile.Rows, ways)
}
