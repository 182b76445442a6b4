package cpu

import (
	"encoding/binary"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// placeA points the arguments at rows r0 to r1 of X in steps k0 to k1, packed
// where that is needed. Packed rows are filled up to whole steps with zeros: B
// has zeros there too, but what else would be read may be no number.
func (s *gemmStep) placeA(w *gemmWorker, x unsafe.Pointer, batch, r0, r1, k0, k1 int) error {
	if k0 == k1 {
		return nil // nothing is read, and X may lie nowhere
	}
	tiles := s.tiles
	first, end := s.values(k0, k1)
	var from unsafe.Pointer
	pitch := 0 // bytes from row to row
	switch {
	case w.packX != nil && tiles.byColumns():
		return s.packTurned(w, w.a, batch, r0, r1, r1-r0, k0, k1)
	case w.packX != nil && s.kernel.turnX != 0:
		return s.turnTurned(w, batch, r0, r1, k0, k1)
	case w.packX != nil:
		from, pitch = w.a, s.word*s.strideA
		if s.copyX {
			from = w.narrow
		}
		if err := s.packRows(w.packX, from, batch, r0, r1, first, end); err != nil {
			return err
		}
	case tiles.byColumns():
		w.args.A, w.args.LDA = unsafe.Add(x, s.word*(r0*s.rowX+k0*s.colX)), uintptr(s.word*s.colX)
		if s.copyX {
			copyColumns(w.a, w.args.A, s.word*s.colX, s.word/4*(r1-r0), k1-k0)
			w.args.A, w.args.LDA = w.a, uintptr(s.word*(r1-r0))
		}
		return nil
	default:
		from, pitch = unsafe.Add(x, s.sizeX*(r0*s.rowX+first)), s.sizeX*s.rowX
	}
	w.args.A, w.args.LDA = from, uintptr(pitch)
	w.args.FetchNothing(from)
	if w.packX == nil { // a row panel as high follows, most likely
		w.args.FetchRows(tiles.Format, uintptr(from)+uintptr((s.row(1)-s.row(0))*pitch), pitch)
	}
	if !s.copyX {
		return nil
	}
	w.args.A, w.args.LDA = w.a, uintptr(s.word*s.strideA)
	bytes, widened := (end-first)*s.word/s.group, 0
	if tiles.Format == x86.GemmWords {
		widened = s.widen(w.a, from, pitch, r1-r0, bytes)
	}
	for r := range r1 - r0 {
		row := unsafe.Slice((*byte)(unsafe.Add(from, r*pitch)), bytes)
		to := unsafe.Slice((*byte)(unsafe.Add(w.a, s.word*r*s.strideA)), (k1-k0)*tiles.Format.StepA())
		if tiles.Format == x86.GemmWords {
			widenBytes(to[2*widened:], row[widened:])
		} else {
			clear(to[copy(to, row):])
		}
	}
	return nil
}

// keepsRows tells that packed rows stay for all columns of a task: where blocks of these are
// small, to pack them for each would take longer than to multiply them.
func (s *gemmStep) keepsRows() bool { return s.tiles.fetching() && s.kernel.packX != nil }

// maxKept is the bytes of rows that may stay: the second cache holds them beside B.
const maxKept = 256 << 10

// mayKeep tells whether rows may stay, where they are packed.
func (k *gemmKernel) mayKeep(f x86.GemmFormat, size gemmSize) bool {
	return k.packX == nil || size.rows*size.k*f.StepA()/f.Group() <= maxKept
}

// keptRows is the bytes of a row panel that stays, in a block of k, and keptPanels how many
// of those a task has.
func (s *gemmStep) keptRows() int   { return s.word * s.tiles.Tile.Rows * s.strideA }
func (s *gemmStep) keptPanels() int { return s.kBlocks * ceilDiv(s.rowPanels, s.rowParts) }

// placeKept is placeA for a row panel in a block of k that stays.
func (s *gemmStep) placeKept(w *gemmWorker, t, b area, panel, kb int) error {
	to := unsafe.Add(w.a, ((panel-t.row0)*s.kBlocks+kb)*s.keptRows())
	w.args.A, w.args.LDA = to, uintptr(s.word*s.strideA)
	if b.col0 > t.col0 {
		return nil
	}
	first, end := s.values(s.kStart(kb), s.kStart(kb+1))
	return s.packRows(w.packX, to, b.batch0, s.row(panel), s.row(panel+1), first, end)
}

// widen does what widenBytes does with as many bytes of each row as it returns.
func (s *gemmStep) widen(to, from unsafe.Pointer, pitch, rows, bytes int) int {
	blocks := bytes / x86.WidenBlock
	if rows > 0 && blocks > 0 {
		args := x86.WidenArgs{From: from, To: to, LDFrom: uintptr(pitch), LDTo: uintptr(s.word * s.strideA), Rows: uintptr(rows), Blocks: uintptr(blocks)}
		jit.Call(s.kernel.widenX, unsafe.Pointer(&args))
	}
	return blocks * x86.WidenBlock
}

// maxTurned is the rows of X that are packed by columns at once: whole vectors of
// them, and whole row panels of the tile for many rows.
const maxTurned = 48

// packTurned runs the part that writes rows of X by columns, so many lanes apart.
func (s *gemmStep) packTurned(w *gemmWorker, to unsafe.Pointer, batch, r0, r1, stride, k0, k1 int) error {
	c := w.packX
	w.args.A, w.args.LDA = to, uintptr(s.word*stride)
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.EndRow, r1)
	c.set(template.FirstK, k0)
	c.set(template.EndK, k1)
	c.set(template.Stride, stride)
	c.panel(to, s.word*stride*(k1-k0))
	return c.run(0, ceilDiv(r1-r0, template.TurnedRows))
}

// turnTurned is the same for tiles that take rows: what the part wrote is turned
// back, lane by lane, which is faster than to gather rows.
func (s *gemmStep) turnTurned(w *gemmWorker, batch, r0, r1, k0, k1 int) error {
	stride := ceilDiv(r1-r0, s.lanes) * s.lanes
	there := min(k1, max(k0, ceilDiv(s.k, s.group)))
	if err := s.packTurned(w, w.narrow, batch, r0, r1, stride, k0, there); err != nil {
		return err
	}
	clear(unsafe.Slice((*uint32)(unsafe.Add(w.narrow, 4*stride*(there-k0))), stride*(k1-there)))
	args := x86.TransposeArgs{Src: w.narrow, Dst: w.a, LDSrc: uintptr(4 * stride), LDDst: uintptr(4 * s.strideA), Count: uintptr(stride / s.lanes), Down: uintptr(ceilDiv(k1-k0, s.lanes))}
	jit.Call(s.kernel.turnX, unsafe.Pointer(&args))
	w.args.A, w.args.LDA = w.a, uintptr(4*s.strideA)
	w.args.FetchNothing(w.a)
	return nil
}

// copyColumns copies some 32-bit words of each step, which lie pitch bytes apart, to lie
// behind each other. Arrays would be shorter to write, but copying those took what
// BenchmarkGemmTraining gains by the copy.
func copyColumns(to, from unsafe.Pointer, pitch, words, steps int) {
	switch words {
	case 6: // heights of most row panels
		for k := range steps {
			to, from := unsafe.Add(to, 24*k), unsafe.Add(from, pitch*k)
			a, b, c := *(*uint64)(from), *(*uint64)(unsafe.Add(from, 8)), *(*uint64)(unsafe.Add(from, 16))
			*(*uint64)(to), *(*uint64)(unsafe.Add(to, 8)), *(*uint64)(unsafe.Add(to, 16)) = a, b, c
		}
	case 5:
		for k := range steps {
			to, from := unsafe.Add(to, 20*k), unsafe.Add(from, pitch*k)
			a, b, c := *(*uint64)(from), *(*uint64)(unsafe.Add(from, 8)), *(*uint32)(unsafe.Add(from, 16))
			*(*uint64)(to), *(*uint64)(unsafe.Add(to, 8)), *(*uint32)(unsafe.Add(to, 16)) = a, b, c
		}
	case 12: // the same of 64 bits
		for k := range steps {
			to, from := unsafe.Add(to, 48*k), unsafe.Add(from, pitch*k)
			a, b := *(*four)(from), *(*eight)(unsafe.Add(from, 16))
			*(*four)(to), *(*eight)(unsafe.Add(to, 16)) = a, b
		}
	case 10:
		for k := range steps {
			to, from := unsafe.Add(to, 40*k), unsafe.Add(from, pitch*k)
			a, b := *(*uint64)(from), *(*eight)(unsafe.Add(from, 8))
			*(*uint64)(to), *(*eight)(unsafe.Add(to, 8)) = a, b
		}
	default:
		for k := range steps {
			for i := range words {
				*(*uint32)(unsafe.Add(to, 4*(words*k+i))) = *(*uint32)(unsafe.Add(from, pitch*k+4*i))
			}
		}
	}
}

// packRows runs the part that writes rows of X, and fills up the last chunk.
func (s *gemmStep) packRows(c *partCall, to unsafe.Pointer, batch, r0, r1, first, end int) error {
	size := s.word / s.group // of an element
	if s.tiles.Format == x86.GemmWide {
		size = 4
	}
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.FirstK, first)
	c.set(template.EndK, end)
	stride := s.strideA
	if s.splits() {
		stride = s.strideX
	}
	c.set(template.Stride, s.word*stride/size)
	c.panel(to, s.word*s.tiles.Tile.Rows*stride)
	whole := s.group * s.chunk
	if err := c.run(r0, r1); err != nil || (end-first)%whole == 0 || s.splits() {
		return err
	}
	for r := range r1 - r0 {
		row := unsafe.Slice((*byte)(unsafe.Add(to, s.word*r*s.strideA)), size*whole*ceilDiv(end-first, whole))
		clear(row[(end-first)*size:])
	}
	return nil
}

// widenBytes makes steps of GemmWords: of every four bytes the first and third
// as words, then the second and fourth. The last step is filled up with zeros.
func widenBytes(to, from []byte) {
	const even, low = 0x00FF00FF_00FF00FF, 1<<32 - 1
	for len(from) >= 8 && len(to) >= 16 {
		eight := binary.LittleEndian.Uint64(from)
		x, y := eight&even, eight>>8&even
		binary.LittleEndian.PutUint64(to, x&low|y<<32)
		binary.LittleEndian.PutUint64(to[8:], x>>32|y&^low)
		from, to = from[8:], to[16:]
	}
	if len(from) > 0 {
		var last [8]byte
		var words [16]byte
		copy(last[:], from)
		widenBytes(words[:], last[:])
		copy(to, words[:])
	}
}
