package x86

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// both applies f to the halves.
func both(f func(i int) reg) val { return val{f(0), f(1)} }

// positions is the value of the lane variable.
func (e *emitter) positions(u int) val {
	lane := e.Graph.Node(e.Scopes[e.Lanes.Level].Loop.Var.Ref())
	v := e.broadcastGeneral(e.Sum(e.Graph.PolyOf(lane)), asm.VPBROADCASTQ)
	half := e.wide() / 2
	return both(func(i int) reg { return e.v(asm.VPADDQ, r(v), r(e.wideNumbers(u*e.wide()+half*i))) })
}

// wideNumbers is from, from+1, ... in 64-bit lanes.
func (e *emitter) wideNumbers(from int) reg {
	key := constKey{bits: uint64(from), kind: dataOperand, class: vec, elem: 8}
	x := e.consts[key]
	if x == 0 {
		var b []byte
		for i := range e.wide() / 2 {
			b = binary.LittleEndian.AppendUint64(b, uint64(from+i))
		}
		x = e.once(vec, asm.VMOVUPS, e.table(b))
		e.consts[key] = x
	}
	return x
}

// applyWide is an operation that gives i64 lanes.
func (e *emitter) applyWide(n *node, u int) val {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castWide(a[0], u)
	case ir.Bitcast:
		if native.Wide(a[0].DType) {
			return e.wideVec(a[0], u)
		}
		e.NeedOneLane("bitcast of %v to i64", a[0].DType)
		return val{}
	case ir.Where:
		return e.whereWide(n, u)
	case ir.Neg, ir.Abs:
		x := e.wideVec(a[0], u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.signWide(n.Op, x[i]) }, wideRegs(x))
	case ir.Shl, ir.Shr:
		return e.shiftWide(n, u)
	}
	if len(a) != 2 {
		e.NeedOneLane("%v of i64", n.Op)
		return val{}
	}
	b := a[1]
	if n.Op.Commutes() && e.free(a[0], u) && !e.free(b, u) {
		a, b = []*node{b}, a[0]
	}
	if n.Op == ir.IDiv || n.Op == ir.Mod {
		if e.isa == AVX2 || !e.exactAsDouble(a[0]) || !e.exactAsDouble(b) {
			e.NeedOneLane("%v of i64", n.Op)
			return val{}
		}
		x, y := e.wideVec(a[0], u), e.wideVec(b, u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.divideWide(n.Op, x[i], y[i]) }, wideRegs(x), wideRegs(y))
	}
	x, y := e.widePair(a[0], b, u)
	return e.combineWide(n.Op, ir.I64, x, y)
}

// wideInteger is an operation that not every instruction set has one for.
func (e *emitter) wideInteger(op ir.Op, x, y reg) reg {
	switch {
	case op == ir.Mul && e.isa == AVX512:
		return e.v(asm.VPMULLQ, r(x), r(y))
	case op == ir.Mul:
		return e.multiplyWide(x, y)
	case op == ir.Min && e.isa == AVX512:
		return e.v(asm.VPMINSQ, r(x), r(y))
	case op == ir.Max && e.isa == AVX512:
		return e.v(asm.VPMAXSQ, r(x), r(y))
	case op == ir.Min:
		return e.v(asm.VBLENDVPD, r(x), r(y), r(e.v(asm.VPCMPGTQ, r(x), r(y))))
	case op == ir.Max:
		return e.v(asm.VBLENDVPD, r(y), r(x), r(e.v(asm.VPCMPGTQ, r(x), r(y))))
	}
	e.NeedOneLane("%v of i64", op)
	return 0
}

// multiplyWide is the product modulo 2^64 by AVX2: that of the lower halves, and the
// crossed ones 32 bits further up.
func (e *emitter) multiplyWide(x, y reg) reg {
	const swapped = 0b10_11_00_01
	cross := e.v(asm.VPMULLD, r(x), r(e.vImm(asm.VPSHUFD, swapped, r(y))))
	cross = e.v(asm.VPADDD, r(cross), r(e.vImm(asm.VPSRLQ, 32, r(cross))))
	return e.v(asm.VPADDQ, r(e.v(asm.VPMULUDQ, r(x), r(y))), r(e.vImm(asm.VPSLLQ, 32, r(cross))))
}

// signWide is Neg or Abs.
func (e *emitter) signWide(op ir.Op, x reg) reg {
	switch {
	case op == ir.Neg:
		return e.v(asm.VPSUBQ, r(e.zero()), r(x))
	case e.isa == AVX512:
		return e.v(asm.VPABSQ, r(x))
	}
	m := e.negative(x)
	return e.v(asm.VPSUBQ, r(e.v(asm.VXORPD, r(x), r(m))), r(m))
}

// negative is all ones in the lanes below 0, of AVX2.
func (e *emitter) negative(x reg) reg { return e.v(asm.VPCMPGTQ, r(e.zero()), r(x)) }

// shiftWide is Shl or Shr; a count from 64 on, or below 0, gives 0. AVX2 shifts the sign
// in by turning all bits of what is negative, before and behind.
func (e *emitter) shiftWide(n *node, u int) val {
	if count := n.Operands[1]; count.Kind == loop.KindConst {
		x := e.wideVec(n.Operands[0], u)
		switch {
		case e.Stopped():
			return val{}
		case count.Bits >= 64:
			return val{e.zero(), e.zero()}
		}
		return eachHalf(func(i int) reg { return e.shiftWideConst(n.Op, x[i], int64(count.Bits)) }, wideRegs(x))
	}
	x, y := e.wideVec(n.Operands[0], u), e.wideVec(n.Operands[1], u)
	if e.Stopped() {
		return val{}
	}
	return eachHalf(func(i int) reg {
		switch {
		case n.Op == ir.Shl:
			return e.v(asm.VPSLLVQ, r(x[i]), r(y[i]))
		case e.isa == AVX512:
			k := e.compare(asm.VPCMPUQ, asm.IntLT, r(y[i]), bits64(64))
			return e.vZero(k, asm.VPSRAVQ, r(x[i]), r(y[i]))
		}
		m := e.negative(x[i])
		z := e.v(asm.VXORPD, r(e.v(asm.VPSRLVQ, r(e.v(asm.VXORPD, r(x[i]), r(m))), r(y[i]))), r(m))
		small := e.v(asm.VPCMPEQQ, r(y[i]), r(e.v(asm.VANDPD, r(y[i]), bits64(63))))
		return e.v(asm.VANDPD, r(z), r(small))
	}, wideRegs(x), wideRegs(y))
}

func (e *emitter) shiftWideConst(op ir.Op, x reg, count int64) reg {
	switch {
	case op == ir.Shl:
		return e.vImm(asm.VPSLLQ, count, r(x))
	case e.isa == AVX512:
		return e.vImm(asm.VPSRAQ, count, r(x))
	}
	m := e.negative(x)
	return e.v(asm.VXORPD, r(e.vImm(asm.VPSRLQ, count, r(e.v(asm.VXORPD, r(x), r(m))))), r(m))
}

// divideWide is exact for magnitudes below 2^53: then the quotient, rounded to
// a double, does not reach the next integer.
func (e *emitter) divideWide(op ir.Op, x, y reg) reg {
	q := e.v(asm.VDIVPD, r(e.v(asm.VCVTQQ2PD, r(x))), r(e.v(asm.VCVTQQ2PD, r(y))))
	q = e.v(asm.VCVTTPD2QQ, r(e.floorDouble(q)))
	if op == ir.IDiv {
		return q
	}
	return e.v(asm.VPSUBQ, r(x), r(e.v(asm.VPMULLQ, r(q), r(y))))
}

// exactAsDouble proves that the magnitude of n is below 2^52.
func (e *emitter) exactAsDouble(n *node) bool {
	hi, ok := e.magnitude(n)
	return ok && hi < 1<<52
}

// magnitude bounds |n| by the bounds of loops and sizes.
func (e *emitter) magnitude(n *node) (int64, bool) {
	bound := ir.N(0)
	for _, m := range e.Graph.PolyOf(n).Monos {
		part := ir.N(int(max(m.Coef, -m.Coef)))
		for _, a := range m.Atoms {
			hi, ok := e.atomMagnitude(a)
			if !ok {
				return 0, false
			}
			part = part.Mul(ir.N(int(hi)))
		}
		bound = bound.Add(part)
	}
	c := e.Graph.PolyOf(n).C
	hi, _ := bound.Plus(int(max(c, -c))).Const()
	return int64(hi), true
}

func (e *emitter) atomMagnitude(a *node) (int64, bool) {
	switch a.Kind {
	case loop.KindSize, loop.KindIndex:
		_, hi := a.Size.Bounds()
		return hi, true
	case loop.KindVar:
		for _, s := range e.Scopes[1:] {
			if s.Loop.Var == a.Var && s.Loop.Lo == nil && s.Loop.Hi != nil { // a fragment has no bounds
				return e.Graph.PolyOf(e.Graph.Node(s.Loop.Hi)).Upper()
			}
		}
	case loop.KindApply:
		switch a.Op {
		case ir.IDiv:
			return e.magnitude(a.Operands[0])
		case ir.Mod:
			return e.magnitude(a.Operands[1])
		case ir.Cast:
			if d := a.Operands[0].DType; d.IsInt() && d.Size() <= 4 || d == ir.Bool {
				return 1 << 32, true
			}
		}
	}
	return 0, false
}

// clampWide is clampIndex in lanes; the lanes outside the tail do not count.
func (e *emitter) clampWide(n *node, u int) val {
	if e.isa == AVX2 { // what it is an index of is read lane by lane
		e.NeedOneLane("indices in lanes")
		return val{}
	}
	x := e.wideVec(n.Operands[0], u)
	if e.Stopped() {
		return val{}
	}
	size := e.broadcastGeneral(e.Sum(e.Graph.DimPoly(n.Size)), asm.VPBROADCASTQ)
	last := e.v(asm.VPMAXSQ, r(e.v(asm.VPADDQ, r(size), bits64(1<<64-1))), r(e.zero()))
	outside := both(func(i int) reg { return e.compare(asm.VPCMPUQ, asm.IntGE, r(x[i]), r(size)) })
	bad := e.within(e.joinMasks(outside), e.Lanes.Tail(u))
	e.do(asm.KORTESTW, r(bad), r(bad))
	fine := e.a.NewLabel()
	e.jumpIf(asm.EQ, fine)
	one := e.gImm(asm.MOV, 1)
	e.do(asm.MOV, operand{kind: memOperand, reg: e.Word(e.Layout.Status), disp: int32(8 * n.Slot)}, r(one))
	e.label(fine)
	return both(func(i int) reg {
		return e.v(asm.VPMINSQ, r(e.v(asm.VPMAXSQ, r(x[i]), r(e.zero()))), r(last))
	})
}
