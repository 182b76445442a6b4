package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// Matrices that wgmma reads lie in shared memory in rows of 128 bytes, of which
// eight make a pattern. In its rows pieces of 16 bytes are exchanged: eight that lie
// below each other are in banks of their own.
const (
	patternRow = 128
	patternLen = 8 * patternRow
	// farLen is how far 64 rows or columns lie from the next where memory has them,
	// not k, side by side.
	farLen = 64 * patternRow
)

// exchanged is where in a row of its pattern a piece of 16 bytes lies.
func (b *builder) exchanged(piece, row string) string {
	other := b.op(words, "and.b32", b.op(words, "xor.b32", piece, row), "7")
	return b.op(words, "shl.b32", other, "4")
}

// descriptor says where a matrix lies from an address on: see PTX about matrices
// in shared memory in patterns of 128 bytes.
func (b *builder) descriptor(deep bool, at string) string {
	const swizzled = 1 << 62
	how := uint64(swizzled | patternLen>>4<<32 | 1<<16)
	if !deep {
		how = swizzled | patternLen>>4<<32 | farLen>>4<<16
	}
	return b.op(longs, "or.b64", b.op(longs, "cvt.u64.u32", b.op(words, "shr.u32", at, "4")), fmt.Sprint(how))
}

// descriptorAt is that of the i-th part of k in a stage, of elements of so many
// bytes.
func (b *builder) descriptorAt(d string, size int, deep bool, i int) string {
	step := stepBytes
	if !deep {
		step = stepBytes / size * patternRow
	}
	return b.op(longs, "add.u64", d, fmt.Sprint(i*step>>4))
}

// alone has one thread do something.
func (b *builder) alone(item string, do func()) {
	b.If(b.value(flat.Bool, b.op(predicates, "setp.eq.u32", item, "0")), do)
}
