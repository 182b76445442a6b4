package arm64

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A reduction over lanes starts from the identity of its operation in each
// lane of each copy, ends with a fixed tree over copies and then lanes, and is
// combined with the local's value last.

func f32bits(x float32) uint32 { return math.Float32bits(x) }

// startPartials gives each reduced local lanes that hold the identity.
func (e *emitter) startPartials(sums []*loop.Acc, copies int) map[*loop.Local][]val {
	all := map[*loop.Local][]val{}
	for _, s := range sums {
		var id val
		bits, ok := native.Identity(s.Op, s.Local.DType)
		switch d := s.Local.DType; {
		case d == ir.Bool && (s.Op == ir.And || s.Op == ir.Or):
			id = val{e.ConstMask(s.Op == ir.And)}
		case native.Computable(d) && ok:
			id = val{e.constant(uint32(bits))}
		case native.Wide(d) && ok:
			x := e.wideConstant(bits)
			id = val{x, x}
		default:
			e.OneLane(e.Scopes[e.Top()].Loop, "")
			return all
		}
		for range copies {
			all[s.Local] = append(all[s.Local], e.Fresh(id))
		}
	}
	return all
}

// reduce folds the lanes of s and combines them with the local.
func (e *emitter) reduce(s *loop.Acc, vals []val) {
	d := s.Local.DType
	home := e.Locals[s.Local]
	if home == nil {
		e.Unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	for len(vals) > 1 {
		var next []val
		for i := 0; i < len(vals); i += 2 {
			next = append(next, e.combine(s.Op, d, vals[i], vals[i+1]))
		}
		vals = next
	}
	total := e.foldLanes(s.Op, d, vals[0])
	if e.Stopped() {
		return
	}
	e.Assign(home.Vals[0], e.combineScalar(s.Op, d, home.Vals[0], total), true)
	e.Changed(deps{Locals: native.BitOf(e.Graph, e.Graph.Locals, s.Local)})
}

// foldLanes combines all lanes; the result fills the register, or for i64 is in a general
// one.
func (e *emitter) foldLanes(op ir.Op, d ir.DType, x val) val {
	steps := []int64{8, 4}
	if native.Wide(d) {
		x = e.combineWide(op, d, val{x[0]}, val{x[1]})
		steps = steps[:1]
	}
	for _, bytes := range steps {
		x = e.combine(op, d, val{x[0]}, val{e.vImm(asm.EXT16B, bytes, x[0], x[0])})
	}
	if d == ir.I64 {
		return val{e.g(asm.FMOVXD, x[0])}
	}
	return x
}
