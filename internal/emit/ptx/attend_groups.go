package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// From compute capability 9.0 on, groups of four warps multiply an attention of
// bf16, by wgmma: keys and values lie in shared memory, queries, weights and sums in
// registers, where the scores of four warps are those that each would have. All
// threads fill the stages of a ring; a group may be a block of keys ahead of another,
// so that one makes weights while the other multiplies.

const attendStages = 4

// groupAttends tells whether groups of warps multiply a: its rows are whole patterns, and
// there is room in registers beside sums of 128 for what makes scores of products.
func (t Target) groupAttends(a *template.Attention) bool {
	whole := func(width int) bool { return width == patternRow/2 || width == patternRow }
	if (a.Attr.SoftCap != 0 || a.Mask != nil) && a.VWidth == patternRow {
		return false
	}
	return t.SM >= 90 && a.Bare().Q.DType == ir.BF16 && whole(a.Width) && whole(a.VWidth)
}

// byGroups tells that groups of warps multiply the attention of a kernel.
func byGroups(k *entry.Kernel) bool { return k.Attended != nil && k.Tile.Depth > 0 }

// groupAttendBytes is the shared memory of a block: the ring, and behind it the
// queries, then the results.
func groupAttendBytes(k *entry.Kernel) int {
	a := k.Attended
	stage := 2 * attendKeys * (a.Width + a.VWidth)
	results := k.Items / 32 * 8 * 4 * resultRow(a.VWidth)
	return ringBytes(attendStages, stage) + max(k.Tile.Rows*rowBytes(a.Width), results)
}

// groupBlocks goes through the keys that rows of the tile see.
func (a *attend) groupBlocks() {
	at, end := a.seenBlocks()
	both := []*passing{a.passing(a.bare.K, a.bare.PlainK, a.Width, 0), a.passing(a.bare.V, a.bare.PlainV, a.VWidth, a.valuesAt())}
	for _, p := range both {
		p.start(at)
	}
	a.alone(a.item, func() { a.open(fmt.Sprint(a.items), a.items/32) })
	a.line("bar.sync 0")
	fill, key := a.slot(1), a.op(words, "mov.u32", at) // all stages are free at first
	bring := func() {
		a.If(a.value(flat.Bool, a.op(predicates, "setp.lt.s32", key, end)), func() {
			a.await(fill, true)
			for _, p := range both {
				p.bring(key, fill.stage)
			}
		})
		a.line("cp.async.commit_group") // of none, too: they are counted
		a.line("add.u32 %s, %s, %d", key, key, attendKeys)
		a.next(fill)
	}
	for range attendStages - 1 {
		bring()
	}
	a.queries(a.near)
	a.begin()
	s, ready := a.slot(0), a.slot(0)
	brought := func() { // copies of the oldest stage but those behind it
		a.line("cp.async.wait_group %d", attendStages-2)
		a.line("fence.proxy.async.shared::cta")
		a.arrive("", ready.phase, false)
		a.next(ready)
	}
	top, idle, free, done := a.label(), a.label(), a.label(), a.label()
	a.line("@%s bra %s", a.op(predicates, "setp.ge.s32", at, end), done)
	brought()
	first := a.op(predicates, "setp.eq.u32", a.lane, "0")
	a.top(top)
	a.await(s, false)
	a.line("mov.u32 %s, %s", a.here, s.stage)
	behind := a.op(words, "add.u32", at, fmt.Sprint(attendKeys))
	a.line("@!%s bra %s", a.name(a.active(at, behind)), idle)
	a.multiplyKeysByGroups()
	bring()
	brought()
	a.line("wgmma.wait_group.sync.aligned 0")
	a.addBlock(at, behind)
	a.line("bar.warp.sync 0xffffffff") // who frees the stage knows that all lanes have read it
	a.line("bra %s", free)
	a.mark(idle)
	bring()
	brought()
	a.mark(free)
	a.arrive("@"+first+" ", s.phase, true)
	a.next(s)
	a.line("mov.u32 %s, %s", at, behind)
	a.line("@%s bra %s", a.op(predicates, "setp.lt.s32", at, end), top)
	a.mark(done)
	a.line("bar.sync 0")
	a.alone(a.item, a.close)
}

// multiplyKeysByGroups begins the products of the group's queries with a block of
// keys.
func (a *attend) multiplyKeysByGroups() {
	var scores []string
	for _, s := range a.score {
		scores = append(scores, s[:]...)
	}
	keys := a.descriptor(true, a.here)
	never := a.op(predicates, "setp.ne.u32", a.here, a.here)
	always := a.op(predicates, "setp.eq.u32", a.here, a.here)
	a.line("wgmma.fence.sync.aligned")
	add := never
	for k, q := range a.q {
		const parts = patternRow / stepBytes
		far := a.op(longs, "add.u64", keys, fmt.Sprint(k/parts*farLen>>4))
		a.wgmma(scores, q, a.descriptorAt(far, 2, true, k%parts), add, true)
		add = always
	}
	a.line("wgmma.commit_group.sync.aligned")
}

// addByGroups adds weighted values.
func (a *attend) addByGroups(all []weights) {
	var sums []string
	for _, s := range a.sum {
		sums = append(sums, s[:]...)
	}
	values := a.descriptor(false, a.op(words, "add.u32", a.here, fmt.Sprint(a.valuesAt())))
	always := a.op(predicates, "setp.eq.u32", a.here, a.here)
	a.line("wgmma.fence.sync.aligned")
	for i, w := range all {
		a.wgmma(sums, w[0], a.descriptorAt(values, 2, false, i), always, false)
	}
	a.line("wgmma.commit_group.sync.aligned")
	a.line("wgmma.wait_group.sync.aligned 0")
}

// wgmma adds the product of 64 rows in registers and all columns, which are deep
// if values of k lie side by side.
func (a *attend) wgmma(sums, x []string, y, add string, deep bool) {
	turned := map[bool]int{false: 1}[deep]
	a.line("wgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, {%s}, %s, %s, 1, 1, %d",
		len(sums)*2, strings.Join(sums, ", "), strings.Join(x, ", "), y, add, turned)
}
