package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// Lanes of AVX2 that lie a constant number of elements apart are read and written each
// by an instruction of its own: there is no scatter, and the processor's gather does as
// many loads, on some processors far slower.

// gatherApart reads the lanes of copy u, if they lie so.
func (e *emitter) gatherApart(n *node, a native.Access, u int) (reg, bool) {
	if !evenlyApart(a, n.DType) || n.DType.Size() > 4 {
		return 0, false
	}
	lane := e.lanesApart(n.Param, a, u)
	if n.DType.Size() < 4 {
		insert := asm.VPINSRW
		if n.DType.Size() == 1 {
			insert = asm.VPINSRB
		}
		x := e.zero()
		for i := range e.wide() {
			x = e.vImm(insert, int64(i), r(x), lane(i))
		}
		x = e.v(loadOps[n.DType], r(x))
		if n.DType == ir.BF16 {
			x = e.vImm(asm.VPSLLD, 16, r(x))
		}
		return x, true
	}
	var half [2]reg
	for h := range half {
		x := e.v(asm.VMOVSS, lane(4*h))
		for i := 1; i < 4; i++ {
			x = e.vImm(asm.VINSERTPS, int64(i<<4), r(x), lane(4*h+i))
		}
		half[h] = x
	}
	return e.joinHalves(half[0], half[1]), true
}

// scatterApart writes the lanes of copy u, if they lie so: x, a mask where they are bools.
func (e *emitter) scatterApart(param int, a native.Access, x reg, u int) bool {
	d := e.Kernel.Params[param].DType
	if !evenlyApart(a, d) || d.Size() != 4 && d.Size() != 1 {
		return false
	}
	lane := e.lanesApart(param, a, u)
	if d.Size() == 1 {
		if d == ir.Bool {
			x = e.oneWhere(x, 1)
		}
		x = e.lowBytes(x)
		for i := range e.wide() {
			e.doImm(asm.VPEXTRB, int64(i), lane(i), r(x))
		}
		return true
	}
	for h := range 2 {
		if h > 0 {
			x = e.vImm(asm.VEXTRACTI128, 1, r(x))
		}
		e.do(asm.VMOVSS, lane(4*h), r(x))
		for i := 1; i < 4; i++ {
			e.doImm(asm.VEXTRACTPS, int64(i), lane(4*h+i), r(x))
		}
	}
	return true
}

// evenlyApart tells whether lanes of d lie a constant number of elements apart, and not a
// multiple of a page, or of half a page where they are of 8 bytes: those share a place or
// two in the first cache, and eight of them at once are slower than one by one.
func evenlyApart(a native.Access, d ir.DType) bool {
	if a.Stride == nil {
		return false
	}
	c, ok := a.Stride.Constant()
	size := max(4, d.Size())
	return ok && c%int64(page/size/(size/4)) != 0
}

// lanesApart tells where each lane of copy u lies.
func (e *emitter) lanesApart(param int, a native.Access, u int) func(i int) operand {
	return func(i int) operand { return e.pointer(param, a.From(u*e.wide()+i)) }
}
