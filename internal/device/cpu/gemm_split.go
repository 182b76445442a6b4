package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// This file has products of f32 by AMX, which multiplies parts of numbers: see
// internal/emit/x86/gemm_split.go. Both operands are split where they lie or, where that
// has no kernel, brought into order as for other tiles before: B for each block of columns
// and of k, or once if it is constant, rows of A for each row panel. Rows of A by panels of B whose numbers
// parts do not hold well enough are multiplied as f32 instead, each alone, see
// gemm_apart.go: so no result hangs on other rows, or on columns of other panels.

// splitSet is the kernels that split, mapped.
type splitSet struct{ rows, panels, turned, columns uintptr }

// splitKernels are those of each format.
var splitKernels = map[x86.GemmFormat]func() (*splitSet, error){
	x86.GemmAMXThirds: newSplit(x86.GemmAMXThirds),
	x86.GemmAMXHalves: newSplit(x86.GemmAMXHalves),
}

func newSplit(f x86.GemmFormat) func() (*splitSet, error) {
	return sync.OnceValues(func() (*splitSet, error) {
		k, err := x86.EmitSplit(f)
		if err != nil {
			return nil, err
		}
		code, err := jit.Map(k.Code)
		if err != nil {
			return nil, err
		}
		set := &splitSet{rows: code.Entry(k.Rows), panels: code.Entry(k.Panels)}
		if f == x86.GemmAMXHalves {
			set.turned, set.columns = code.Entry(k.Turned), code.Entry(k.Columns)
		}
		return set, nil
	})
}

// oddTile is the tile for what is not multiplied by parts, as wide as that for them.
func oddTile(f x86.GemmFormat) x86.GemmTile {
	const rows = 14
	return x86.GemmTile{Rows: rows, Vectors: x86.GemmTiles(x86.AVX512, f)[0].Vectors}
}

// Products in parts have at least so many terms and columns, and in every run so
// many rows: fewer do not repay splitting the other operand. If that is constant, and
// in halves no larger than before, it is enough that a run may have so many.
const (
	partsTerms = 96
	partsRows  = 64
)

// splitFormat is how a product of f32 is by AMX, if it is: by what is known when it
// is compiled, so that a row has the same bits in all runs.
func (d *Device) splitFormat(g *template.Gemm) (f x86.GemmFormat, ok bool) {
	k, fixedK := g.K.Const()
	cols, fixedCols := g.Cols.Const()
	least, most := g.Rows.Bounds()
	if g.DType != ir.F32 || !fixedK || !fixedCols {
		return 0, false
	}
	for _, f := range []x86.GemmFormat{x86.GemmAMXHalves, x86.GemmAMXThirds} {
		if x86.HasGemm(d.target(), f, &d.has) && SplitPays(f, int(least), int(min(most, partsRows)), cols, k, newConstY(g, "") != nil) {
			return f, true
		}
	}
	return 0, false
}

// SplitPays tells whether a product of f32 of least to most rows is in a format that
// splits, where that is there and columns and terms never change: with a constant right
// operand, or one that may change from run to run.
func SplitPays(f x86.GemmFormat, least, most, cols, terms int, constant bool) bool {
	rows := least
	if constant && f == x86.GemmAMXHalves {
		rows = most
	}
	return terms >= partsTerms && cols >= partsTerms && rows >= partsRows
}

// splits tells whether operands are split.
func (s *gemmStep) splits() bool { return s.tiles.Format.Splits() }

// splitCols splits columns col0 to col1 of B for a block of k, whole panels but for the
// last of all. y is where B of this batch lies. What cannot be split there is packed first:
// pack does so from a column on, and says where.
func (s *gemmStep) splitCols(y, scratch, to unsafe.Pointer, kb, col0, col1 int, found []x86.Found, pack func(col int) (unsafe.Pointer, error)) error {
	k0, k1 := s.kStart(kb), s.kStart(kb+1)
	first, end := s.values(k0, k1)
	args := x86.SplitPanelsArgs{LDTo: uintptr(s.tiles.Format.PanelBytes(k1 - k0)), Chunks: uintptr((k1 - k0) / x86.SplitValues), Values: uintptr(end - first), Scratch: scratch}
	split := func(kernel uintptr, from unsafe.Pointer, col, end int) {
		before, panels := (col-col0)/x86.PackedCols, ceilDiv(end-col, x86.PackedCols)
		args.From, args.To, args.Found = from, unsafe.Add(to, before*int(args.LDTo)), &found[before]
		args.Panels, args.LastColumns = uintptr(panels), 1<<(end-col-(panels-1)*x86.PackedCols)-1
		jit.Call(kernel, unsafe.Pointer(&args))
	}
	k, col := s.kernel, col0
	switch whole := (col1 - col0) / x86.PackedCols * x86.PackedCols; {
	case k.split.columns == 0: // a format that is split from packed panels alone
	case k.yRows:
		args.LDFrom, args.Pitch = 4*x86.PackedCols, uintptr(4*s.rowY)
		for ; col < col1; col += x86.PanelsAhead * x86.PackedCols {
			next := min(col+x86.PanelsAhead*x86.PackedCols, col1)
			if args.Ahead = uintptr(y) + uintptr(4*(first*s.rowY+next)); next == col1 {
				args.Ahead = uintptr(y) + uintptr(4*(end*s.rowY+col0)) // the next block of k, where there may be none
			}
			split(k.split.panels, unsafe.Add(y, 4*(first*s.rowY+col)), col, next)
		}
		return nil
	case k.transpose != 0 && whole > 0 && args.Values%x86.PackedCols == 0:
		args.LDFrom, args.Pitch = uintptr(4*x86.PackedCols*s.colY), uintptr(4*s.colY)
		split(k.split.columns, unsafe.Add(y, 4*(first+col*s.colY)), col, col+whole)
		if col += whole; col == col1 {
			return nil
		}
	}
	from, err := pack(col)
	if err != nil {
		return err
	}
	args.LDFrom, args.Pitch = uintptr(4*x86.PackedCols*(k1-k0)), 4*x86.PackedCols
	split(k.split.panels, from, col, col1)
	return nil
}

// placeParts is placeB for operands that are split.
func (s *gemmStep) placeParts(w *gemmWorker, t, b area, y unsafe.Pointer, kb int) (unsafe.Pointer, error) {
	k0, k1 := s.kStart(kb), s.kStart(kb+1)
	col0, col1 := b.col0*s.width, min(b.col1*s.width, s.cols)
	first, end := col0/x86.PackedCols, ceilDiv(col1, x86.PackedCols)
	defer s.atParts(w, k0, k1)
	if s.packedB != nil {
		w.note(s.foundOf(b.batch0, kb)[first:end])
		return unsafe.Add(s.packedB.Pointer(), s.packedBatch(b.batch0)+s.packed(kb, col0)), nil
	}
	i, missing := s.slot(w, t, b, kb)
	parts, found := unsafe.Add(w.parts, i*s.keptBytes()), w.packed.found[i*len(w.panels):][:end-first]
	if missing {
		clear(found)
		err := s.splitCols(y, w.narrow, parts, kb, col0, col1, found, func(col int) (unsafe.Pointer, error) {
			if col == col0 {
				return w.b, s.packWhole(w, b, y, kb)
			}
			w.wholeK = 0
			return w.b, s.packCols(w.packY, b.batch0, y, kb, col, col1, w.b, s.slotBytes())
		})
		if err != nil {
			return nil, err
		}
	}
	w.note(found)
	return parts, nil
}

// note takes in what the numbers of a block's panels are.
func (w *gemmWorker) note(panels []x86.Found) {
	for i, found := range panels {
		w.panels[i] |= found
	}
}

// foundOf is what the numbers of a constant B's panels are in a block of k.
func (s *gemmStep) foundOf(batch, kb int) []x86.Found {
	panels := ceilDiv(s.cols, x86.PackedCols)
	return s.foundB[(batch%s.packedBatches()*s.kBlocks+kb)*panels:][:panels]
}

// atParts has the arguments say how the parts of B lie.
func (s *gemmStep) atParts(w *gemmWorker, k0, k1 int) {
	vector := s.tiles.Format.PanelBytes(k1 - k0)
	w.args.LDB, w.args.VectorB, w.args.PanelB = 4*x86.PackedCols, uintptr(vector), uintptr(vector*s.tiles.Tile.Vectors)
	w.args.SetK(s.tiles.Format.SplitSteps(k1 - k0))
}

// splitA splits a row panel of X in steps k0 to k1 and points the arguments at it; found
// has a word for each row.
func (s *gemmStep) splitA(w *gemmWorker, x unsafe.Pointer, b area, panel, k0, k1 int, found []x86.Found) error {
	r0, r1 := s.row(panel), s.row(panel+1)
	first, end := s.values(k0, k1)
	w.args.A, w.args.LDA = w.a, uintptr(4*s.strideA)
	w.args.FetchNothing(w.a)
	if s.splitTurned(w, x, b, panel, first, end, found) {
		return nil
	}
	from, pitch, err := s.rowsOfX(w, x, b.batch0, r0, r1, first, end)
	if err != nil {
		return err
	}
	args := x86.SplitRowsArgs{From: from, To: w.a, LDFrom: uintptr(pitch), LDTo: uintptr(4 * s.strideA), Rows: uintptr(r1 - r0), Found: &found[0]}
	args.SetWidth(end - first)
	jit.Call(s.kernel.split.rows, unsafe.Pointer(&args))
	if w.packX == nil { // a row panel as high follows, most likely
		w.args.FetchRows(s.tiles.Format, uintptr(from)+uintptr((s.row(1)-s.row(0))*pitch), pitch)
	}
	return nil
}

// splitTurned splits rows that lie by columns, if there is a kernel for so many, and has
// those fetched that follow: a row panel, or else the first one of the next block of k,
// if there is one.
func (s *gemmStep) splitTurned(w *gemmWorker, x unsafe.Pointer, b area, panel, first, end int, found []x86.Found) bool {
	r0, r1 := s.row(panel), s.row(panel+1)
	rows, values := r1-r0, end-first
	if w.packX == nil || x == nil || s.kernel.split.turned == 0 || rows%x86.PackedCols != 0 || values%x86.SplitValues != 0 {
		return false
	}
	at := func(row, k int) uintptr { return uintptr(4 * (row + k*s.colX)) }
	args := x86.SplitTurnedArgs{From: unsafe.Add(x, at(r0, first)), To: w.a, LDFrom: uintptr(4 * s.colX), LDTo: uintptr(4 * s.strideA),
		Squares: uintptr(rows / x86.PackedCols), Chunks: uintptr(values / x86.SplitValues), Found: &found[0], Scratch: w.narrow}
	jit.Call(s.kernel.split.turned, unsafe.Pointer(&args))
	next := at(r1, first)
	if panel+1 == b.row1 {
		next = at(s.row(b.row0), end)
	}
	w.args.FetchColumns(uintptr(x)+next, 4*s.colX, values, b.col1-b.col0)
	return true
}

// rowsOfX is where rows of X lie as f32 side by side, and the bytes from one to the
// next: they are turned or packed if they do not lie so.
func (s *gemmStep) rowsOfX(w *gemmWorker, x unsafe.Pointer, batch, r0, r1, first, end int) (from unsafe.Pointer, pitch int, err error) {
	const square = 16
	switch {
	case w.packX == nil:
		return unsafe.Add(x, 4*(r0*s.rowX+first)), 4 * s.rowX, nil
	case x != nil && r1-r0 >= square && end-first >= square:
		s.turnRows(w, unsafe.Add(x, 4*(r0+first*s.colX)), r1-r0, end-first)
	default:
		err = s.packRows(w.packX, w.narrow, batch, r0, r1, first, end)
	}
	return w.narrow, 4 * s.strideX, err
}

// turnRows writes rows that lie by columns, at least as many as a vector has lanes,
// of as many values at least. Squares at the ends overlap those before them.
func (s *gemmStep) turnRows(w *gemmWorker, from unsafe.Pointer, rows, values int) {
	n := s.lanes
	args := x86.TransposeArgs{LDSrc: uintptr(4 * s.colX), LDDst: uintptr(4 * s.strideX)}
	turn := func(row, k, count, down int) {
		args.Src, args.Dst = unsafe.Add(from, 4*(row+k*s.colX)), unsafe.Add(w.narrow, 4*(row*s.strideX+k))
		args.Count, args.Down = uintptr(count), uintptr(down)
		jit.Call(s.kernel.turnX, unsafe.Pointer(&args))
	}
	some := func(k, down int) {
		turn(0, k, rows/n, down)
		if rows%n > 0 {
			turn(rows-n, k, 1, down)
		}
	}
	some(0, values/n)
	if values%n > 0 {
		some(values-n, 1)
	}
}
