package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// operands are X and Y as shared memory has them, in this block.
func (w *warpgroup) operands() {
	both := w.groupOperands(w.block.Gemm, w.form)
	w.x, w.y = both[0], both[1]
	w.x.tensorOperand, w.y.tensorOperand = w.operandX(), w.operandY()
	w.mapped()
}

// fillStages fills all stages: by maps, by copies of 16 bytes where memory allows
// those, or element by element.
func (w *warpgroup) fillStages() {
	done := w.label()
	if w.whole != "" {
		other := w.label()
		w.line("@!%s bra %s", w.whole, other)
		w.mapStages()
		w.line("bra %s", done)
		w.mark(other)
	}
	bits := w.op(longs, "or.b64", w.origins(&w.x), w.origins(&w.y))
	slow := w.label()
	w.line("@%s bra %s", w.op(predicates, "setp.ne.u64", w.op(longs, "and.b64", bits, "15"), "0"), slow)
	w.copyStages(w.orMapped(w.x, w.groupCopies(w.x)), w.orMapped(w.y, w.groupCopies(w.y)))
	w.line("bra %s", done)
	w.mark(slow)
	w.computeStages(w.orMapped(w.x, w.computed(w.x)), w.orMapped(w.y, w.computed(w.y)))
	w.mark(done)
}

// origins finds where an operand begins, and the bits of what has to be a multiple
// of 16 bytes for copies; none where it has a map.
func (w *warpgroup) origins(o *groupOperand) (bits string) {
	o.begin, o.apart, bits = w.origin(o.tensorOperand, o.deep)
	if o.mapped == "" {
		return bits
	}
	return w.op(longs, "selp.b64", "0", bits, o.mapped)
}

// copyStages has copies of several stages be on their way. Those of a stage have
// arrived when the ones behind it have been begun: only then can the thread make
// them visible to wgmma, and say so.
func (w *warpgroup) copyStages(x, y func(s slot, stage, at string)) {
	s, at := w.slot(1), w.op(words, "mov.u32", "0") // all stages are free at first
	late := w.op(words, "mov.u32", s.phase)
	full := func() {
		w.arrive("", late, false)
		w.line("add.u32 %s, %s, %d", late, late, phasesStep)
		last := w.op(predicates, "setp.eq.u32", late, w.op(words, "add.u32", w.phases, fmt.Sprint(wgmmaStages*phasesStep)))
		w.line("@%s mov.u32 %s, %s", last, late, w.phases)
	}
	top, skip, end, done := w.label(), w.label(), w.label(), w.label()
	w.line("@%s bra %s", w.op(predicates, "setp.ge.u32", at, w.depth), done)
	w.top(top)
	w.await(s, true)
	x(s, s.stage, at)
	y(s, w.op(words, "add.u32", s.stage, fmt.Sprint(wgmmaX)), at)
	w.line("cp.async.commit_group")
	w.line("add.u32 %s, %s, %d", at, at, w.step)
	w.line("@%s bra %s", w.op(predicates, "setp.le.u32", at, fmt.Sprint(wgmmaAhead*w.step)), skip)
	w.line("cp.async.wait_group %d", wgmmaAhead)
	w.line("fence.proxy.async.shared::cta")
	full()
	w.mark(skip)
	w.next(s)
	w.line("@%s bra %s", w.op(predicates, "setp.lt.u32", at, w.depth), top)
	w.line("cp.async.wait_all")
	w.line("fence.proxy.async.shared::cta")
	w.top(end)
	full()
	w.line("@%s bra %s", w.op(predicates, "setp.ne.u32", late, s.phase), end)
	w.mark(done)
}

// groupCopies copies an operand's part of a stage, 0 where there is nothing.
func (w *warpgroup) groupCopies(o groupOperand) func(s slot, stage, at string) {
	if o.deep {
		return w.deepCopies(o)
	}
	return w.wideCopies(o)
}

// copied16 is one copy; it is of what there is if left is above n.
func (w *warpgroup) copied16(left string, n int, to string, behind int, from string, further int) {
	bytes := w.op(words, "selp.b32", "16", "0", w.op(predicates, "setp.gt.s32", left, fmt.Sprint(n)))
	w.line("cp.async.cg.shared.global [%s+%d], [%s+%d], 16, %s", to, behind, from, further, bytes)
}

// within is how many of a block's rows or columns there are behind one.
func (w *warpgroup) within(o groupOperand, behind string) string {
	all := w.op(words, "cvt.u32.u64", w.op(longs, "sub.u64", w.register(o.to), w.register(o.from)))
	return w.op(words, "sub.u32", all, behind)
}

// deepCopies: eight threads copy a row, 16 rows are copied at a time.
func (w *warpgroup) deepCopies(o groupOperand) func(s slot, stage, at string) {
	const perRow = patternRow / 16
	const together = fillItems / perRow
	piece := w.op(words, "and.b32", w.item, fmt.Sprint(perRow-1))
	row := w.op(words, "shr.u32", w.item, fmt.Sprint(log2(perRow)))
	mine := w.op(words, "mad.lo.u32", row, fmt.Sprint(patternRow), w.exchanged(piece, row))
	far := w.op(longs, "add.u64", w.op(longs, "cvt.u64.u32", row), w.register(o.from))
	address := w.op(longs, "mad.lo.u64", far, o.apart, w.op(longs, "add.u64", o.begin, w.op(longs, "mul.wide.u32", piece, "16")))
	between := w.op(longs, "mul.lo.u64", o.apart, fmt.Sprint(together))
	left := w.within(o, row)
	first := w.op(words, "mul.lo.u32", piece, fmt.Sprint(16/w.size)) // value of k
	return func(_ slot, stage, at string) {
		inside := w.op(predicates, "setp.lt.u32", w.op(words, "add.u32", at, first), w.depth)
		rows := w.op(words, "selp.b32", left, "0", inside)
		to, from := w.op(words, "add.u32", stage, mine), address
		for i := range o.wide / together {
			if i > 0 {
				from = w.op(longs, "add.u64", from, between)
			}
			w.copied16(rows, i*together, to, i*together*patternRow, from, 0)
		}
		w.line("add.u64 %s, %s, %d", address, address, patternRow)
	}
}

// wideCopies: 16 threads copy 128 rows or columns of a k, of eight at a time.
func (w *warpgroup) wideCopies(o groupOperand) func(s slot, stage, at string) {
	const perRow = 16
	const together = fillItems / perRow
	along := perRow * 16 / w.size // rows or columns at a time
	piece := w.op(words, "and.b32", w.item, fmt.Sprint(perRow-1))
	k := w.op(words, "shr.u32", w.item, fmt.Sprint(log2(perRow)))
	mine := w.op(words, "mad.lo.u32", w.op(words, "shr.u32", piece, "3"), fmt.Sprint(farLen), w.exchanged(piece, k))
	mine = w.op(words, "mad.lo.u32", k, fmt.Sprint(patternRow), mine)
	first := w.op(words, "mul.lo.u32", piece, fmt.Sprint(16/w.size)) // row or column
	far := w.op(longs, "add.u64", w.op(longs, "cvt.u64.u32", first), w.register(o.from))
	address := w.op(longs, "add.u64", o.begin, w.bytes(w.value(flat.I64, far)))
	address = w.op(longs, "mad.lo.u64", w.op(longs, "cvt.u64.u32", k), o.apart, address)
	between := w.op(longs, "mul.lo.u64", o.apart, fmt.Sprint(together))
	further := w.op(longs, "mul.lo.u64", o.apart, fmt.Sprint(w.step))
	left := w.within(o, first)
	return func(_ slot, stage, at string) {
		deep := w.op(words, "sub.u32", w.op(words, "sub.u32", w.depth, at), k)
		to := w.op(words, "add.u32", stage, mine)
		for part := range o.wide / along {
			inside := w.op(predicates, "setp.gt.s32", left, fmt.Sprint(part*along))
			deep := w.op(words, "selp.b32", deep, "0", inside)
			from := address
			for i := range w.step / together {
				if i > 0 {
					from = w.op(longs, "add.u64", from, between)
				}
				w.copied16(deep, i*together, to, i*together*patternRow+part*along/64*farLen, from, part*along*w.size)
			}
		}
		w.line("add.u64 %s, %s, %s", address, address, further)
	}
}

// computeStages fills stages with elements one by one.
func (w *warpgroup) computeStages(x, y func(s slot, stage, at string)) {
	s, at := w.slot(1), w.op(words, "mov.u32", "0")
	top, done := w.label(), w.label()
	w.line("@%s bra %s", w.op(predicates, "setp.ge.u32", at, w.depth), done)
	w.top(top)
	w.await(s, true)
	x(s, s.stage, at)
	y(s, w.op(words, "add.u32", s.stage, fmt.Sprint(wgmmaX)), at)
	w.line("fence.proxy.async.shared::cta")
	w.arrive("", s.phase, false)
	w.next(s)
	w.line("add.u32 %s, %s, %d", at, at, w.step)
	w.line("@%s bra %s", w.op(predicates, "setp.lt.u32", at, w.depth), top)
	w.mark(done)
}

func (w *warpgroup) computed(o groupOperand) func(s slot, stage, at string) {
	return func(_ slot, stage, at string) { w.compute(o, stage, at) }
}

// compute brings the elements of an operand into a stage, 0 beyond their ends.
func (w *warpgroup) compute(o groupOperand, stage, at string) {
	low := func(x string, n int) string { return w.op(words, "and.b32", x, fmt.Sprint(n-1)) }
	high := func(x string, n int) string { return w.op(words, "shr.u32", x, fmt.Sprint(log2(n))) }
	turns := w.Const(flat.I32, uint64(o.wide*w.step/fillItems))
	w.For(w.Const(flat.I32, 0), turns, 1, false, func(turn flat.Value) {
		e := w.op(words, "mad.lo.u32", w.name(turn), fmt.Sprint(fillItems), w.item)
		r, k := high(e, w.step), low(e, w.step)
		if !o.deep {
			r, k = low(e, o.wide), high(e, o.wide)
		}
		row := w.op(longs, "add.u64", w.op(longs, "cvt.u64.u32", r), w.register(o.from))
		kAt := w.op(words, "add.u32", at, k)
		inside := w.op(predicates, "setp.lt.s64", row, w.name(o.to))
		inside = w.op(predicates, "and.pred", inside, w.op(predicates, "setp.lt.u32", kAt, w.depth))
		v := w.copied(flat.I32, "0")
		w.If(w.value(flat.Bool, inside), func() {
			x := w.block.Element(o.e, o.v, w.value(flat.I64, row), w.value(flat.I64, w.op(longs, "cvt.u64.u32", kAt)))
			w.assign(flat.I32, v, w.name(x))
		})
		outer, inner, far := r, k, "0"
		if !o.deep {
			outer, inner, far = k, low(r, 64), w.op(words, "mul.lo.u32", high(r, 64), fmt.Sprint(farLen))
		}
		bytes := w.op(words, "shl.b32", inner, fmt.Sprint(log2(w.size)))
		place := w.op(words, "add.u32", w.exchanged(high(bytes, 16), outer), low(bytes, 16))
		place = w.op(words, "add.u32", w.op(words, "mad.lo.u32", outer, fmt.Sprint(patternRow), place), far)
		w.line("st.shared.u%d [%s], %s", 8*w.size, w.op(words, "add.u32", stage, place), v)
	})
}
