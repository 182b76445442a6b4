package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Operands by number; results have those of their operands.
const (
	ofQ = iota
	ofK
	ofV
	ofDOut
)

// gradientMemory is an operand or a result that lies in memory as it is, if it
// does.
type gradientMemory struct {
	rowsAt
	element int  // bytes of one
	inPlace bool // as the tile kernels take it
}

func (m *gradientMemory) strides(env ir.Env) (strides, error) {
	return m.rowsAt.strides(env, m.element)
}

// findRows finds operands and results that lie in memory as they are. Operands
// are used in place if they are f32, and whole vectors where they may have to be
// tested for what is not finite.
func (k *gradientKernel) findRows() {
	t := k.work
	for i := range k.operands {
		m := &k.operands[i]
		var d ir.DType
		m.PlainRows, d, m.plain = t.PlainOperand(i)
		whole := k.wide == t.Width
		switch i {
		case ofV:
			whole = true
		case ofDOut:
			whole = k.wideV == t.VWidth
		}
		m.element, m.inPlace = d.Size(), m.plain && d == ir.F32 && whole
	}
	for i := range k.results {
		m := &k.results[i]
		var d ir.DType
		m.PlainRows, d, m.plain = t.PlainResult(i)
		m.element = d.Size()
	}
}

// gradientRows is rows of an operand in a block: in memory as they are, or a
// copy.
type gradientRows struct {
	at             unsafe.Pointer
	stride, n      int // elements from row to row, rows
	tested, finite bool
}

// inPlace is n rows from position i of a sequence on, or among all.
func (s *gradientStep) inPlace(of int, u *gradientUnit, head, i, start, n int) gradientRows {
	if s.work.Attr.Ragged {
		i += start
	}
	return gradientRows{at: s.at[of].row0(s.ptrs, u.seq, head, i), stride: s.at[of].row, n: n}
}

// startKeys packs a block of keys and values, and clears their gradients.
func (s *gradientStep) startKeys(w *gradientWorker, u *gradientUnit, block keyRange) error {
	t, n := s.work, block.to-block.from
	rows := keyRange{u.k0 + block.from, u.k0 + block.to}
	if s.operands[ofK].inPlace {
		w.rowsK = s.inPlace(ofK, u, u.kvHead, block.from, u.k0, n)
	} else {
		w.rowsK = gradientRows{at: w.copies[0], stride: s.wide, n: n}
		if err := rowsPart(w.copyK, u, u.kvHead, w.copies[0], s.wide, rows); err != nil {
			return err
		}
	}
	values := gradientRows{at: w.copies[1], stride: s.wideV, n: n}
	if s.operands[ofV].inPlace {
		values = s.inPlace(ofV, u, u.kvHead, block.from, u.k0, n)
	} else if err := rowsPart(w.copyV, u, u.kvHead, w.copies[1], s.wideV, rows); err != nil {
		return err
	}
	s.turn(w, w.keys, &w.rowsK, t.Width)
	s.turn(w, w.values, &values, t.VWidth)
	clear(unsafe.Slice((*float32)(w.dk), n*s.wide))
	clear(unsafe.Slice((*float32)(w.dv), n*s.wideV))
	return nil
}

// turn packs rows as the right-hand side of a product, a row a column.
func (s *gradientStep) turn(w *gradientWorker, to unsafe.Pointer, rows *gradientRows, steps int) {
	w.turn.SetWidth(s.rows.ISA, steps)
	turnColumns(s.inner, s.rows, &w.turn, to, rows.at, 4*rows.stride, steps, rows.n)
}

// startQueries finds the rows of a block of queries. They are copied where one
// is not finite: rows that see nothing become 0 then.
func (s *gradientStep) startQueries(w *gradientWorker, b *gradientBlock) error {
	n, rows := b.queries.to-b.queries.from, keyRange{b.q0 + b.queries.from, b.q0 + b.queries.to}
	for _, o := range []struct {
		rows        *gradientRows
		of          int
		copied      *partCall
		memory      unsafe.Pointer
		width, wide int
	}{
		{&w.rowsQ, ofQ, w.copyQ, w.copies[2], s.work.Width, s.wide},
		{&w.rowsDOut, ofDOut, w.copyDOut, w.copies[3], s.work.VWidth, s.wideV},
	} {
		if s.operands[o.of].inPlace {
			*o.rows = s.inPlace(o.of, b.gradientUnit, b.head, b.queries.from, b.q0, n)
			if s.finite(w, o.rows, o.width) {
				continue
			}
		}
		*o.rows = gradientRows{at: o.memory, stride: o.wide, n: n}
		if err := rowsPart(o.copied, b.gradientUnit, b.head, o.memory, o.wide, rows); err != nil {
			return err
		}
	}
	return nil
}

// finite tells whether there is no infinity and no NaN in rows of so many lanes,
// with 0 behind them up to a whole vector.
func (s *gradientStep) finite(w *gradientWorker, r *gradientRows, width int) bool {
	if !r.tested {
		w.test.From, w.test.LD, w.test.Rows = r.at, uintptr(4*r.stride), uintptr(r.n)
		w.test.Vectors, w.test.Finite = uintptr(ceilDiv(width, s.rows.lanes)), 1
		jit.Call(s.inner.finite, unsafe.Pointer(&w.test))
		r.tested, r.finite = true, w.test.Finite != 0
	}
	return r.finite
}
