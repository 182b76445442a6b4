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
	wgmmaX     = groupRows * patternRow // bytes of a stage before those of Y
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

// stage is the bytes of one.
func (f groupForm) stage() int { return (groupRows + int(f)) * patternRow }

// shared is the bytes of a block.
func (f groupForm) shared() int { return ringBytes(wgmmaStages, f.stage()) }

// Dynamic is how many bytes of shared memory a launch of k has to give.
func (t Target) Dynamic(k *entry.Kernel) int {
	if f, ok := groupFormOf(k); ok {
		return f.shared()
	}
	if byGroups(k) {
		return groupAttendBytes(k)
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
	ring
	form  groupForm
	x, y  groupOperand
	group string   // of warps: 0 fills
	whole string   // predicate: both operands have maps; empty where they never do
	sums  []string // of a thread that multiplies
	step  int      // values of k in a stage
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

// multiplyGroups computes a block of results.
func (b *builder) multiplyGroups(block *flat.Block, m matrices) {
	b.rolled = true // the registers are needed for sums
	w := &warpgroup{tensor: &tensor{builder: b, matrices: m, block: block, item: b.name(b.Item())}, step: patternRow / m.size}
	w.form, _ = groupFormOf(b.kernel)
	w.lane = b.op(words, "and.b32", w.item, "31")
	w.group = b.op(words, "shr.u32", w.item, fmt.Sprint(log2(fillItems)))
	w.group = b.op(words, "shfl.sync.idx.b32", w.group, "0", "31", "0xffffffff") // the same for a warp, as the assembler sees
	w.ring = b.newRing(wgmmaStages, w.form.stage())
	w.near = w.stages
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
	b.alone(w.item, func() { w.open(full, 2*fillItems/32) })
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
	b.alone(w.item, w.close)
	w.finishGroups()
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
		w.wgmma(always, w.descriptorAt(x, w.size, w.x.deep, i), w.descriptorAt(y, w.size, w.y.deep, i))
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
