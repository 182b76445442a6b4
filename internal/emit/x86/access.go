package x86

import (
	"encoding/binary"
	"math"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// access is how the lanes of a value lie in a buffer.
type access struct {
	index  *poly // in elements, of lane 0 of copy 0
	lane   bool  // differs from lane to lane
	stride *poly // elements from lane to lane; nil if that differs
}

// accessOf finds how index moves with the lanes.
func (e *emitter) accessOf(index *node) access {
	a := access{index: e.graph.PolyOf(index)}
	if !e.varies(index) {
		return a
	}
	a.lane = true
	differs := deps{Vars: e.scopes[e.lanes.level].changes.Vars, Locals: e.laneLocal}
	a.stride, _ = a.index.Stride(e.scopes[e.lanes.level].loop.Var, differs)
	return a
}

// unit tells whether lanes lie one after the other.
func (a *access) unit() bool {
	if a.stride == nil {
		return false
	}
	c, ok := a.stride.Constant()
	return ok && c == 1
}

// address is where copy u of an access begins.
func (e *emitter) address(param int, a access, u int) operand {
	index := a.index
	if a.stride != nil && u > 0 {
		index = index.Plus(a.stride, int64(u*e.wide()))
	}
	return e.pointer(param, index)
}

// pointer is the address of element index: a pointer for what is known outside
// the loop being written, an index register for what changes in it, and a
// displacement.
func (e *emitter) pointer(param int, index *poly) operand {
	size := int64(e.k.Params[param].DType.Size())
	p := index.Scaled(size)
	m := operand{kind: memOperand}
	outer, here, level := e.split(p)
	c := p.C
	if int64(int32(c)) != c || c > math.MaxInt32-1024 {
		outer.C, c = c, 0
	}
	m.disp = int32(c)
	m.reg = e.base(param, outer, level)
	switch {
	case len(here.Monos) == 1 && len(here.Monos[0].Atoms) == 1 && scale1248(here.Monos[0].Coef):
		m.index, m.scale = e.atomValue(here.Monos[0].Atoms[0]), uint8(here.Monos[0].Coef)
	case len(here.Monos) > 0:
		m.index, m.scale = e.sum(here), 1
	}
	return m
}

// base is the buffer's address plus p bytes.
func (e *emitter) base(param int, p *poly, level int) reg {
	buffer := e.word(e.layout.Params + param)
	if len(p.Monos) == 0 && p.C == 0 {
		return buffer
	}
	return e.keyed(p, 'p', param, level, func() reg {
		outer, here, below := e.split(p)
		x := buffer
		if len(here.Monos) > 0 && len(outer.Monos) > 0 {
			x = e.base(param, outer, below)
		} else {
			here = p
		}
		for _, m := range here.Monos {
			x = e.plusMono(x, m)
		}
		return e.addTo(x, p.C)
	})
}

// element is the address of a scalar load.
func (e *emitter) element(n *node) operand {
	return e.pointer(n.Param, e.graph.PolyOf(n.Operands[0]))
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
		return e.laneNumbers(int32(c)), true
	}
	x := e.broadcastGeneral(e.sum(stride), asm.VPBROADCASTD)
	return e.v(asm.VPMULLD, r(x), r(e.laneNumbers(1))), true
}

// laneNumbers is step times the number of each 32-bit lane.
func (e *emitter) laneNumbers(step int32) reg {
	key := constKey{bits: uint64(uint32(step)), kind: dataOperand, class: vec, elem: 4}
	x := e.consts[key]
	if x == 0 {
		var b []byte
		for i := range int32(e.wide()) {
			b = binary.LittleEndian.AppendUint32(b, uint32(i*step))
		}
		x = e.once(vec, asm.VMOVUPS, e.table(b))
		e.consts[key] = x
	}
	return x
}
