package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// From compute capability 9.0 on four warps multiply matrices in shared memory,
// by wgmma, which takes nothing through registers but sums. A block of a large
// product has 128 x 256 results: two groups of four warps multiply, 64 rows each,
// while a third fills the stages ahead of them. Barriers of phases tell which are
// full and which may be filled again; nobody waits for the whole block.
const (
	groupRows   = 128
	groupStep   = 64 // rows of a group of warps
	wgmmaItems  = 3 * fillItems
	fillItems   = 128
	wgmmaStages = 4
	// wgmmaAhead is how many stages are on their way while the next is asked for.
	wgmmaAhead = 2
	// Rows in shared memory have 128 bytes, and eight make a pattern, in whose rows
	// pieces of 16 bytes are exchanged: eight that lie below each other are in banks
	// of their own.
	patternRow = 128
	patternLen = 8 * patternRow
	wgmmaX     = groupRows * patternRow // bytes of a stage before those of Y
	// farLen is how far 64 rows or columns lie from the next where memory has them,
	// not k, side by side.
	farLen     = 64 * patternRow
	phasesStep = 16 // a barrier for a stage that is full, one for a stage that is free
)

// groupForm is the columns of a block. Bits are the same by all.
type groupForm int

// groupForms are those there are, the usual first, each with the cycles that shared
// memory or wgmma, whichever has more to do, take for 16 values of k.
var groupForms = []struct {
	cols   groupForm
	cycles int
}{{256, 256}, {192, 208}, {128, 160}}

// groupForm is that of a product: the one whose blocks take the least time. Of Y that
// lies by columns 128 are copied at a time.
func (m matrices) groupForm(g *template.Gemm) groupForm {
	deep, _ := m.operandY(*g).deep(m.size)
	best := groupForms[0]
	if cols, ok := g.Cols.Const(); ok {
		cycles := func(cols, each, cycles int) int { return (cols + each - 1) / each * cycles }
		for _, f := range groupForms {
			if (deep || f.cols%128 == 0) && cycles(cols, int(f.cols), f.cycles) < cycles(cols, int(best.cols), best.cycles) {
				best = f
			}
		}
	}
	return best.cols
}

// groupFormOf is that of a kernel, if groups of warps multiply it.
func groupFormOf(k *entry.Kernel) (f groupForm, ok bool) {
	for _, f := range groupForms {
		if k.Gemm != nil && k.Tile == f.cols.tile() {
			return f.cols, true
		}
	}
	return 0, false
}

// tile says the same to those who count tasks.
func (f groupForm) tile() entry.Tile {
	return entry.Tile{Rows: groupRows, Cols: int(f), EachRows: 8, EachCols: int(f) / 16, Depth: patternRow / 2}
}

// stage is the bytes of one, and phases where barriers lie behind all.
func (f groupForm) stage() int { return (groupRows + int(f)) * patternRow }

func (f groupForm) phases() int { return wgmmaStages * f.stage() }

// shared is the bytes of a block, which begins at a multiple of patternLen.
func (f groupForm) shared() int { return f.phases() + wgmmaStages*phasesStep + patternLen }

// dynamicShared is the name of the shared memory that a launch gives.
const dynamicShared = "dynamic"

// Dynamic is how many bytes of shared memory a launch of k has to give.
func (t Target) Dynamic(k *entry.Kernel) int {
	if f, ok := groupFormOf(k); ok {
		return f.shared()
	}
	return 0
}

// groups tells whether groups of four warps multiply g: operands are copied as
// they lie, with no rounding on the way, and there may be results for more than
// half a tile each way.
func (t Target) groups(g *template.Gemm, m matrices) bool {
	_, okX := m.operandX(*g).deep(m.size)
	_, okY := m.operandY(*g).deep(m.size)
	_, rows := g.Rows.Bounds()
	_, cols := g.Cols.Bounds()
	mixed := m.size == 1 && m.x.DType != m.y.DType
	return t.SM >= 90 && !m.tf32 && !(mixed && t.NoMixed) && okX && okY && rows > groupRows/2 && cols > int64(m.groupForm(g)/2)
}

// warpgroup writes one product.
type warpgroup struct {
	*tensor
	form   groupForm
	x, y   groupOperand
	phases string   // address of the barriers
	group  string   // of warps: 0 fills
	whole  string   // predicate: both operands have maps; empty where they never do
	sums   []string // of a thread that multiplies
	step   int      // values of k in a stage
}

// groupOperand is an operand as shared memory has it.
type groupOperand struct {
	*tensorOperand
	deep  bool      // rows are by k
	wide  int       // rows or columns of a block
	sizes [2]ir.Dim // of k, and rows or columns, in all
	begin string
	apart string // bytes from one row in memory to the next
	// mapped is the predicate that there is a map, empty where there never is;
	// descriptor its address.
	mapped, descriptor string
	rank               int // axes of the map
}

// slot is a stage in registers: its address, that of its barriers, and the parity
// of the phase to wait for.
type slot struct{ stage, phase, parity string }

// multiplyGroups computes a block of results.
func (b *builder) multiplyGroups(block *flat.Block, m matrices) {
	b.rolled = true // the registers are needed for sums
	w := &warpgroup{tensor: &tensor{builder: b, matrices: m, block: block, item: b.name(b.Item())}, step: patternRow / m.size}
	w.form, _ = groupFormOf(b.kernel)
	w.lane = b.op(words, "and.b32", w.item, "31")
	w.group = b.op(words, "shr.u32", w.item, fmt.Sprint(log2(fillItems)))
	w.group = b.op(words, "shfl.sync.idx.b32", w.group, "0", "31", "0xffffffff") // the same for a warp, as the assembler sees
	w.near = b.op(words, "add.u32", b.op(words, "mov.u32", dynamicShared), fmt.Sprint(patternLen-1))
	w.near = b.op(words, "and.b32", w.near, fmt.Sprint(-patternLen))
	w.phases = b.op(words, "add.u32", w.near, fmt.Sprint(w.form.phases()))
	w.depth = b.op(words, "cvt.u32.u64", b.register(block.Depth))
	w.operands()
	if !w.y.deep && w.form%128 != 0 {
		b.fail("blocks of %d columns, which memory has side by side: 128 are copied at a time", w.form)
	}
	for range w.form / 2 {
		w.sums = append(w.sums, b.op(m.sums, "mov."+files[m.sums].kind, w.zero()))
	}
	full := fmt.Sprint(fillItems) // who says that a stage is full
	if w.whole != "" {
		full = w.op(words, "selp.b32", "1", full, w.whole)
	}
	w.alone(func() {
		for i := range wgmmaStages {
			b.line("mbarrier.init.shared.b64 [%s+%d], %s", w.phases, i*phasesStep, full)
			b.line("mbarrier.init.shared.b64 [%s+%d], %d", w.phases, i*phasesStep+phasesStep/2, 2*fillItems/32)
		}
	})
	if len(b.kernel.Maps) > 0 { // copies write by another way than threads did
		b.line("fence.proxy.async.shared::cta")
	}
	b.line("bar.sync 0") // who finishes the block before this one has left shared memory too
	multiplies, done := b.label(), b.label()
	b.line("@%s bra %s", b.op(predicates, "setp.ne.u32", w.group, "0"), multiplies)
	w.fillStages()
	b.line("bra %s", done)
	b.mark(multiplies)
	w.multiplyStages()
	b.mark(done)
	b.line("bar.sync 0")
	w.alone(func() {
		for i := range 2 * wgmmaStages {
			b.line("mbarrier.inval.shared.b64 [%s+%d]", w.phases, i*phasesStep/2)
		}
	})
	w.finishGroups()
}

// alone has one thread do something.
func (w *warpgroup) alone(do func()) {
	w.If(w.value(flat.Bool, w.op(predicates, "setp.eq.u32", w.item, "0")), do)
}

// slot is the first stage, and the parity of the first phase that is waited for.
func (w *warpgroup) slot(parity int) slot {
	return slot{w.op(words, "mov.u32", w.near), w.op(words, "mov.u32", w.phases), w.op(words, "mov.u32", fmt.Sprint(parity))}
}

// next goes on to the stage behind, which is the first behind the last.
func (w *warpgroup) next(s slot) {
	w.line("add.u32 %s, %s, %d", s.stage, s.stage, w.form.stage())
	w.line("add.u32 %s, %s, %d", s.phase, s.phase, phasesStep)
	last := w.op(predicates, "setp.eq.u32", s.phase, w.op(words, "add.u32", w.phases, fmt.Sprint(wgmmaStages*phasesStep)))
	w.line("@%s mov.u32 %s, %s", last, s.stage, w.near)
	w.line("@%s mov.u32 %s, %s", last, s.phase, w.phases)
	w.line("@%s xor.b32 %s, %s, 1", last, s.parity, s.parity)
}

// await waits until the phase of a parity has ended; the barrier is that of
// stages that are full, or free.
func (w *warpgroup) await(s slot, free bool) {
	again := w.label()
	w.mark(again)
	p := w.reg(predicates)
	w.line("mbarrier.try_wait.parity.shared.b64 %s, [%s+%d], %s", p, s.phase, phaseOf(free), s.parity)
	w.line("@!%s bra %s", p, again)
}

// arrive says that a stage is full, or free.
func (w *warpgroup) arrive(guard, phase string, free bool) {
	w.line("%smbarrier.arrive.shared.b64 %s, [%s+%d]", guard, w.reg(longs), phase, phaseOf(free))
}

func phaseOf(free bool) int {
	if free {
		return phasesStep / 2
	}
	return 0
}

// multiplyStages adds the products of all stages.
func (w *warpgroup) multiplyStages() {
	rows := w.op(words, "add.u32", w.group, "-1")
	mine := w.op(words, "mul.lo.u32", rows, fmt.Sprint(groupStep*patternRow)) // from the stage to the group's rows
	s, at := w.slot(0), w.op(words, "mov.u32", "0")
	before := w.op(words, "mov.u32", s.phase)
	always := w.op(predicates, "setp.eq.u32", at, at)
	first := w.op(predicates, "setp.eq.u32", w.lane, "0")
	top, done := w.label(), w.label()
	w.line("@%s bra %s", w.op(predicates, "setp.ge.u32", at, w.depth), done)
	w.top(top)
	w.await(s, false)
	x := w.descriptor(w.x.deep, w.op(words, "add.u32", s.stage, mine))
	y := w.descriptor(w.y.deep, w.op(words, "add.u32", s.stage, fmt.Sprint(wgmmaX)))
	w.line("wgmma.fence.sync.aligned")
	for i := range patternRow / stepBytes {
		w.wgmma(always, w.descriptorAt(x, w.x.deep, i), w.descriptorAt(y, w.y.deep, i))
	}
	w.line("wgmma.commit_group.sync.aligned")
	w.line("wgmma.wait_group.sync.aligned 1") // the stage before this one has been read
	free := w.op(predicates, "setp.ne.u32", at, "0")
	w.line("and.pred %s, %s, %s", free, free, first)
	w.arrive("@"+free+" ", before, true)
	w.line("mov.u32 %s, %s", before, s.phase)
	w.next(s)
	w.line("add.u32 %s, %s, %d", at, at, w.step)
	w.line("@%s bra %s", w.op(predicates, "setp.lt.u32", at, w.depth), top)
	w.line("wgmma.wait_group.sync.aligned 0")
	w.mark(done)
}

// descriptor says where a matrix lies from an address on: see PTX about matrices
// in shared memory in patterns of 128 bytes.
func (w *warpgroup) descriptor(deep bool, at string) string {
	const swizzled = 1 << 62
	how := uint64(swizzled | patternLen>>4<<32 | 1<<16)
	if !deep {
		how = swizzled | patternLen>>4<<32 | farLen>>4<<16
	}
	return w.op(longs, "or.b64", w.op(longs, "cvt.u64.u32", w.op(words, "shr.u32", at, "4")), fmt.Sprint(how))
}

// descriptorAt is that of the i-th part of k in a stage.
func (w *warpgroup) descriptorAt(d string, deep bool, i int) string {
	step := stepBytes
	if !deep {
		step = stepBytes / w.size * patternRow
	}
	return w.op(longs, "add.u64", d, fmt.Sprint(i*step>>4))
}

// wgmma adds the product of 64 rows and all columns.
func (w *warpgroup) wgmma(add, x, y string) {
	kind, how := "s32", ""
	if w.matrices.sums == singles {
		bit := map[bool]string{true: "0", false: "1"}
		kind, how = "f32", ", 1, 1, "+bit[w.x.deep]+", "+bit[w.y.deep]
	}
	w.line("wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s {%s}, %s, %s, %s%s",
		w.form, stepBytes/w.size, kind, w.kinds, strings.Join(w.sums, ", "), x, y, add, how)
}
