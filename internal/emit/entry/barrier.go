package entry

import (
	"maps"

	"github.com/sinterml/sinter/internal/loop"
)

// Barriers finds where the work-items of a group must wait for each other. An
// emitter tells it of the statements that stand outside of Item loops, in
// program order: of each before it is written, and of each loop but Item loops
// where its body begins and ends.
type Barriers struct {
	k     *Kernel
	open  pending   // since all work-items were last at one place
	outer []pending // before the loops around
}

// Wait says what work-items wait for.
type Wait uint8

const (
	Nothing Wait = iota
	Shared       // memory near the group
	All          // buffers too
)

// pending is what work-items may have read and written, by param.
type pending struct{ reads, writes map[int]bool }

func newPending() pending { return pending{map[int]bool{}, map[int]bool{}} }

func (p pending) add(o pending) {
	maps.Copy(p.reads, o.reads)
	maps.Copy(p.writes, o.writes)
}

// NewBarriers begins with the statements of k.
func NewBarriers(k *Kernel) *Barriers { return &Barriers{k: k, open: newPending()} }

// accesses are those of statements to params that the kernel both reads and
// writes, or writes from several places, and to memory that another param writes
// over where all work-items read it: in Item loops one that does both reads first.
func (b *Barriers) accesses(body []loop.Stmt) pending {
	p := newPending()
	k := loop.Kernel{Body: body}
	k.WalkExprs(func(e *loop.Expr) {
		if e.Kind == loop.KindLoad && b.k.Work.Params[e.Param].Use != loop.Read && b.k.OwnOf(e.Param) == 0 {
			p.reads[e.Param] = true
		}
	})
	for _, s := range body {
		if v := valueOfAll(s); v != nil {
			v.Walk(func(e *loop.Expr) {
				if e.Kind == loop.KindLoad && b.k.Shared(e.Param) {
					p.reads[e.Param] = true
				}
			})
		}
	}
	var stores func(body []loop.Stmt)
	stores = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				stores(s.Body)
			case *loop.Store:
				if b.k.OwnOf(s.Param) == 0 {
					p.writes[s.Param] = true
				}
			}
		}
	}
	stores(body)
	return p
}

// valueOfAll is what every work-item computes where s stands outside of Item loops;
// nil: nothing. What is stored there the first alone computes.
func valueOfAll(s loop.Stmt) *loop.Expr {
	switch s := s.(type) {
	case *loop.Set:
		return s.Value
	case *loop.Acc:
		return s.Value
	}
	return nil
}

// overwrites tells whether params that are written may share memory with others that
// are read.
func (b *Barriers) overwrites(writes, reads map[int]bool) bool {
	shared := func(all map[int]bool, use bool) bool {
		for p := range all {
			if b.k.Shared(p) && (b.k.Work.Params[p].Use == loop.Read) == use {
				return true
			}
		}
		return false
	}
	return shared(writes, false) && shared(reads, true)
}

// Exchanges tells whether work-items of a group may read what others have
// written to a param.
func (b *Barriers) Exchanges(param int) bool {
	p := b.accesses(b.k.Work.Body)
	return p.reads[param] && p.writes[param]
}

// Before says what to wait for before s, where another work-item may still be
// busy with memory that s uses. What is in a serial loop is looked at there.
func (b *Barriers) Before(s loop.Stmt) Wait {
	now := b.accesses([]loop.Stmt{s})
	if l, ok := s.(*loop.Loop); ok && l.Range != loop.Item {
		now = b.accesses([]loop.Stmt{&loop.Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi}}) // of the bounds alone
	}
	wait := Nothing
	meets := func(x, y map[int]bool) {
		for p := range x {
			switch {
			case !y[p]:
			case !b.near(p):
				wait = All
			default:
				wait = max(wait, Shared)
			}
		}
	}
	meets(now.reads, b.open.writes)
	meets(now.writes, b.open.reads)
	meets(now.writes, b.open.writes)
	if b.overwrites(now.writes, b.open.reads) {
		wait = All
	}
	switch wait {
	case All:
		b.open = newPending()
	case Shared: // which says nothing of buffers
		for p := range b.k.Work.Params {
			if b.near(p) {
				delete(b.open.reads, p)
				delete(b.open.writes, p)
			}
		}
	}
	b.open.add(now)
	return wait
}

// near tells whether a param is memory near the group.
func (b *Barriers) near(param int) bool {
	return b.k.Work.Params[param].Use == loop.Scratch && b.k.Near[param]
}

// Enter begins the body of a loop: the iteration before may still be going on.
func (b *Barriers) Enter(body []loop.Stmt) {
	before := newPending()
	before.add(b.open)
	b.outer = append(b.outer, before)
	last := b.accesses(body)
	if l, ok := b.k.Work.Body[0].(*loop.Loop); ok && l.Range == loop.Global && len(body) > 0 && l.Body[0] == body[0] {
		for p := range b.k.Work.Params { // of which iterations use elements of their own
			if b.k.Work.Params[p].Use != loop.Scratch {
				delete(last.reads, p)
				delete(last.writes, p)
			}
		}
	}
	b.open.add(last)
}

// Leave ends it. It may have had no iteration.
func (b *Barriers) Leave() {
	last := len(b.outer) - 1
	b.open.add(b.outer[last])
	b.outer = b.outer[:last]
}
