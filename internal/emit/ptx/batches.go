package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// What a thread does for one row waits for memory, most of the time. Rows that
// stand one after the other in the code wait together: their loads are begun before
// the first of them is used.

// together are how many rows are visited at once while there are so many, by the
// columns of each.
var together = map[int][]int{1: {14, 4, 1}, 2: {7, 2, 1}, 4: {4, 1}}

// rowsAtOnce and fillsAtOnce are how many rows of a result are finished, and elements
// of an operand computed, at once beside the sums of a block, where registers are
// left for that: not of a thread that has half of them, as an SM has two blocks.
func (t *tensor) rowsAtOnce() []int {
	if t.target.blocks(t.kernel) > 1 || t.packed() == 4 {
		return []int{1}
	}
	return []int{4 / t.packed(), 1}
}

func (t *tensor) fillsAtOnce() int {
	if t.target.blocks(t.kernel) > 1 {
		return 1
	}
	return 4
}

// inBatches visits the rows from, from+step, ... below end.
func (b *builder) inBatches(from, end string, step int, sizes []int, visit func(row string)) {
	row := b.op(words, "mov.u32", from)
	for _, n := range sizes {
		top, past := b.label(), b.label()
		last := func() string { return b.op(words, "add.u32", row, fmt.Sprint((n-1)*step)) }
		b.line("@%s bra %s", b.op(predicates, "setp.ge.s32", last(), end), past)
		b.top(top)
		for i := range n {
			visit(b.op(words, "add.u32", row, fmt.Sprint(i*step)))
		}
		b.line("add.u32 %s, %s, %d", row, row, n*step)
		b.line("@%s bra %s", b.op(predicates, "setp.lt.s32", last(), end), top)
		b.mark(past)
	}
}

// inTurns does something n times, a divisor or multiple of atOnce: what some of them
// begin is ended behind the last.
func (b *builder) inTurns(n, atOnce int, begin func(turn string) (end func())) {
	atOnce = min(n, atOnce)
	b.For(b.Const(flat.I32, 0), b.Const(flat.I32, uint64(n)), atOnce, false, func(first flat.Value) {
		var ends []func()
		for i := range atOnce {
			ends = append(ends, begin(b.op(words, "add.u32", b.name(first), fmt.Sprint(i))))
		}
		for _, end := range ends {
			end()
		}
	})
}
