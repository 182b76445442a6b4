package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// finishRow is the sums from row to row in shared memory: so many that rows
// which the lanes of a warp write together have banks of their own.
const finishRow = tensorWide + 8

// finish has each thread take results side by side with those of its neighbours:
// the sums go through shared memory, those of the warps that stand side by side
// at a time.
func (t *tensor) finish() {
	row0, col0 := t.block.Row0, t.block.Col0
	mine := t.place()
	across := tensorWide / t.packed() // threads of a line
	col := t.op(words, "mul.lo.u32", t.op(words, "and.b32", t.item, fmt.Sprint(across-1)), fmt.Sprint(t.packed()))
	line := t.op(words, "shr.u32", t.item, fmt.Sprint(log2(across)))
	column := t.Op(flat.Add, flat.I64, col0, t.value(flat.I64, t.op(longs, "cvt.u64.u32", col)))
	inside := t.Op(flat.Less, flat.Bool, column, t.block.Col1)
	from := t.op(words, "mad.lo.u32", t.op(words, "mad.lo.u32", line, fmt.Sprint(finishRow), col), "4", t.near)
	rows := t.op(words, "cvt.u32.u64", t.name(t.Op(flat.Sub, flat.I64, t.block.Row1, row0)))
	t.For(t.Const(flat.I32, 0), t.Const(flat.I32, tensorWide), warpRows, false, func(first flat.Value) {
		t.line("bar.sync 0")
		t.keep(first, mine)
		t.line("bar.sync 0")
		t.If(inside, func() {
			left := t.op(words, "sub.u32", rows, t.name(first))
			end := t.op(words, "min.s32", left, fmt.Sprint(warpRows))
			t.inBatches(line, end, tensorItems/across, t.rowsAtOnce(), func(r string) {
				// From the first line of the thread on.
				lines := t.op(words, "sub.u32", r, line)
				at := t.op(words, "mad.lo.u32", lines, fmt.Sprint(4*finishRow), from)
				row := t.op(words, "add.u32", t.name(first), r)
				down := t.Op(flat.Add, flat.I64, row0, t.value(flat.I64, t.op(longs, "cvt.u64.u32", row)))
				t.finishAt(down, column, at)
			})
		})
	})
}

// packed is how many columns a thread takes at once.
func (t *tensor) packed() int {
	if p := t.kernel.Packed; p != nil {
		return p.Each
	}
	return 1
}

// finishAt takes the results of a row whose sums lie at an address.
func (t *tensor) finishAt(row, column flat.Value, at string) {
	kind, of := "f32", flat.F32
	if t.sums == words {
		kind, of = "u32", flat.I32
	}
	n := t.packed()
	if n == 1 {
		t.block.Finish(row, column, t.value(of, t.op(t.sums, "ld.shared."+kind, "["+at+"]")))
		return
	}
	var sums []flat.Value
	var names []string
	for range n {
		r := t.reg(t.sums)
		sums, names = append(sums, t.value(of, r)), append(names, r)
	}
	t.line("ld.shared.v%d.%s {%s}, [%s]", n, kind, strings.Join(names, ", "), at)
	t.block.FinishPack(row, column, sums)
}

// place is where the first sum of a thread belongs.
func (t *tensor) place() string {
	row, col := t.op(words, "shr.u32", t.lane, "2"), t.op(words, "shl.b32", t.op(words, "and.b32", t.lane, "3"), "1")
	col = t.op(words, "add.u32", col, t.across)
	if t.fma {
		row, col = t.singlePlace()
	}
	return t.op(words, "mad.lo.u32", t.op(words, "mad.lo.u32", row, fmt.Sprint(finishRow), col), "4", t.near)
}

// keep writes those of the sums to shared memory that lie in the rows from first
// on.
func (t *tensor) keep(first flat.Value, mine string) {
	if t.fma {
		t.keepSingles(first, mine)
		return
	}
	kind := files[t.sums].kind
	t.If(t.value(flat.Bool, t.op(predicates, "setp.eq.u32", t.name(first), t.down)), func() {
		for i := range t.sum {
			for j, s := range t.sum[i] {
				at := 4 * (16*i*finishRow + 8*j)
				t.line("st.shared.v2.%s [%s+%d], {%s, %s}", kind, mine, at, s[0], s[1])
				t.line("st.shared.v2.%s [%s+%d], {%s, %s}", kind, mine, at+4*8*finishRow, s[2], s[3])
			}
		}
	})
}
