package rewrite

import (
	"math/bits"

	"github.com/sinterml/sinter/internal/ir"
)

// bitRules are identities of integers and bool.
var bitRules = []rule{
	{"and-zero", []ir.Op{ir.And}, "x & 0 = 0", andZero},
	{"and-ones", []ir.Op{ir.And}, "x & all bits = x", andOnes},
	{"or-zero", []ir.Op{ir.Or, ir.Xor, ir.Shl, ir.Shr}, "x | 0 = x ^ 0 = x << 0 = x >> 0 = x", orZero},
	{"or-ones", []ir.Op{ir.Or}, "x | all bits = all bits", orOnes},
	{"xor-self", []ir.Op{ir.Xor}, "x ^ x = 0", xorSelf},
	{"equal-bool", []ir.Op{ir.Equal}, "b == true is b, b == false is not b", equalBool},
	{"mod-one", []ir.Op{ir.Mod}, "x mod 1 = 0", modOne},
	{"idiv-power", []ir.Op{ir.IDiv}, "floor(x / 2^k) = x >> k, also below 0", idivPower},
	{"mod-power", []ir.Op{ir.Mod}, "x mod 2^k is the low k bits, also below 0", modPower},
}

func andZero(r *rewriter, n *ir.Node) *ir.Node {
	if _, c := sides(n); is(c, 0) {
		return c
	}
	return nil
}

func andOnes(r *rewriter, n *ir.Node) *ir.Node {
	if x, c := sides(n); isOnes(c) {
		return x
	}
	return nil
}

func orZero(r *rewriter, n *ir.Node) *ir.Node {
	if x, c := sides(n); is(c, 0) {
		return x
	}
	return nil
}

func orOnes(r *rewriter, n *ir.Node) *ir.Node {
	if _, c := sides(n); isOnes(c) {
		return c
	}
	return nil
}

func xorSelf(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[0] == n.In[1] {
		return r.number(n.Type, 0)
	}
	return nil
}

func equalBool(r *rewriter, n *ir.Node) *ir.Node {
	x, c := sides(n)
	switch {
	case x.DType != ir.Bool:
		return nil
	case is(c, 1):
		return x
	case is(c, 0):
		return r.op(ir.Xor, x, r.number(n.Type, 1))
	}
	return nil
}

func modOne(r *rewriter, n *ir.Node) *ir.Node {
	if is(n.In[1], 1) {
		return r.number(n.Type, 0)
	}
	return nil
}

// power gives k where every element of n is 2^k.
func power(n *ir.Node) (k int, ok bool) {
	v, ok := splatOf(n)
	if !ok || ir.Int(n.DType, v) < 0 && !n.DType.IsUnsigned() || bits.OnesCount64(v) != 1 {
		return 0, false
	}
	return bits.TrailingZeros64(v), true
}

func idivPower(r *rewriter, n *ir.Node) *ir.Node {
	k, ok := power(n.In[1])
	if !ok {
		return nil
	}
	return r.op(ir.Shr, n.In[0], r.splat(n.DType, n.Shape, uint64(k)))
}

func modPower(r *rewriter, n *ir.Node) *ir.Node {
	k, ok := power(n.In[1])
	if !ok {
		return nil
	}
	return r.op(ir.And, n.In[0], r.splat(n.DType, n.Shape, 1<<k-1))
}
