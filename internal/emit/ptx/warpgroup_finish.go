package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// finishRow is the sums from row to row in shared memory: see the constant.
func (f groupForm) finishRow() int { return int(f) + 8 }

// finishGroups has each thread take results side by side with those of its
// neighbours: all sums of the block fit where the stages were.
func (w *warpgroup) finishGroups() {
	w.If(w.value(flat.Bool, w.op(predicates, "setp.ne.u32", w.group, "0")), w.keepGroups)
	w.line("bar.sync 0")
	row0, col0, n := w.block.Row0, w.block.Col0, w.packed()
	across := lineThreads(int(w.form) / n)
	lines := wgmmaItems / across
	mine, line := w.op(words, "and.b32", w.item, fmt.Sprint(across-1)), w.op(words, "shr.u32", w.item, fmt.Sprint(log2(across)))
	rows := w.op(words, "cvt.u32.u64", w.name(w.Op(flat.Sub, flat.I64, w.block.Row1, row0)))
	w.For(w.Const(flat.I32, 0), w.Const(flat.I32, uint64(int(w.form)/n)), across, false, func(first flat.Value) {
		at := w.op(words, "mul.lo.u32", w.op(words, "add.u32", w.name(first), mine), fmt.Sprint(n))
		column := w.Op(flat.Add, flat.I64, col0, w.value(flat.I64, w.op(longs, "cvt.u64.u32", at)))
		from := w.op(words, "mad.lo.u32", at, "4", w.near)
		w.If(w.Op(flat.Less, flat.Bool, column, w.block.Col1), func() {
			w.inBatches(line, rows, lines, together[n], func(r string) {
				here := w.op(words, "mad.lo.u32", r, fmt.Sprint(4*w.form.finishRow()), from)
				down := w.Op(flat.Add, flat.I64, row0, w.value(flat.I64, w.op(longs, "cvt.u64.u32", r)))
				w.finishAt(down, column, here)
			})
		})
	})
}

// lineThreads is how many threads take a row, so many results at a time: a power of
// two that divides those, 128 at most.
func lineThreads(results int) int { return min(results&-results, 128) }

// keepGroups writes the sums of a thread to shared memory: those of row lane/4 of
// its warp's 16 and the 8th below, in each 8 columns two side by side.
func (w *warpgroup) keepGroups() {
	warp := w.op(words, "shr.u32", w.op(words, "sub.u32", w.item, fmt.Sprint(fillItems)), "5")
	row := w.op(words, "mad.lo.u32", warp, "16", w.op(words, "shr.u32", w.lane, "2"))
	col := w.op(words, "shl.b32", w.op(words, "and.b32", w.lane, "3"), "1")
	at := w.op(words, "mad.lo.u32", w.op(words, "mad.lo.u32", row, fmt.Sprint(w.form.finishRow()), col), "4", w.near)
	kind := files[w.matrices.sums].kind
	for i := 0; i < len(w.sums); i += 2 {
		behind := 4 * (i/4*8 + i/2%2*8*w.form.finishRow())
		w.line("st.shared.v2.%s [%s+%d], {%s, %s}", kind, at, behind, w.sums[i], w.sums[i+1])
	}
}
