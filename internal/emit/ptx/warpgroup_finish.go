package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// groupFinishRow is the sums from row to row in shared memory: see finishRow.
const groupFinishRow = groupCols + 8

// finishGroups has each thread take results side by side with those of its
// neighbours: all sums of the block fit where the stages were.
func (w *warpgroup) finishGroups() {
	w.If(w.value(flat.Bool, w.op(predicates, "setp.ne.u32", w.group, "0")), w.keepGroups)
	w.line("bar.sync 0")
	row0, col0 := w.block.Row0, w.block.Col0
	const wide = fillItems
	col, line := w.op(words, "and.b32", w.item, fmt.Sprint(wide-1)), w.op(words, "shr.u32", w.item, fmt.Sprint(log2(wide)))
	rows := w.op(words, "cvt.u32.u64", w.name(w.Op(flat.Sub, flat.I64, w.block.Row1, row0)))
	w.For(w.Const(flat.I32, 0), w.Const(flat.I32, groupCols), wide, false, func(first flat.Value) {
		at := w.op(words, "add.u32", w.name(first), col)
		column := w.Op(flat.Add, flat.I64, col0, w.value(flat.I64, w.op(longs, "cvt.u64.u32", at)))
		from := w.op(words, "mad.lo.u32", at, "4", w.near)
		w.If(w.Op(flat.Less, flat.Bool, column, w.block.Col1), func() {
			w.inBatches(line, rows, wgmmaItems/wide, together, func(r string) {
				kind, of := "f32", flat.F32
				if w.matrices.sums == words {
					kind, of = "u32", flat.I32
				}
				here := w.op(words, "mad.lo.u32", r, fmt.Sprint(4*groupFinishRow), from)
				sum := w.op(w.matrices.sums, "ld.shared."+kind, "["+here+"]")
				down := w.Op(flat.Add, flat.I64, row0, w.value(flat.I64, w.op(longs, "cvt.u64.u32", r)))
				w.block.Finish(down, column, w.value(of, sum))
			})
		})
	})
}

// keepGroups writes the sums of a thread to shared memory: those of row lane/4 of
// its warp's 16 and the 8th below, in each 8 columns two side by side.
func (w *warpgroup) keepGroups() {
	warp := w.op(words, "shr.u32", w.op(words, "sub.u32", w.item, fmt.Sprint(fillItems)), "5")
	row := w.op(words, "mad.lo.u32", warp, "16", w.op(words, "shr.u32", w.lane, "2"))
	col := w.op(words, "shl.b32", w.op(words, "and.b32", w.lane, "3"), "1")
	at := w.op(words, "mad.lo.u32", w.op(words, "mad.lo.u32", row, fmt.Sprint(groupFinishRow), col), "4", w.near)
	kind := files[w.matrices.sums].kind
	for i := 0; i < len(w.sums); i += 2 {
		behind := 4 * (i/4*8 + i/2%2*8*groupFinishRow)
		w.line("st.shared.v2.%s [%s+%d], {%s, %s}", kind, at, behind, w.sums[i], w.sums[i+1])
	}
}
