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
func (e *emitter) startPartials(sums []*loop.Acc, copies int) map[*loop.Local][]reg {
	all := map[*loop.Local][]reg{}
	for _, s := range sums {
		var id reg
		bits, ok := native.Identity(s.Op, s.Local.DType)
		switch d := s.Local.DType; {
		case d == ir.Bool && (s.Op == ir.And || s.Op == ir.Or):
			id = e.constMask(s.Op == ir.And)
		case computable(d) && ok:
			id = e.constant(uint32(bits))
		default:
			e.oneByOne[e.scopes[e.top()].loop] = true
			e.giveUp = true
			return all
		}
		for range copies {
			all[s.Local] = append(all[s.Local], e.fresh(id))
		}
	}
	return all
}

// reduce folds the lanes of s and combines them with the local.
func (e *emitter) reduce(s *loop.Acc, regs []reg) {
	d := s.Local.DType
	home := e.locals[s.Local]
	if home == nil {
		e.unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	for len(regs) > 1 {
		var next []reg
		for i := 0; i < len(regs); i += 2 {
			next = append(next, e.combine(s.Op, d, regs[i], regs[i+1]))
		}
		regs = next
	}
	x := regs[0]
	for _, bytes := range [2]int64{8, 4} {
		x = e.combine(s.Op, d, x, e.vImm(asm.EXT16B, bytes, x, x))
	}
	e.assign(home.regs[0], e.combine(s.Op, d, home.regs[0], x), true)
	e.changed(deps{Locals: native.BitOf(e.graph, e.graph.Locals, s.Local)})
}
