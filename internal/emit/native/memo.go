package native

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Form is how a value is held. One that is the same in all lanes, a scalar, and
// one that differs are alike in vector registers: a scalar fills its register.
type Form uint8

const (
	AsVec     Form = iota // lanes of the compute type
	AsMask                // bool: a mask register where the machine has such, else lanes of all ones or zeros
	AsGeneral             // scalar i64
	AsHalves              // bool: two masks, for the halves of 64-bit lanes
	AsFlag                // scalar bool, 0 or 1 in a general register
	asPoly                // an integer sum, by key
)

// Val is a value's registers: the second is for the high half of lanes of 8 bytes.
type Val [2]Reg

type memoKey struct {
	n    *Node
	copy uint8
	form Form
	poly string
}

type memoEntry struct {
	val  Val
	deps Deps
}

// memo holds the values that exist already.
type memo map[memoKey]memoEntry

func (m memo) drop(d Deps) {
	for k, x := range m {
		if x.deps.Meets(d) {
			delete(m, k)
		}
	}
}

// Changed drops the values that depend on what was just changed.
func (b *Builder[I]) Changed(d Deps) { b.Scopes[b.Top()].inside.drop(d) }

// known looks a value up that belongs to scope number level.
func (b *Builder[I]) known(level int, k memoKey) (Val, bool) {
	if level < b.Top() {
		if x, ok := b.Scopes[level+1].before[k]; ok {
			return x.val, true
		}
	}
	x, ok := b.Scopes[level].inside[k]
	return x.val, ok
}

// remember notes a value that was made at level.
func (b *Builder[I]) remember(level int, k memoKey, v Val, d Deps) {
	m := b.Scopes[level].inside
	if level < b.Top() {
		m = b.Scopes[level+1].before
	}
	m[k] = memoEntry{v, d}
	b.name(v)
}

// name notes that one more value has the registers of v.
func (b *Builder[I]) name(v Val) {
	for _, x := range v {
		b.Regs[x].names++
	}
}

// Value returns n in a form, for copy u, made by make where it does not exist
// yet: in the outermost loop in which it does not change.
func (b *Builder[I]) Value(n *Node, f Form, u int, make func() Val) Val {
	level := min(b.Depth(n.Deps), b.At)
	if b.Lanes.Level == 0 || level < b.Lanes.Level {
		u = 0
	}
	key := memoKey{n: n, copy: uint8(u), form: f}
	if v, ok := b.known(level, key); ok {
		return v
	}
	if b.Stopped() {
		return Val{}
	}
	from, early := b.At, b.Early
	b.At, b.Early = level, false
	v := make()
	b.At, b.Early = from, early
	b.remember(level, key, v, n.Deps)
	return v
}

// keyed is Value for a poly. What variables and sizes alone decide is computed
// even if the loop it is for does not run, so that the loops after it share it.
func (b *Builder[I]) keyed(p *Poly, prefix byte, param, level int, make func() Reg) Reg {
	key := memoKey{form: asPoly, poly: p.Key(prefix, param)}
	if v, ok := b.known(level, key); ok {
		return v[0]
	}
	if b.Stopped() {
		return 0
	}
	var d Deps
	early := true
	for _, m := range p.Monos {
		for _, a := range m.Atoms {
			d = d.Or(a.Deps)
			early = early && (a.Kind == loop.KindVar || a.Kind == loop.KindSize)
		}
	}
	at, outer := b.At, b.Early
	b.At, b.Early = level, early
	x := make()
	b.At, b.Early = at, outer
	if early {
		b.Scopes[level].inside[key] = memoEntry{Val{x}, d}
		b.name(Val{x})
	} else {
		b.remember(level, key, Val{x}, d)
	}
	return x
}

// General returns a scalar i64 in a general register.
func (b *Builder[I]) General(n *Node) Reg {
	if n.DType != ir.I64 {
		b.Unsupported("%v as an index", n.DType)
		return 0
	}
	if b.Varies(n) {
		b.NeedOneLane("an index that differs from lane to lane")
		return 0
	}
	if n.Kind == loop.KindLocal {
		return b.ReadLocal(n, 0)[0]
	}
	p := b.Graph.PolyOf(n)
	if len(p.Monos) == 1 && p.C == 0 && p.Monos[0].Coef == 1 && len(p.Monos[0].Atoms) == 1 && p.Monos[0].Atoms[0] == n {
		return b.atom(n)
	}
	return b.Sum(p)
}

// MaskOf returns a bool as lanes.
func (b *Builder[I]) MaskOf(n *Node, u int) Reg {
	if n.DType != ir.Bool {
		b.Unsupported("%v as a condition", n.DType)
		return 0
	}
	switch n.Kind {
	case loop.KindLocal:
		return b.ReadLocal(n, u)[0]
	case loop.KindConst:
		return b.machine.ConstMask(n.Bits != 0)
	}
	return b.Value(n, AsMask, u, func() Val { return Val{b.machine.MakeMask(n, u)} })[0]
}

// Flag returns a scalar bool as 0 or 1.
func (b *Builder[I]) Flag(n *Node) Reg {
	if b.Varies(n) {
		b.NeedOneLane("a condition that differs from lane to lane")
		return 0
	}
	return b.Value(n, AsFlag, 0, func() Val { return Val{b.machine.MakeFlag(n)} })[0]
}
