package cpu

import (
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// columnsOf is how Y is packed from tables of where its rows and its columns begin, if it
// is f32 that lies so and does not change its place otherwise; nil if it is better packed
// by a part.
func columnsOf(g *template.Gemm, f template.Format) *template.Separate {
	if s, ok := g.SeparateY(); ok && f == template.Single && g.Y.DType == ir.F32 && !g.ConstY && !g.SteadyY {
		return &s
	}
	return nil
}

// places are those of a template.Separate's rows and columns in a run, in bytes from its
// base.
type places struct {
	rows []int
	cols loop.Values
}

func (k *gemmKernel) places(env ir.Env, rows, cols int) (*places, error) {
	const size = 4
	byRow, err := loop.ValuesOf(k.columns.Row, k.work.Inner, rows, env)
	if err != nil {
		return nil, err
	}
	byCol, err := loop.ValuesOf(k.columns.Col, k.work.Col, cols, env)
	if err != nil {
		return nil, err
	}
	o := &places{rows: make([]int, rows), cols: *byCol}
	for i := range o.rows {
		o.rows[i] = size * byRow.At(i)
	}
	for i := range o.cols.Begins {
		o.cols.Begins[i] *= size
	}
	o.cols.Step *= size
	return o, nil
}

// Rows of X that make up for packing columns whose vectors lie side by side: vectors that
// cross lines, as those of windows that are a number apart, are loaded in two parts for
// each row panel.
const (
	placedRows  = 32
	alignedRows = 64
	onceRows    = 6 // one row panel
)

// worthDirect tells whether tile kernels had better read columns where they lie.
func (o *places) worthDirect(s gemmSize, lanes int) bool {
	if s.k == 0 || o.cols.Step != 4 || o.cols.Length%lanes > 0 && o.cols.Length < s.cols {
		return false
	}
	if s.rows > placedRows && (s.rows > alignedRows || !o.aligned(4*lanes)) {
		return false
	}
	return s.rows <= onceRows || !o.pilesUp()
}

// pilesUp tells whether lines of one vector's rows push each other out of the second
// cache, so that each row panel brings them from beyond it: where channels are a multiple
// of some kilobytes apart.
func (o *places) pilesUp() bool {
	const line, sets, ways = 64, 1024, 8 // of 512 KB
	var lines [sets]int
	last := 1 // no line
	for _, at := range o.rows[:min(len(o.rows), template.SumBlock)] {
		n := at & -line
		if n == last {
			continue
		}
		last = n
		set := uint(n) / line % sets
		if lines[set]++; lines[set] > ways {
			return true
		}
	}
	return false
}

// aligned tells whether vectors lie a multiple of their bytes apart.
func (o *places) aligned(bytes int) bool {
	apart := func(at int) bool { return at%bytes != 0 }
	return !slices.ContainsFunc(o.rows, apart) && !slices.ContainsFunc(o.cols.Begins, apart)
}

// placesOfB sets where panels of B from a column on are, in steps from k0 on.
func (s *gemmStep) placesOfB(w *gemmWorker, y unsafe.Pointer, k0, col, panels int) unsafe.Pointer {
	vectors := s.tiles.Tile.Vectors
	w.vectors = w.vectors[:0]
	for v := range panels * vectors {
		w.vectors = append(w.vectors, uintptr(y)+uintptr(s.places.cols.At(min(col+v*s.lanes, s.cols-1))))
	}
	w.args.LDB, w.args.PanelB = uintptr(unsafe.Pointer(&s.places.rows[k0])), uintptr(8*vectors)
	return unsafe.Pointer(&w.vectors[0])
}

// pack writes columns col0 to col1, of rows k0 to k1, as panels so many bytes apart: see
// template.PackY. Columns that lie side by side are copied together.
func (o *places) pack(from, to unsafe.Pointer, panel, k0, k1, col0, col1 int) {
	const width = x86.PackedCols
	rows := o.rows[min(k0, len(o.rows)):min(k1, len(o.rows))]
	for first := col0; first < col1; first += width {
		end := min(first+width, col1)
		for col := first; col < end; {
			n := min(end-col, o.cols.Length-col%o.cols.Length) // of a run
			if o.cols.Step != 4 && n > 1 {
				copyApart(unsafe.Add(to, 4*(col-first)), unsafe.Add(from, o.cols.At(col)), rows, n, o.cols.Step)
				col += n
				continue
			}
			for _, part := range []int{16, 8, 4, 2, 1} {
				if n&part != 0 {
					copySideBySide(unsafe.Add(to, 4*(col-first)), unsafe.Add(from, o.cols.At(col)), rows, part)
					col += part
				}
			}
		}
		to = unsafe.Add(to, panel)
	}
}

// Numbers are copied as words, as the compiler moves those by registers.
type (
	four  struct{ a, b uint64 }
	eight struct{ a, b, c, d uint64 }
)

// copySideBySide copies n numbers of each row, a power of two of at most a panel's, to
// rows of a panel.
func copySideBySide(to, from unsafe.Pointer, rows []int, n int) {
	const next = 4 * x86.PackedCols
	switch n {
	case 16:
		for _, row := range rows {
			at := unsafe.Add(from, row)
			a, b := *(*eight)(at), *(*eight)(unsafe.Add(at, 32))
			*(*eight)(to), *(*eight)(unsafe.Add(to, 32)) = a, b
			to = unsafe.Add(to, next)
		}
	case 8:
		for _, row := range rows {
			*(*eight)(to) = *(*eight)(unsafe.Add(from, row))
			to = unsafe.Add(to, next)
		}
	case 4:
		for _, row := range rows {
			*(*four)(to) = *(*four)(unsafe.Add(from, row))
			to = unsafe.Add(to, next)
		}
	case 2:
		for _, row := range rows {
			*(*uint64)(to) = *(*uint64)(unsafe.Add(from, row))
			to = unsafe.Add(to, next)
		}
	default:
		for _, row := range rows {
			*(*uint32)(to) = *(*uint32)(unsafe.Add(from, row))
			to = unsafe.Add(to, next)
		}
	}
}

// copyApart copies n numbers of each row that lie apart, two at a time.
func copyApart(to, from unsafe.Pointer, rows []int, n, apart int) {
	const next = 4 * x86.PackedCols
	for _, row := range rows {
		for j := 0; j+1 < n; j += 2 {
			a, b := *(*uint32)(unsafe.Add(from, row+j*apart)), *(*uint32)(unsafe.Add(from, row+(j+1)*apart))
			*(*uint64)(unsafe.Add(to, 4*j)) = uint64(a) | uint64(b)<<32
		}
		if n%2 != 0 {
			*(*uint32)(unsafe.Add(to, 4*(n-1))) = *(*uint32)(unsafe.Add(from, row+(n-1)*apart))
		}
		to = unsafe.Add(to, next)
	}
}
