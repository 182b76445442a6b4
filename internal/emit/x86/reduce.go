package x86

import (
	"fmt"
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A reduction over lanes starts from the identity of its operation in each
// lane of each copy, ends with a fixed tree over copies and then lanes, and is
// combined with the local's value last.

func f32bits(x float32) uint32 { return math.Float32bits(x) }

// startPartials gives each reduced local lanes that hold the identity.
func (e *emitter) startPartials(l *loop.Loop, sums []*loop.Acc, copies int) map[*loop.Local]*partials {
	all := map[*loop.Local]*partials{}
	for _, s := range sums {
		p := &partials{op: s.Op}
		id, ok := e.identityLanes(s.Op, s.Local.DType)
		if !ok {
			e.abandonLanes(l, oneByOne, fmt.Sprintf("%v over %v", s.Op, s.Local.DType))
			return all
		}
		for range copies {
			p.vals = append(p.vals, e.Fresh(id))
		}
		if isExtreme(s) {
			if before := e.sameOperand(l, s); before != nil && all[before.Local] != nil {
				p.nan, p.told = all[before.Local].nan, s
			} else {
				p.nan = e.Fresh(val{e.ConstMask(false)})[0]
			}
		}
		all[s.Local] = p
	}
	return all
}

// isExtreme tells whether s finds the largest or smallest f32.
func isExtreme(s *loop.Acc) bool {
	return s.Local.DType.Compute() == ir.F32 && (s.Op == ir.Max || s.Op == ir.Min)
}

// sameOperand is the statement of l just before s if it finds an extreme of the
// same values.
func (e *emitter) sameOperand(l *loop.Loop, s *loop.Acc) *loop.Acc {
	at := slices.Index(l.Body, loop.Stmt(s))
	if at < 1 {
		return nil
	}
	before, ok := l.Body[at-1].(*loop.Acc)
	if !ok || !isExtreme(before) || e.Graph.Node(before.Value) != e.Graph.Node(s.Value) {
		return nil
	}
	return before
}

func (e *emitter) identityLanes(op ir.Op, d ir.DType) (val, bool) {
	bits, ok := native.Identity(op, d)
	switch {
	case d == ir.Bool:
		return val{e.ConstMask(op == ir.And)}, op == ir.And || op == ir.Or
	case native.Wide(d):
		x := e.constant(bits, 8)
		return val{x, x}, ok
	case !native.Computable(d):
		return val{}, false
	}
	return val{e.constant(bits, 4)}, ok
}

// orIdentity replaces the lanes outside the tail by the identity of op.
func (e *emitter) orIdentity(op ir.Op, d ir.DType, k reg, v val) val {
	id, _ := e.identityLanes(op, d)
	switch {
	case d == ir.Bool && op == ir.And:
		return val{e.combineMask(ir.Or, v[0], e.not(k))}
	case d == ir.Bool:
		return val{e.combineMask(ir.And, v[0], k)}
	case native.Wide(d):
		return e.blendWide(e.splitMask(k, true), wideRegs(v), id)
	}
	return val{e.blend(k, r(v[0]), id[0])}
}

// reduce folds the lanes of p and combines them with the local.
func (e *emitter) reduce(l *loop.Local, p *partials) {
	d := l.DType
	home := e.Locals[l]
	if home == nil || p == nil {
		e.Unsupported("local %s is accumulated before it is set", l.Name)
		return
	}
	vals := p.vals
	for len(vals) > 1 {
		half := len(vals) / 2
		var next []val
		for i := range half {
			next = append(next, e.join(p, d, vals[2*i], vals[2*i+1]))
		}
		vals = next
	}
	total := e.foldLanes(p, d, vals[0])
	if e.Stopped() {
		return
	}
	if p.nan != 0 {
		nan := r(e.constant(uint64(f32bits(float32(math.NaN()))), 4))
		total[0] = e.blend(e.foldMask(ir.Or, p.nan), nan, total[0])
	}
	e.Assign(home.Vals[0], e.combineScalar(p.op, d, home.Vals[0], total), true)
	e.Changed(deps{Locals: native.BitOf(e.Graph, e.Graph.Locals, l)})
}

// foldLanes combines all lanes; the result fills the register, or for i64 is in
// a general one.
func (e *emitter) foldLanes(p *partials, d ir.DType, v val) val {
	if d == ir.Bool {
		return val{e.foldMask(p.op, v[0])}
	}
	if native.Wide(d) {
		return e.foldWide(p.op, d, v)
	}
	x := v[0]
	both := func(y reg) { x = e.join(p, d, val{x}, val{y})[0] }
	if e.isa == AVX512 {
		both(e.vImm(asm.VSHUFF32X4, 0x4E, r(x), r(x)))
		both(e.vImm(asm.VSHUFF32X4, 0xB1, r(x), r(x)))
	} else {
		both(e.vImm(asm.VPERM2F128, 0x01, r(x), r(x)))
	}
	both(e.vImm(asm.VPERMILPS, 0x4E, r(x)))
	both(e.vImm(asm.VPERMILPS, 0xB1, r(x)))
	return val{x}
}

// foldWide is foldLanes for types of 8 bytes.
func (e *emitter) foldWide(op ir.Op, d ir.DType, v val) val {
	x := v[0]
	with := func(y reg) { x = e.combineWide(op, d, val{x}, wideOperand{r(y)})[0] }
	with(v[1])
	if e.isa == AVX512 {
		with(e.vImm(asm.VSHUFI64X2, 0x4E, r(x), r(x)))
		with(e.vImm(asm.VSHUFI64X2, 0xB1, r(x), r(x)))
	} else {
		with(e.vImm(asm.VPERM2F128, 0x01, r(x), r(x)))
	}
	with(e.vImm(asm.VPSHUFD, 0x4E, r(x)))
	if d == ir.F64 || e.Stopped() {
		return val{x}
	}
	return val{e.g(asm.VMOVQ, r(x))}
}

// foldMask is true in all lanes if op over the lanes of k is.
func (e *emitter) foldMask(op ir.Op, k reg) reg {
	cc := asm.NE // some lane
	var flag reg
	if e.isa == AVX512 {
		e.do(asm.KORTESTW, r(k), r(k))
		if op == ir.And {
			cc = asm.ULT // carry: every lane
		}
		flag = e.g(asm.SET(cc))
	} else {
		bits := e.g(asm.VMOVMSKPS, r(k))
		want := int64(0)
		if op == ir.And {
			want, cc = 0xFF, asm.EQ
		}
		e.doImm(asm.CMP, want, r(bits)).narrow = true
		flag = e.g(asm.SET(cc))
	}
	return e.maskFromFlag(e.g(asm.MOVZX8, r(flag)))
}
