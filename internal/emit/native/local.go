package native

import "github.com/sinterml/sinter/internal/loop"

// Local is where a local's value is. One that is set once and never accumulated
// shares the registers of its value.
type Local struct {
	Vals  []Val // for each copy; one where all copies share it
	Lanes bool  // has a value for each lane
}

// ReadLocal returns the value of a local at this moment. A scalar i64 is in a
// general register outside vector code.
func (b *Builder[I]) ReadLocal(n *Node, u int) Val {
	l := b.Locals[n.Local]
	if l == nil {
		b.Unsupported("local %s is read before it is set", n.Local.Name)
		return Val{}
	}
	if !l.Lanes {
		u = 0
	}
	return l.Vals[min(u, len(l.Vals)-1)]
}

func (b *Builder[I]) set(s *loop.Set, u int) {
	n := b.Graph.Node(s.Value)
	bit := BitOf(b.Graph, b.Graph.Locals, s.Local)
	if b.InVector() {
		b.LaneLocal |= bit
	} else {
		b.LaneLocal &^= bit
	}
	v := b.machine.ValueOf(n, u)
	if b.Stopped() {
		return
	}
	l := b.Locals[s.Local]
	if l == nil {
		l = &Local{Lanes: b.InVector()}
		b.Locals[s.Local] = l
		b.bound = append(b.bound, s.Local)
	}
	switch {
	case u < len(l.Vals):
		b.Assign(l.Vals[u], v, n.Readers == 1 && n.Kind != loop.KindLocal)
	case b.Sets[s.Local] == 1 && !b.mutable(v):
		l.Vals = append(l.Vals, v)
		b.name(v)
	default:
		own := b.Fresh(v)
		for _, x := range own {
			b.Regs[x].changes = x != 0 && b.Sets[s.Local] > 1
		}
		l.Vals = append(l.Vals, own)
	}
	b.Changed(Deps{Locals: bit})
}

// mutable tells whether registers of v are those of a local that is set again, by whatever
// name: a bitcast of it has them too.
func (b *Builder[I]) mutable(v Val) bool { return b.Regs[v[0]].changes || b.Regs[v[1]].changes }

// Fresh copies a value to registers of its own.
func (b *Builder[I]) Fresh(v Val) Val {
	var own Val
	for i, x := range v {
		if x != 0 {
			own[i] = b.NewReg(b.Regs[x].Class)
			b.machine.Move(own[i], x)
		}
	}
	return own
}

// Assign gives the registers dst the value v; only tells that nothing else uses
// v.
func (b *Builder[I]) Assign(dst, v Val, only bool) {
	for i := len(dst) - 1; i >= 0; i-- {
		if dst[i] != 0 && dst[i] != v[i] {
			b.into(dst[i], v[i], only)
		}
	}
}

// into has dst, whose old value is not needed any more, hold the value of src.
// Where the instruction just written made src for nobody else it is changed to
// write dst instead.
func (b *Builder[I]) into(dst, src Reg, only bool) {
	code := b.Place(b.At).Items
	if n := len(code); only && b.Regs[src].names <= 1 && n > 0 && code[n-1].Sub == nil {
		if in := code[n-1].In; in.Result() == src && in.Redirect(dst) {
			return
		}
	}
	b.machine.Move(dst, src)
}

// forget unbinds the locals that got their value since.
func (b *Builder[I]) forget(bound int) {
	for _, l := range b.bound[bound:] {
		delete(b.Locals, l)
	}
	b.bound = b.bound[:bound]
}
