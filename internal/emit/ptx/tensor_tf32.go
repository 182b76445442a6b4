package ptx

import (
	"fmt"
)

// Products of f32 that may be rounded to TF32 go the way of narrow numbers. They
// are copied as f32, and each lane rounds what it has loaded: the instruction
// itself would cut the digits off.

// tf32Row is the bytes of one k in shared memory where rows or columns lie side
// by side. ldmatrix turns pairs of bytes alone, so lanes load element by element:
// from 4 k, and 8 rows each, which have banks of their own, as a row is 8 words
// longer than a multiple of all banks.
const tf32Row = 4*tensorWide + 32

// firstTF32 is where in a stage the first element of a lane is then, from the row
// or column on: that of k lane%4, lane/4 further on.
func (t *tensor) firstTF32(from string) string {
	along := t.op(words, "add.u32", from, t.op(words, "shr.u32", t.lane, "2"))
	k := t.op(words, "and.b32", t.lane, "3")
	return t.op(words, "mad.lo.u32", k, fmt.Sprint(tf32Row), t.op(words, "shl.b32", along, "2"))
}

// fourTF32 is four16 of elements that are rounded then.
func (t *tensor) fourTF32(deep bool, base string, offset int, depthFirst bool) []string {
	var all []string
	if deep {
		all = t.matrix4("", base, offset) // whose rows are 4 elements
	} else {
		second, third := 4*8, 4*tf32Row // 8 further along, and 4 k
		if depthFirst {
			second, third = third, second
		}
		for _, behind := range []int{0, second, third, second + third} {
			all = append(all, t.op(words, "ld.shared.b32", fmt.Sprintf("[%s+%d]", base, offset+behind)))
		}
	}
	for i, x := range all {
		all[i] = t.op(words, "cvt.rna.tf32.f32", x)
	}
	return all
}
