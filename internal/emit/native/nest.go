package native

import "github.com/sinterml/sinter/internal/loop"

// Depth is the innermost scope in which values with these dependencies differ
// from iteration to iteration.
func (b *Builder[I]) Depth(d Deps) int {
	for i := len(b.Scopes) - 1; i > 0; i-- {
		if d.Meets(b.Scopes[i].Changes) {
			return i
		}
	}
	return 0
}

// Top is the number of the innermost scope.
func (b *Builder[I]) Top() int { return len(b.Scopes) - 1 }

// InVector tells whether the code being written works on lanes.
func (b *Builder[I]) InVector() bool { return b.Lanes.Level > 0 && b.At >= b.Lanes.Level }

// differs is what changes from lane to lane.
func (b *Builder[I]) differs() Deps {
	return Deps{Vars: b.Scopes[b.Lanes.Level].Changes.Vars, Locals: b.LaneLocal}
}

// Varies tells whether a value differs from lane to lane.
func (b *Builder[I]) Varies(n *Node) bool { return b.InVector() && n.Deps.Meets(b.differs()) }

// Copies is the registers that each value has here.
func (b *Builder[I]) Copies() int {
	if b.InVector() {
		return b.Lanes.Copies
	}
	return 1
}

// Stmts emits statements in order; between loops, all of them for each copy.
func (b *Builder[I]) Stmts(body []loop.Stmt) {
	for len(body) > 0 && !b.Stopped() {
		if l, ok := body[0].(*loop.Loop); ok {
			b.machine.Loop(l)
			body = body[1:]
			continue
		}
		n := 0
		for n < len(body) && !isLoop(body[n]) {
			n++
		}
		code := b.Scopes[b.Top()].Body
		starts := make([]int, b.Copies())
		for u := range starts {
			starts[u] = len(code.Items)
			for _, s := range body[:n] {
				b.stmt(s, u)
			}
		}
		if b.Weave != nil && len(starts) > 1 && !b.Stopped() {
			b.Weave(code, starts)
		}
		body = body[n:]
	}
}

func isLoop(s loop.Stmt) bool {
	_, ok := s.(*loop.Loop)
	return ok
}

func (b *Builder[I]) stmt(s loop.Stmt, u int) {
	if b.Stopped() {
		return
	}
	switch s := s.(type) {
	case *loop.Set:
		b.set(s, u)
	case *loop.Acc:
		b.machine.Acc(s, u)
	case *loop.Store:
		b.Store(s, u)
	}
}

// Trip is the range of a loop.
type Trip struct {
	Lo, Hi   Reg   // Hi is none where End stands for it
	End      int64 // behind the last value, where that is a constant
	Static   bool  // both ends are constants
	Start, N int64 // where static
}

// Empty tells that there is no iteration.
func (t Trip) Empty() bool { return t.Static && t.N <= 0 }

// TripOf computes the range of l.
func (b *Builder[I]) TripOf(l *loop.Loop) Trip {
	if l.Range == loop.Global && b.Top() == 0 {
		return Trip{Lo: b.Word(WordStart), Hi: b.Word(WordEnd)}
	}
	lo := &Poly{}
	if l.Lo != nil {
		lo = b.Graph.PolyOf(b.Graph.Node(l.Lo))
	}
	hi := b.Graph.PolyOf(b.Graph.Node(l.Hi))
	start, fromConst := lo.Constant()
	end, toConst := hi.Constant()
	t := Trip{End: end, Static: fromConst && toConst}
	if t.Static {
		t.Start, t.N = start, max(0, end-start)
	}
	if t.Empty() {
		return t
	}
	if !toConst || !b.machine.ConstantEnd(end, t.Static) {
		t.Hi = b.Sum(hi)
	}
	t.Lo = b.Sum(lo)
	return t
}

// Open begins the scope of l. What may jump over all of it goes between Open and
// Enter.
func (b *Builder[I]) Open(l *loop.Loop) *Scope[I] {
	s := NewScope[I](l, b.NewReg(General), b.Changes[l])
	s.Changes.Vars |= b.Graph.VarBit(l.Var)
	s.bound = len(b.bound)
	outer := b.Scopes[b.Top()].Body
	outer.Items = append(outer.Items, Item[I]{Sub: s.Early})
	return s
}

// Enter has the code of s come next, with the variable at its first value.
func (b *Builder[I]) Enter(s *Scope[I], lo Reg) {
	outer := b.Scopes[b.Top()].Body
	outer.Items = append(outer.Items, Item[I]{Sub: s.Pre}, Item[I]{Sub: s.Body})
	b.Scopes = append(b.Scopes, s)
	b.At = b.Top()
	b.machine.Move(s.Var, lo)
}

// Leave ends the innermost scope, and the locals that got their value in it.
func (b *Builder[I]) Leave() {
	s := b.Scopes[b.Top()]
	b.Scopes = b.Scopes[:b.Top()]
	b.At = b.Top()
	b.forget(s.bound)
	b.Changed(b.Changes[s.Loop])
}

// WithLanes emits the body of the innermost scope, a Vector loop, for so many
// registers a value, of which the last has the lanes of mask alone; 0 is all.
func (b *Builder[I]) WithLanes(copies int, mask Reg) {
	s := b.Scopes[b.Top()]
	s.inside = memo{}
	bound, locals := len(b.bound), b.LaneLocal
	b.Lanes = Lanes{Level: b.Top(), Copies: copies, Mask: mask}
	b.Stmts(s.Loop.Body)
	b.Lanes = Lanes{}
	b.LaneLocal = locals
	b.forget(bound)
	s.inside = memo{}
}

// ByOne has run emit the body of the innermost scope, a Vector loop whose full
// registers are behind it, lane by lane.
func (b *Builder[I]) ByOne(run func()) {
	b.Scopes[b.Top()].inside = memo{}
	bound := len(b.bound)
	run()
	b.forget(bound)
}
