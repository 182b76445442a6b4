package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// random is one u32 of Philox 4x32-10: the block is the flat index divided by
// four, the word within it the remainder, in 32 bits, as vectors of some
// processors have no lanes of 64. Source: Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011.
func (b *builder) random(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	key := make([]*loop.Expr, 4)
	for i := range key {
		k, err := b.value(n.In[0], []*loop.Expr{loop.Int(i)}, valid)
		if err != nil {
			return nil, err
		}
		key[i] = k
	}
	u32 := func(v uint32) *loop.Expr { return loop.Const(ir.U32, uint64(v)) }
	op := func(o ir.Op, x, y *loop.Expr) *loop.Expr { return loop.Apply(o, ir.U32, x, y) }
	flat := linear(idx, n.Shape)
	low := loop.Apply(ir.Cast, ir.U32, flat)
	c := [4]*loop.Expr{op(ir.Shr, low, u32(2)), u32(0), key[2], key[3]}
	if _, most := n.Shape.Numel().Bounds(); most > 1<<32 {
		high := loop.Apply(ir.Cast, ir.U32, loop.Apply(ir.Shr, ir.I64, flat, loop.Int(32)))
		c[0], c[1] = op(ir.Or, c[0], op(ir.Shl, high, u32(30))), op(ir.Shr, high, u32(2))
	}
	word := op(ir.And, low, u32(3))
	k0, k1 := key[0], key[1]
	for round := range 10 {
		if round > 0 {
			k0, k1 = op(ir.Add, k0, u32(0x9E3779B9)), op(ir.Add, k1, u32(0xBB67AE85))
		}
		h0, l0 := op(ir.MulHi, c[0], u32(0xD2511F53)), op(ir.Mul, c[0], u32(0xD2511F53))
		h1, l1 := op(ir.MulHi, c[2], u32(0xCD9E8D57)), op(ir.Mul, c[2], u32(0xCD9E8D57))
		c = [4]*loop.Expr{op(ir.Xor, op(ir.Xor, h1, c[1]), k0), l1, op(ir.Xor, op(ir.Xor, h0, c[3]), k1), l0}
	}
	r := c[3]
	for i := 2; i >= 0; i-- {
		r = loop.Apply(ir.Where, ir.U32, loop.Apply(ir.Equal, ir.Bool, word, u32(uint32(i))), c[i], r)
	}
	return r, nil
}
