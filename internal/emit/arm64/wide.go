package arm64

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Lanes of 8 bytes, f64 and i64, take two registers: one with the lower two of the
// lanes, one with the upper. Where all lanes are alike both are the same register, and a
// scalar f64 outside vector code has the first alone.

// both applies f to the halves.
func both(f func(i int) reg) val { return val{f(0), f(1)} }

// eachHalf applies f to the halves of lanes: once where those of all arguments are alike,
// and to the first alone where there is no other.
func eachHalf(f func(i int) reg, args ...val) val {
	x := f(0)
	if args[0][1] == 0 {
		return val{x}
	}
	for _, a := range args {
		if a[0] != a[1] {
			return val{x, f(1)}
		}
	}
	return val{x, x}
}

// wideConstant is a register whose lanes of 8 bytes both hold bits.
func (e *emitter) wideConstant(bits uint64) reg {
	var data [16]byte
	binary.LittleEndian.PutUint64(data[:], bits)
	binary.LittleEndian.PutUint64(data[8:], bits)
	return e.table(data)
}

// wideBroadcast fills both lanes with a general register.
func (e *emitter) wideBroadcast(x reg) reg { return e.v(asm.DUP2DX, x) }

// wideVec is vec for types of 8 bytes as well.
func (e *emitter) wideVec(n *node, u int) val {
	if n.Kind == loop.KindLocal {
		v := e.ReadLocal(n, u)
		if v[0] == 0 || e.Regs[v[0]].Class == vec {
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
		x := e.wideConstant(n.Bits)
		return val{x, x}
	case n.DType == ir.F64:
	case !e.Varies(n):
		x := e.wideBroadcast(e.General(n))
		return val{x, x}
	default:
		if step, ok := e.evenly(n); ok {
			return e.positions(n, step, u)
		}
	}
	switch n.Kind {
	case loop.KindLoad:
		return e.loadWide(n, u)
	case loop.KindIndex:
		e.NeedOneLane("indices in lanes")
		return val{}
	case loop.KindApply:
		if n.DType == ir.F64 {
			return e.applyDouble(n, u)
		}
		return e.applyWide(n, u)
	}
	e.Unsupported("%v of kind %d", n.DType, n.Kind)
	return val{}
}

// widePair is pair for lanes of 8 bytes.
func (e *emitter) widePair(a, b *node, u int) (x, y val) {
	if b.Need > a.Need {
		y = e.wideVec(b, u)
		return e.wideVec(a, u), y
	}
	x = e.wideVec(a, u)
	return x, e.wideVec(b, u)
}

// combineWide is op on two values of d, f64 or i64.
func (e *emitter) combineWide(op ir.Op, d ir.DType, x, y val) val {
	return eachHalf(func(i int) reg { return e.wideBinary(op, d, x[i], y[i]) }, x, y)
}

func (e *emitter) wideBinary(op ir.Op, d ir.DType, x, y reg) reg {
	if o, ok := simple[opType{op, d}]; ok {
		return e.v(o, x, y)
	}
	if d == ir.I64 {
		return e.wideInteger(op, x, y)
	}
	e.Unsupported("%v of %v", op, d)
	return 0
}

// blendWide is yes where the masks of halves say so, else no.
func (e *emitter) blendWide(k, yes, no val) val {
	return eachHalf(func(i int) reg { return e.blend(k[i], yes[i], no[i]) }, k, yes, no)
}

// whereWide is ir.Where.
func (e *emitter) whereWide(n *node, u int) val {
	k := e.maskHalves(n.Operands[0], u)
	yes, no := e.widePair(n.Operands[1], n.Operands[2], u)
	return e.blendWide(k, yes, no)
}
