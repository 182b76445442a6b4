package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Lanes of 8 bytes, f64 and i64, take two registers: one with the lower half of the
// lanes, one with the upper. Where all lanes are alike both are the same register, and a
// scalar f64 outside vector code has the first alone.

// wideOperand is a value of 8 bytes as the last source of instructions, each of which
// may be in memory.
type wideOperand [2]operand

func wideRegs(v val) wideOperand { return wideOperand{r(v[0]), r(v[1])} }

// eachHalf applies f to the halves of lanes: once where those of all arguments are alike,
// and to the first alone where there is no other.
func eachHalf(f func(i int) reg, args ...wideOperand) val {
	x := f(0)
	if args[0][1].kind == regOperand && args[0][1].reg == 0 {
		return val{x}
	}
	for _, a := range args {
		if a[0] != a[1] {
			return val{x, f(1)}
		}
	}
	return val{x, x}
}

// wideVec is vec for types of 8 bytes as well.
func (e *emitter) wideVec(n *node, u int) val {
	if n.Kind == loop.KindLocal {
		v := e.ReadLocal(n, u)
		if v[0] == 0 || e.Regs[v[0]].Class != gpr {
			if v[1] == 0 && native.Wide(n.DType) {
				v[1] = v[0]
			}
			return v
		}
	}
	return e.Value(n, native.AsVec, u, func() val { return e.makeVec(n, u) })
}

// makeWide computes lanes of 8 bytes.
func (e *emitter) makeWide(n *node, u int) val {
	switch {
	case n.Kind == loop.KindConst:
		x := e.constant(n.Bits, 8)
		return val{x, x}
	case n.DType == ir.I64 && !e.Varies(n):
		x := e.broadcastGeneral(e.General(n), asm.VPBROADCASTQ)
		return val{x, x}
	}
	switch n.Kind {
	case loop.KindVar:
		return e.positions(u)
	case loop.KindLoad:
		return e.loadWide(n, u)
	case loop.KindIndex:
		return e.clampWide(n, u)
	case loop.KindApply:
		if n.DType == ir.F64 {
			return e.applyDouble(n, u)
		}
		return e.applyWide(n, u)
	}
	e.Unsupported("%v of kind %d", n.DType, n.Kind)
	return val{}
}

// lastWide is last for lanes of 8 bytes.
func (e *emitter) lastWide(n *node, u int) wideOperand {
	if n.Kind == loop.KindConst && n.Bits != 0 {
		return wideOperand{bits64(n.Bits), bits64(n.Bits)}
	}
	if m, ok := e.foldLoad(n, u); ok {
		return wideOperand{m, e.upperHalf(m)}
	}
	return wideRegs(e.wideVec(n, u))
}

// upperHalf is where the upper half of lanes of 8 bytes lies.
func (e *emitter) upperHalf(m operand) operand {
	m.disp += int32(4 * e.wide())
	return m
}

// widePair is pair for lanes of 8 bytes.
func (e *emitter) widePair(a, b *node, u int) (val, wideOperand) {
	if !e.free(b, u) && b.Need > a.Need {
		y := e.wideVec(b, u)
		return e.wideVec(a, u), wideRegs(y)
	}
	x := e.wideVec(a, u)
	return x, e.lastWide(b, u)
}

// combineWide is op on two values of d, f64 or i64.
func (e *emitter) combineWide(op ir.Op, d ir.DType, x val, y wideOperand) val {
	if e.Stopped() {
		return val{}
	}
	return eachHalf(func(i int) reg { return e.wideBinary(op, d, x[i], y[i]) }, wideRegs(x), y)
}

func (e *emitter) wideBinary(op ir.Op, d ir.DType, x reg, y operand) reg {
	if o, ok := simple[opType{op, d}]; ok {
		return e.v(o, r(x), y)
	}
	switch {
	case d == ir.I64:
		return e.wideInteger(op, x, e.inRegister(y))
	case op == ir.Min || op == ir.Max:
		return e.minMax(&double, op, x, e.inRegister(y))
	}
	e.Unsupported("%v of %v", op, d)
	return 0
}

// blendWide is yes where the masks of halves say so, else no.
func (e *emitter) blendWide(k val, yes wideOperand, no val) val {
	return eachHalf(func(i int) reg {
		if e.isa == AVX2 {
			return e.v(asm.VBLENDVPD, r(no[i]), yes[i], r(k[i]))
		}
		in := e.inst(asm.VBLENDMPD, vec, []operand{r(no[i]), yes[i]})
		in.mask = k[i]
		return e.Add(in).dst
	}, wideRegs(no), wideRegs(k), yes)
}

// whereWide is ir.Where.
func (e *emitter) whereWide(n *node, u int) val {
	k := e.maskHalves(n.Operands[0], u)
	no := e.wideVec(n.Operands[2], u)
	yes := e.lastWide(n.Operands[1], u)
	if e.Stopped() {
		return val{}
	}
	return e.blendWide(k, yes, no)
}
