package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
)

// load reads 32-bit lanes, widening narrow types.
func (e *emitter) load(n *node, u int) reg {
	if !e.Varies(n) {
		return e.loadScalar(n)
	}
	if len(n.Operands) == 2 {
		e.NeedOneLane("a conditional load")
		return 0
	}
	a := e.AccessOf(n.Operands[0])
	switch {
	case e.Stopped():
		return 0
	case !a.Lane:
		return e.loadScalar(n)
	case a.Unit():
		return e.loadLanes(n.DType, e.address(n.Param, a, u))
	case a.Stride != nil && n.DType.Size() == 4:
		return e.collect(n.Param, a, u)
	}
	e.NeedOneLane("a gather")
	return 0
}

// collect reads lanes that lie at equal distances, one by one.
func (e *emitter) collect(param int, a native.Access, u int) reg {
	x := e.loadFrom(vec, asm.LDRVS, e.address(param, a, u))
	for i := 1; i < wide; i++ {
		m := e.pointer(param, a.Index.Plus(a.Stride, int64(u*wide+i)))
		y := e.g(asm.FMOVXS, e.loadFrom(vec, asm.LDRVS, m))
		x = e.insert(x, y, i)
	}
	return x
}

// insert is x with lane i replaced by a general register.
func (e *emitter) insert(x, y reg, i int) reg {
	in := e.result(vec, asm.INSSX, []reg{x, y})
	in.tied, in.lane, in.hasLane = true, int64(i), true
	return in.dst
}

// loadLanes reads elements that lie one after the other.
func (e *emitter) loadLanes(d ir.DType, m address) reg {
	widen := func(op asm.Op, x reg) reg { return e.vImm(op, 0, x) }
	switch d {
	case ir.F32, ir.I32, ir.U32:
		return e.loadFrom(vec, asm.LDRVQ, m)
	case ir.I8:
		return widen(asm.SXTL4S, widen(asm.SXTL8H, e.loadFrom(vec, asm.LDRVS, m)))
	case ir.U8, ir.Bool:
		return widen(asm.UXTL4S, widen(asm.UXTL8H, e.loadFrom(vec, asm.LDRVS, m)))
	case ir.I16:
		return widen(asm.SXTL4S, e.loadFrom(vec, asm.LDRVD, m))
	case ir.U16:
		return widen(asm.UXTL4S, e.loadFrom(vec, asm.LDRVD, m))
	case ir.BF16:
		return e.vImm(asm.SHL4S, 16, widen(asm.UXTL4S, e.loadFrom(vec, asm.LDRVD, m)))
	case ir.F16:
		return e.v(asm.FCVTL4S, e.loadFrom(vec, asm.LDRVD, m))
	}
	e.Unsupported("loads of %v", d)
	return 0
}

// loadScalar reads one element and fills the register with it; 0 where the
// condition is false.
func (e *emitter) loadScalar(n *node) reg {
	if len(n.Operands) == 1 {
		return e.loadOne(n.DType, e.element(n))
	}
	flag := e.Flag(n.Operands[1])
	m := e.element(n)
	skip := e.a.NewLabel()
	in := e.result(vec, 0, nil)
	in.kind = zeroing
	x := in.dst
	e.jumpZero(flag, skip)
	e.Move(x, e.loadOne(n.DType, m))
	e.label(skip)
	return x
}

func (e *emitter) loadOne(d ir.DType, m address) reg {
	switch d {
	case ir.F32, ir.I32, ir.U32:
		return e.loadFrom(vec, asm.LD1R4S, m)
	case ir.F64:
		return e.loadFrom(vec, asm.LD1R2D, m)
	case ir.I8, ir.U8, ir.Bool, ir.I16, ir.U16:
		return e.broadcast(e.widenedLoad(d, m))
	case ir.F16:
		return e.v(asm.FCVTL4S, e.broadcast16(e.widenedLoad(ir.U16, m)))
	case ir.BF16:
		return e.vImm(asm.SHL4S, 16, e.broadcast(e.widenedLoad(ir.U16, m)))
	}
	e.Unsupported("loads of %v", d)
	return 0
}

// broadcast16 has the low 16 bits in each of the lower four 16-bit lanes.
func (e *emitter) broadcast16(x reg) reg {
	return e.v(asm.XTN4H, e.broadcast(x))
}

var widenedLoads = map[ir.DType]asm.Op{
	ir.I8: asm.LDRSB, ir.U8: asm.LDRB, ir.Bool: asm.LDRB, ir.I16: asm.LDRSH, ir.U16: asm.LDRH,
	ir.I32: asm.LDRSW, ir.U32: asm.LDRW, ir.I64: asm.LDR, ir.U64: asm.LDR,
}

// widenedLoad loads an integer of any width, or a bool.
func (e *emitter) widenedLoad(d ir.DType, m address) reg {
	op, ok := widenedLoads[d]
	if !ok {
		e.Unsupported("loads of %v", d)
		return 0
	}
	return e.loadFrom(gpr, op, m)
}

// loadMask reads bools.
func (e *emitter) loadMask(n *node, u int) reg {
	if !e.Varies(n) {
		return e.maskFromFlag(e.Flag(n))
	}
	return e.maskFromLanes(e.load(n, u))
}

// LoadGeneral reads a scalar integer or bool; 0 where its condition is false.
func (e *emitter) LoadGeneral(n *node) reg {
	if len(n.Operands) == 1 {
		return e.widenedLoad(n.DType, e.element(n))
	}
	flag := e.Flag(n.Operands[1])
	m := e.element(n)
	skip := e.a.NewLabel()
	x := e.NewReg(gpr)
	e.Move(x, e.Number(0))
	e.jumpZero(flag, skip)
	e.Move(x, e.widenedLoad(n.DType, m))
	e.label(skip)
	return x
}
