package spirv

import (
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

func (b *builder) If(cond flat.Value, then func()) {
	inside, after := b.id(), b.id()
	b.do(opSelectionMerge, after, 0)
	b.do(opBranchConditional, cond.ID, inside, after)
	b.label(inside)
	then()
	b.do(opBranch, after)
	b.label(after)
}

// choice is what then computes where cond is true, else other.
func (b *builder) choice(cond, other flat.Value, then func() flat.Value) flat.Value {
	before := b.block
	var x flat.Value
	var end id
	b.If(cond, func() {
		x = then()
		end = b.block
	})
	return value(b.result(opPhi, b.typeOf(x.Type), x.ID, end, other.ID, before), x.Type)
}

// For is a header that decides, the body, and a block that goes on to the next.
func (b *builder) For(from, to flat.Value, step int, unroll bool, body func(i flat.Value)) {
	before, header, inside, next, after := b.block, b.id(), b.id(), b.id(), b.id()
	t := b.typeOf(from.Type)
	by := b.Const(from.Type, uint64(step))
	grown := b.id()
	b.do(opBranch, header)
	b.label(header)
	i := b.result(opPhi, t, from.ID, before, grown, next)
	more := b.result(opSLessThan, b.bool(), i, to.ID)
	hint := uint32(0)
	switch {
	case !b.o.Fused.F32: // a body with sums of products is long already
		hint = loopStays
	case unroll:
		hint = loopUnroll
	}
	b.do(opLoopMerge, after, next, hint)
	b.do(opBranchConditional, more, inside, after)
	b.label(inside)
	body(value(i, from.Type))
	b.do(opBranch, next)
	b.label(next)
	b.do(opIAdd, t, grown, i, by.ID)
	b.do(opBranch, header)
	b.label(after)
	if b.o.LoopsEnd {
		b.watch(value(i, from.Type), to)
	}
}

// watch notes a loop that has ended at i, before to. A compiler knows that this
// cannot be: it must not see that i is meant.
func (b *builder) watch(i, to flat.Value) {
	none := value(b.nothing, flat.I32)
	if i.Type == flat.I64 {
		none = value(b.result(opUConvert, b.int(64), b.nothing), flat.I64)
	}
	at := b.result(opIAdd, b.typeOf(i.Type), i.ID, none.ID)
	early := b.result(opSLessThan, b.bool(), at, to.ID)
	one := b.Op(flat.Select, flat.I32, value(early, flat.Bool), b.Const(flat.I32, 1), b.Const(flat.I32, 0))
	b.Set(b.ended, b.Op(flat.Or, flat.I32, b.Get(b.ended), one))
}

// tell writes behind the arguments, of which there are n, whether a loop ended
// before its time.
func (b *builder) tell(n int) {
	if !b.o.LoopsEnd {
		return
	}
	place := b.result(opIAdd, b.int(64), b.address, b.Const(flat.I64, uint64(8*n)).ID)
	word := b.Buffer(value(place, flat.I64), ir.I64, flat.Own)
	early := b.Op(flat.NotEqual, flat.Bool, b.Get(b.ended), b.Const(flat.I32, 0))
	b.Store(word, b.Const(flat.I64, 0), b.Const(flat.I64, 1), early)
}

func (b *builder) Barrier(all bool) {
	semantics := uint32(semanticsShared)
	if all {
		semantics = semanticsAll
	}
	group := b.word(scopeGroup)
	b.do(opControlBarrier, group, group, b.word(semantics))
}
