package x86

import (
	"encoding/binary"
	"math"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// address is where copy u of an access begins.
func (e *emitter) address(param int, a native.Access, u int) operand {
	return e.pointer(param, a.From(u*e.wide()))
}

// pointer is the address of element index: a pointer for what is known outside
// the loop being written, an index register for what changes in it, and a
// displacement.
func (e *emitter) pointer(param int, index *poly) operand {
	size := int64(e.Kernel.Params[param].DType.Size())
	p := index.Scaled(size)
	m := operand{kind: memOperand}
	outer, here := e.Split(p)
	c := p.C
	if int64(int32(c)) != c || c > math.MaxInt32-1024 {
		outer.C, c = c, 0
	}
	m.disp = int32(c)
	m.reg = e.Base(param, outer)
	switch {
	case len(here.Monos) == 1 && len(here.Monos[0].Atoms) == 1 && scale1248(here.Monos[0].Coef):
		m.index, m.scale = e.AtomValue(here.Monos[0].Atoms[0]), uint8(here.Monos[0].Coef)
	case len(here.Monos) > 0:
		m.index, m.scale = e.Sum(here), 1
	}
	return m
}

// element is the address of a scalar load.
func (e *emitter) element(n *node) operand {
	return e.pointer(n.Param, e.Graph.PolyOf(n.Operands[0]))
}

// vectorIndex makes m the base of a gather or scatter; an index register it has
// is added to its base first.
func (e *emitter) vectorIndex(m operand, index reg, scale uint8) operand {
	if m.index != 0 {
		m = operand{kind: memOperand, reg: e.g(asm.LEA, m)}
	}
	m.index, m.scale, m.byVec = index, scale, true
	return m
}

// laneOffsets is lane*stride in 32-bit lanes, where that is sure to fit.
func (e *emitter) laneOffsets(stride *poly) (reg, bool) {
	if stride == nil {
		return 0, false
	}
	most, ok := stride.Upper()
	if !ok || most > math.MaxInt32/64 {
		return 0, false
	}
	if c, ok := stride.Constant(); ok {
		return e.laneNumbers(int32(c), 0), true
	}
	x := e.broadcastGeneral(e.Sum(stride), asm.VPBROADCASTD)
	return e.v(asm.VPMULLD, r(x), r(e.laneNumbers(1, 0))), true
}

// laneNumbers is step times the number of each 32-bit lane of copy u.
func (e *emitter) laneNumbers(step int32, u int) reg {
	key := constKey{bits: uint64(u)<<32 | uint64(uint32(step)), kind: dataOperand, class: vec, elem: 4}
	x := e.consts[key]
	if x == 0 {
		var b []byte
		for i := range int32(e.wide()) {
			b = binary.LittleEndian.AppendUint32(b, uint32((int32(u*e.wide())+i)*step))
		}
		x = e.once(vec, asm.VMOVUPS, e.table(b))
		e.consts[key] = x
	}
	return x
}
