package x86

import (
	"encoding/binary"
	"github.com/sinterml/sinter/internal/emit/native"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// i64 lanes take two registers: lanes 0 to 7 and 8 to 15. AVX-512 alone has
// them; with AVX2 such loops run lane by lane.

// wideLanes computes an i64 that differs from lane to lane.
func (e *emitter) wideLanes(n *node, u int) val {
	if e.isa == AVX2 {
		e.NeedOneLane("i64 lanes")
		return val{}
	}
	switch n.Kind {
	case loop.KindVar:
		return e.positions(u)
	case loop.KindLoad:
		return e.loadWide(n, u)
	case loop.KindIndex:
		return e.clampWide(n, u)
	case loop.KindApply:
		return e.applyWide(n, u)
	}
	e.Unsupported("i64 of kind %d", n.Kind)
	return val{}
}

// both applies f to the halves.
func both(f func(i int) reg) val { return val{f(0), f(1)} }

// positions is the value of the lane variable.
func (e *emitter) positions(u int) val {
	lane := e.Graph.Node(e.Scopes[e.Lanes.Level].Loop.Var.Ref())
	v := e.broadcastGeneral(e.Sum(e.Graph.PolyOf(lane)), asm.VPBROADCASTQ)
	return both(func(i int) reg { return e.v(asm.VPADDQ, r(v), r(e.wideNumbers(u*e.wide()+8*i))) })
}

// wideNumbers is from, from+1, ... in 64-bit lanes.
func (e *emitter) wideNumbers(from int) reg {
	key := constKey{bits: uint64(from), kind: dataOperand, class: vec, elem: 8}
	x := e.consts[key]
	if x == 0 {
		var b []byte
		for i := range 8 {
			b = binary.LittleEndian.AppendUint64(b, uint64(from+i))
		}
		x = e.once(vec, asm.VMOVUPS, e.table(b))
		e.consts[key] = x
	}
	return x
}

func (e *emitter) applyWide(n *node, u int) val {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castWide(a[0], u)
	case ir.Where:
		k := e.MaskOf(a[0], u)
		return e.blendWide(k, e.wideVec(a[1], u), e.wideVec(a[2], u))
	case ir.Neg:
		x := e.wideVec(a[0], u)
		return both(func(i int) reg { return e.v(asm.VPSUBQ, r(e.zero()), r(x[i])) })
	case ir.Abs:
		x := e.wideVec(a[0], u)
		return both(func(i int) reg { return e.v(asm.VPABSQ, r(x[i])) })
	}
	if len(a) != 2 {
		e.NeedOneLane("%v of i64", n.Op)
		return val{}
	}
	x, y := e.wideVec(a[0], u), e.wideVec(a[1], u)
	if e.Stopped() {
		return val{}
	}
	switch n.Op {
	case ir.IDiv, ir.Mod:
		if !e.exactAsDouble(a[0]) || !e.exactAsDouble(a[1]) {
			e.NeedOneLane("%v of i64", n.Op)
			return val{}
		}
		return both(func(i int) reg { return e.divideWide(n.Op, x[i], y[i]) })
	case ir.Shl:
		return both(func(i int) reg { return e.v(asm.VPSLLVQ, r(x[i]), r(y[i])) })
	case ir.Shr:
		return both(func(i int) reg {
			k := e.compare(asm.VPCMPUQ, asm.IntLT, r(y[i]), bits64(64))
			return e.vZero(k, asm.VPSRAVQ, r(x[i]), r(y[i]))
		})
	}
	return e.combineWide(n.Op, x, y)
}

var wideOps = map[ir.Op]asm.Op{
	ir.Add: asm.VPADDQ, ir.Sub: asm.VPSUBQ, ir.Mul: asm.VPMULLQ, ir.Min: asm.VPMINSQ, ir.Max: asm.VPMAXSQ,
	ir.And: asm.VPANDQ, ir.Or: asm.VPORQ, ir.Xor: asm.VPXORQ,
}

// combineWide works on one half where the other is absent.
func (e *emitter) combineWide(op ir.Op, x, y val) val {
	o, ok := wideOps[op]
	if !ok || e.isa == AVX2 {
		e.NeedOneLane("%v of i64", op)
		return val{}
	}
	var z val
	for i := range z {
		if x[i] != 0 {
			z[i] = e.v(o, r(x[i]), r(y[i]))
		}
	}
	return z
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

func (e *emitter) compareWide(op ir.Op, x, y val) reg {
	if e.Stopped() {
		return 0
	}
	pred := asm.IntEQ
	if op == ir.Less {
		pred = asm.IntLT
	}
	lo, hi := e.compare(asm.VPCMPQ, pred, r(x[0]), r(y[0])), e.compare(asm.VPCMPQ, pred, r(x[1]), r(y[1]))
	return e.kmask(asm.KUNPCKBW, r(hi), r(lo))
}

func (e *emitter) blendWide(k reg, yes, no val) val {
	return both(func(i int) reg {
		in := e.inst(asm.VPBLENDMQ, vec, []operand{r(no[i]), r(yes[i])})
		in.mask = e.maskHalf(k, i)
		return e.Add(in).dst
	})
}

// castWide converts lanes of 32 bits to i64.
func (e *emitter) castWide(a *node, u int) val {
	switch a.DType.Compute() {
	case ir.I64:
		return e.wideVec(a, u)
	case ir.I32:
		x := e.vec(a, u)
		return both(func(i int) reg { return e.v(asm.VPMOVSXDQ, r(e.half(x, i))) })
	case ir.U32:
		x := e.vec(a, u)
		return both(func(i int) reg { return e.v(asm.VPMOVZXDQ, r(e.half(x, i))) })
	case ir.Bool:
		k := e.MaskOf(a, u)
		return both(func(i int) reg { return e.vZero(e.maskHalf(k, i), asm.VPBROADCASTQ, bits64(1)) })
	case ir.F32:
		x := e.vec(a, u)
		return both(func(i int) reg { return e.floatToWide(e.half(x, i)) })
	}
	e.NeedOneLane("cast of %v to i64", a.DType)
	return val{}
}

// floatToWide saturates as floatToI32 does.
func (e *emitter) floatToWide(x reg) reg {
	d := e.v(asm.VCVTPS2PD, r(x))
	const two63 = 0x43E0000000000000 // 2^63 as f64
	big := e.compare(asm.VCMPPD, asm.CmpGE, r(d), bits64(two63))
	number := e.compare(asm.VCMPPD, asm.CmpOrd, r(d), r(d))
	y := e.vZero(number, asm.VCVTTPD2QQ, r(d))
	in := e.inst(asm.VPBLENDMQ, vec, []operand{r(y), bits64(1<<63 - 1)})
	in.mask = big
	return e.Add(in).dst
}

// clampWide is clampIndex in lanes; the lanes outside the tail do not count.
func (e *emitter) clampWide(n *node, u int) val {
	x := e.wideVec(n.Operands[0], u)
	if e.Stopped() {
		return val{}
	}
	size := e.broadcastGeneral(e.Sum(e.Graph.DimPoly(n.Size)), asm.VPBROADCASTQ)
	last := e.v(asm.VPMAXSQ, r(e.v(asm.VPADDQ, r(size), bits64(1<<64-1))), r(e.zero()))
	lo := e.compare(asm.VPCMPUQ, asm.IntGE, r(x[0]), r(size))
	hi := e.compare(asm.VPCMPUQ, asm.IntGE, r(x[1]), r(size))
	bad := e.within(e.kmask(asm.KUNPCKBW, r(hi), r(lo)), e.Lanes.Tail(u))
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

// loadWide reads i64 lanes.
func (e *emitter) loadWide(n *node, u int) val {
	k := e.Lanes.Tail(u)
	if len(n.Operands) == 2 {
		k = e.within(e.MaskOf(n.Operands[1], u), k)
	}
	if e.Stopped() {
		return val{}
	}
	a := e.AccessOf(n.Operands[0])
	if a.Unit() {
		m := e.address(n.Param, a, u)
		return both(func(i int) reg {
			m := m
			m.disp += int32(64 * i)
			if k == 0 {
				return e.v(asm.VMOVUPD, m)
			}
			return e.vZero(e.maskHalf(k, i), asm.VMOVUPD, m)
		})
	}
	if !a.Lane {
		e.NeedOneLane("a conditional load of one i64")
		return val{}
	}
	if k == 0 {
		k = e.ConstMask(true)
	}
	index := e.wideVec(n.Operands[0], u)
	if e.Stopped() {
		return val{}
	}
	return both(func(i int) reg {
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + n.Param), index: index[i], scale: 8, byVec: true}
		return e.gatherInto(asm.VPGATHERQQ, e.zero(), e.maskHalf(k, i), m)
	})
}

func (e *emitter) storeWide(param int, index *node, a native.Access, x val, k reg, u int) {
	if e.Stopped() {
		return
	}
	if e.isa == AVX2 {
		e.NeedOneLane("stores of i64 lanes")
		return
	}
	if a.Unit() {
		m := e.address(param, a, u)
		for i := range x {
			k := e.maskHalf(k, i)
			e.do(asm.VMOVUPD, m, r(x[i])).mask = k
			m.disp += 64
		}
		return
	}
	if k == 0 {
		k = e.ConstMask(true)
	}
	wide := e.wideVec(index, u)
	if e.Stopped() {
		return
	}
	for i := range x {
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + param), index: wide[i], scale: 8, byVec: true}
		e.scatterFrom(asm.VPSCATTERQQ, m, x[i], e.maskHalf(k, i))
	}
}
