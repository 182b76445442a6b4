package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// Where the driver has described an operand by a tensor map, one thread has boxes
// of it copied, by one instruction each, into the pattern that wgmma reads, 0
// beyond its ends. The barrier of a full stage counts their bytes.

// groupProduct is a product by groups of warps, with the maps of its operands.
func (t Target) groupProduct(name string, g *template.Gemm, f groupForm) *entry.Kernel {
	k := entry.PackedProduct(name, g, wgmmaItems, f.tile())
	if m, ok := t.matrices(k.Gemm); ok && !t.NoMaps {
		for _, o := range m.groupOperands(k.Gemm, f) {
			if x, ok := o.describe(k.Gemm, m.size); ok {
				k.Maps = append(k.Maps, x)
			}
		}
	}
	return k
}

// groupOperands are X and Y as shared memory has them.
func (m matrices) groupOperands(g *template.Gemm, f groupForm) [2]groupOperand {
	x := groupOperand{tensorOperand: m.operandX(*g), wide: groupRows, sizes: [2]ir.Dim{g.K, g.Rows}}
	y := groupOperand{tensorOperand: m.operandY(*g), wide: int(f), sizes: [2]ir.Dim{g.K, g.Cols}}
	x.deep, _ = x.tensorOperand.deep(m.size)
	y.deep, _ = y.tensorOperand.deep(m.size)
	return [2]groupOperand{x, y}
}

// describe is the operand's map; false where its batches lie in no one order.
func (o groupOperand) describe(g *template.Gemm, size int) (entry.Map, bool) {
	first, apart, ok := template.Plain{Base: o.base}.Batched(g)
	if !ok {
		return entry.Map{}, false
	}
	m := entry.Map{Param: o.param, Base: first, Inner: o.sizes[0], Outer: o.sizes[1], Apart: o.along, Batches: g.BatchSize,
		Box: [2]int{patternRow / size, o.wide}}
	if !o.deep {
		m.Inner, m.Outer, m.Apart, m.Box[1] = o.sizes[1], o.sizes[0], o.byK, patternRow/size
	}
	if n, known := g.BatchSize.Const(); !apart.IsInt(0) && !(known && n == 1) {
		m.Batch = apart
	}
	return m, true
}

// Mappable tells whether a driver makes a map of a matrix in a buffer that begins
// at an address: see CUDA about cuTensorMapEncodeTiled. Its axes lie in each
// other, as that has it, and coordinates have 31 bits.
func Mappable(address uint64, m entry.Mapped) bool {
	const mostSize, mostStride = 1<<31 - 1, 1<<40 - 1
	if (address+uint64(m.Offset))%16 != 0 {
		return false
	}
	inside := m.Bytes // bytes of the axes so far
	for i, n := range m.Sizes {
		if n < 1 || n > mostSize {
			return false
		}
		if i > 0 {
			apart := m.Strides[i-1]
			if apart%16 != 0 || apart > mostStride || apart < inside || i > 1 && apart%m.Strides[i-2] != 0 {
				return false
			}
			inside = apart
		}
		inside *= n
	}
	return true
}

// mapped finds which of the operands have maps, and where: predicates that are
// empty where they never do.
func (w *warpgroup) mapped() {
	at := len(w.args) - 1 - len(w.kernel.Maps)
	var bits string
	for i, m := range w.kernel.Maps {
		for _, o := range []*groupOperand{&w.x, &w.y} {
			d, ok := o.describe(w.block.Gemm, w.size)
			if !ok || o.mapped != "" || d.Param != m.Param {
				continue
			}
			if bits == "" {
				bits = w.name(w.args[len(w.args)-1])
			}
			o.rank = 2
			if m.Batch != nil {
				o.rank = 3
			}
			o.mapped = w.op(predicates, "setp.ne.u64", w.op(longs, "and.b64", bits, fmt.Sprint(1<<i)), "0")
			o.descriptor = w.op(longs, "cvta.param.u64", w.op(longs, "mov.b64", fmt.Sprint("arg_", at+i)))
			break
		}
	}
	if w.x.mapped != "" && w.y.mapped != "" {
		w.whole = w.op(predicates, "and.pred", w.x.mapped, w.y.mapped)
	}
}

// mapStages has all stages copied by maps. One thread does that; those of its
// warp stay with it.
func (w *warpgroup) mapStages() {
	first := w.op(predicates, "setp.eq.u32", w.item, "0")
	done, top := w.label(), w.label()
	w.line("@%s bra %s", w.op(predicates, "setp.ge.u32", w.item, "32"), done)
	s, at := w.slot(1), w.op(words, "mov.u32", "0") // every stage is free at first
	w.line("@%s bra %s", w.op(predicates, "setp.ge.u32", at, w.depth), done)
	x, y := w.mapCopies(w.x, first), w.mapCopies(w.y, first)
	w.top(top)
	w.await(s, true)
	// Lanes go on together: one that stayed behind would not know that a phase is
	// over once the next one is.
	w.line("shfl.sync.idx.b32 %s, %s, 0, 31, 0xffffffff", at, at)
	w.line("@%s mbarrier.arrive.expect_tx.shared.b64 %s, [%s+%d], %d", first, w.reg(longs), s.phase, phaseOf(false), w.form.stage())
	x(s, s.stage, at)
	y(s, w.op(words, "add.u32", s.stage, fmt.Sprint(wgmmaX)), at)
	w.next(s)
	w.line("add.u32 %s, %s, %d", at, at, w.step)
	w.line("@%s bra %s", w.op(predicates, "setp.lt.u32", at, w.depth), top)
	w.mark(done)
}

// mapCopies begins copies of an operand's part of a stage, where a predicate holds.
func (w *warpgroup) mapCopies(o groupOperand, where string) func(s slot, stage, at string) {
	along := w.op(words, "cvt.u32.u64", w.register(o.from))
	batch := ""
	if o.rank == 3 {
		batch = ", " + w.op(words, "cvt.u32.u64", w.register(w.block.Value(w.block.Gemm.Batch.Ref())))
	}
	w.line("@%s prefetch.tensormap [%s]", where, o.descriptor)
	copied := func(to, phase, inner, outer string) {
		w.line("@%s cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%s, {%s, %s%s}], [%s]",
			where, o.rank, to, o.descriptor, inner, outer, batch, phase)
	}
	return func(s slot, stage, at string) {
		if o.deep {
			copied(stage, s.phase, at, along)
			return
		}
		for part := range o.wide * w.size / patternRow {
			copied(fmt.Sprintf("%s+%d", stage, part*farLen), s.phase, w.op(words, "add.u32", along, fmt.Sprint(part*patternRow/w.size)), at)
		}
	}
}

// orMapped fills an operand's part of a stage by its map if it has one, else in
// another way. The stage is full once all threads say so and the copies are there.
func (w *warpgroup) orMapped(o groupOperand, other func(s slot, stage, at string)) func(s slot, stage, at string) {
	if o.mapped == "" {
		return other
	}
	first := w.op(predicates, "and.pred", w.op(predicates, "setp.eq.u32", w.item, "0"), o.mapped)
	byMap := w.mapCopies(o, first)
	return func(s slot, stage, at string) {
		w.line("@%s mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s+%d], %d", first, s.phase, phaseOf(false), o.wide*patternRow)
		byMap(s, stage, at)
		on := w.label()
		w.line("@%s bra %s", o.mapped, on)
		other(s, stage, at)
		w.mark(on)
	}
}
