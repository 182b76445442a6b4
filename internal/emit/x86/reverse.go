package x86

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// Lanes that lie one before the other, as of an axis that is flipped, are read at once and
// put in their order.

// backwards tells whether lanes lie so.
func backwards(a native.Access) bool {
	if a.Stride == nil {
		return false
	}
	c, ok := a.Stride.Constant()
	return ok && c == -1
}

// loadBackwards reads the lanes of copy u.
func (e *emitter) loadBackwards(n *node, a native.Access, u int) reg {
	x := e.loadLanes(n.DType, e.pointer(n.Param, a.From((u+1)*e.wide()-1)), 0)
	if e.Stopped() {
		return 0
	}
	return e.v(asm.VPERMPS, r(e.downFrom(e.wide()-1, 4)), r(x))
}

// loadWideBackwards is loadBackwards for lanes of 8 bytes.
func (e *emitter) loadWideBackwards(n *node, a native.Access, u int) val {
	half := e.wide() / 2
	return both(func(i int) reg {
		x := e.pointer(n.Param, a.From(u*e.wide()+(i+1)*half-1))
		if e.isa == AVX2 {
			return e.vImm(asm.VPERMPD, 0b00_01_10_11, x)
		}
		return e.v(asm.VPERMPD, r(e.downFrom(half-1, 8)), x)
	})
}

// downFrom is n, n-1, ... 0 in lanes of elem bytes.
func (e *emitter) downFrom(n int, elem uint8) reg {
	key := constKey{bits: 1<<63 | uint64(n), kind: dataOperand, class: vec, elem: elem}
	x := e.consts[key]
	if x == 0 {
		var b []byte
		for i := n; i >= 0; i-- {
			if elem == 4 {
				b = binary.LittleEndian.AppendUint32(b, uint32(i))
			} else {
				b = binary.LittleEndian.AppendUint64(b, uint64(i))
			}
		}
		x = e.once(vec, asm.VMOVUPS, e.table(b))
		e.consts[key] = x
	}
	return x
}
