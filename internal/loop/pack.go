package loop

import (
	"fmt"
	"maps"

	"github.com/sinterml/sinter/internal/ir"
)

// Elements side by side are loaded and stored at once where a work-item has the
// lanes for them: Grouping.Each lanes of every Width, instead of one.

// mostEach is how many lanes that are: each has its own copy of a loop's body.
const mostEach = 8

// packable is what keeps the lanes of Vector loops from being side by side.
type packable struct {
	k           *Kernel
	bases       []*Expr // what has to be a multiple: the index of lane 0
	least, most int     // bytes of an element
	longest     int     // lanes of a loop, if all have a constant number
}

// Each is how many lanes of k's Vector loops, 1 if not several, work-items may
// have side by side, so that they access no more than so many bytes at once, from
// multiples of those on, and so that there are so many work-items.
func Each(k *Kernel, bytes, items int) int {
	p := &packable{k: k, least: 4}
	if !p.all(k.Body) || p.most == 0 {
		return 1
	}
	n := min(bytes/p.most, mostEach)
	for n > 1 && (p.longest > 0 && p.longest < n*items || !p.aligned(n)) {
		n /= 2
	}
	if n*p.least < 4 {
		return 1
	}
	return max(n, 1)
}

func (p *packable) aligned(n int) bool {
	for _, b := range p.bases {
		if !Multiple(b, n) {
			return false
		}
	}
	return true
}

func (p *packable) all(body []Stmt) bool {
	known := true
	ok := true
	eachStmt(body, func(s Stmt) {
		l, is := s.(*Loop)
		if !is || l.Range != Vector {
			return
		}
		ok = ok && p.loop(l)
		lo := l.Lo
		if lo == nil {
			lo = Int(0)
		}
		n, constant := SubIndex(l.Hi, lo).AsInt()
		known = known && constant
		p.longest = max(p.longest, n)
	})
	if !known {
		p.longest = 0
	}
	return ok
}

// loop looks at the accesses of a Vector loop: each is to the same element in all
// lanes, or to those side by side.
func (p *packable) loop(l *Loop) bool {
	ok := true
	access := func(param int, index *Expr) {
		base, stride, affine := Affine(index, l.Var)
		size := p.k.Params[param].DType.Size()
		switch {
		case affine && stride.IsInt(0):
		case affine && stride.IsInt(1) && size <= 4:
			if l.Lo != nil {
				base = AddIndex(base, l.Lo)
			}
			p.bases = append(p.bases, base)
			p.least, p.most = min(p.least, size), max(p.most, size)
		default:
			ok = false
		}
	}
	visit := func(e *Expr) {
		switch {
		case e.Kind == KindIndex && e.Uses(l.Var):
			ok = false
		case e.Kind == KindLoad && e.Uses(l.Var):
			ok = ok && len(e.Args) == 1
			access(e.Param, e.Args[0])
		}
	}
	for _, s := range l.Body {
		switch s := s.(type) {
		case *Loop:
			return false
		case *Set:
			s.Value.Walk(visit)
		case *Acc:
			s.Value.Walk(visit)
		case *Store:
			s.Value.Walk(visit)
			ok = ok && s.Valid == nil && s.Index.Uses(l.Var)
			access(s.Param, s.Index)
		}
	}
	return ok
}

// Multiple tells whether an index is a multiple of n by form.
func Multiple(e *Expr, n int) bool {
	if c, ok := e.AsInt(); ok {
		return c%n == 0
	}
	switch e.Kind {
	case KindSize:
		whole := true
		e.Size.Terms(func(coef int64, _ []ir.Symbol) { whole = whole && coef%int64(n) == 0 })
		return whole
	case KindApply:
		if e.DType != ir.I64 {
			return false
		}
		switch e.Op {
		case ir.Add, ir.Sub, ir.Min, ir.Max:
			return Multiple(e.Args[0], n) && Multiple(e.Args[1], n)
		case ir.Mul:
			for d := 1; d <= n; d++ {
				if n%d == 0 && Multiple(e.Args[0], d) && Multiple(e.Args[1], n/d) {
					return true
				}
			}
		}
	}
	return n == 1
}

// Packed is the body of a Vector loop over elements of k for so many lanes side by
// side, which Each allows: those from n times pack on. own has as many locals in the
// place of one that was set before.
func Packed(k *Kernel, l *Loop, pack *Var, n int, own map[*Local][]*Local) []Stmt {
	var lanes []*Expr
	for u := range n {
		lanes = append(lanes, AddIndex(MulIndex(pack.Ref(), Int(n)), Int(u)))
	}
	p := &packer{k: k, own: maps.Clone(own)}
	return p.body(l, pack, lanes)
}

// packs is items where each work-item has several lanes side by side. Lane n of a
// loop goes to partial result n mod Width as it does there, in the same order.
func (b *grouper) packs(l *Loop, folds []folded) Stmt {
	t := &Var{Name: "item"}
	count := SubIndex(l.Hi, b.from(l))
	// A count below zero has no packs, not fewer than none.
	whole := Apply(ir.Max, ir.I64, Apply(ir.IDiv, ir.I64, count, Int(b.Each)), Int(0))
	if n, ok := count.AsInt(); ok {
		whole = Int(max(n/b.Each, 0))
	}
	out := &Loop{Var: t, Hi: Int(b.Width / b.Each), Range: Item}
	own := map[*Local][]*Local{}
	for _, f := range folds {
		for u := range b.Each {
			part := &Local{Name: fmt.Sprint(f.acc.Local.Name, "_part", u), DType: f.acc.Local.DType}
			own[f.acc.Local] = append(own[f.acc.Local], part)
			out.Body = append(out.Body, &Set{part, neutral(f.acc.Op, part.DType)})
		}
	}
	loops, turns := b.turns(l, t, whole, own)
	out.Body = append(out.Body, loops...)
	if !Multiple(count, b.Each) {
		out.Body = append(out.Body, b.rest(l, t, turns, own)...)
	}
	at := MulIndex(t.Ref(), Int(b.Each))
	for _, f := range folds {
		for u, part := range own[f.acc.Local] {
			out.Body = append(out.Body, b.setPart(f, AddIndex(at, Int(u)), part.Ref()))
		}
	}
	return out
}

// from is where a loop begins.
func (b *grouper) from(l *Loop) *Expr {
	if l.Lo == nil {
		return Int(0)
	}
	return l.Lo
}

// turns are the loops over packs, and how many turns a work-item takes in them:
// first several at once, while all work-items have as many, then one by one.
func (b *grouper) turns(l *Loop, t *Var, whole *Expr, own map[*Local][]*Local) (all []Stmt, turns *Expr) {
	items := b.Width / b.Each
	loop := func(from, to *Expr, n int) {
		turn := &Var{Name: "turn"}
		first := AddIndex(AddIndex(b.from(l), MulIndex(t.Ref(), Int(b.Each))), MulIndex(turn.Ref(), Int(n*b.Width)))
		var lanes []*Expr
		for i := range n {
			for u := range b.Each {
				lanes = append(lanes, AddIndex(first, Int(i*b.Width+u)))
			}
		}
		p := &packer{k: b.k, own: maps.Clone(own)}
		all = append(all, &Loop{Var: turn, Lo: from, Hi: to, Range: Serial, Body: p.body(l, t, lanes)})
	}
	turns = turnsOf(SubIndex(whole, t.Ref()), items)
	packs, known := whole.AsInt()
	if known && packs%items == 0 {
		turns = Int(packs / items)
	}
	var done *Expr
	if n := b.atOnce(l, own); n > 1 {
		many := Apply(ir.IDiv, ir.I64, whole, Int(n*items))
		if known {
			many = Int(packs / (n * items))
		}
		loop(nil, many, n)
		if done = MulIndex(many, Int(n)); known && packs%(n*items) == 0 {
			return all, turns
		}
	}
	loop(done, turns, 1)
	return all, turns
}

// lanesAtOnce is how many lanes a work-item has in the turns that it takes at once,
// so that their loads are on their way together.
const lanesAtOnce = 16

// atOnce is how many turns of a loop are taken at once: as many as it has. Those
// of sums are left to compilers, which need not move loads over stores there.
func (b *grouper) atOnce(l *Loop, own map[*Local][]*Local) int {
	n, ok := SubIndex(l.Hi, b.from(l)).AsInt()
	if !ok && l.Hi.Kind == KindApply && l.Hi.Op == ir.Min { // a block of a longer loop
		n, ok = SubIndex(l.Hi.Args[0], b.from(l)).AsInt()
		if x, y := l.Hi.Args[0], b.from(l); !ok && x.Kind == KindApply && x.Op == ir.Add && SameIndex(x.Args[0], y) {
			n, ok = x.Args[1].AsInt()
		}
	}
	if !ok || len(own) > 0 {
		return 1
	}
	return min(lanesAtOnce/b.Each, n/b.Width)
}

// turnsOf is how many turns a work-item takes that has left lanes before it of
// every width.
func turnsOf(left *Expr, width int) *Expr {
	return Apply(ir.IDiv, ir.I64, AddIndex(left, Int(width-1)), Int(width))
}

// rest are the lanes behind those that fill packs, fewer than one has. They are those
// of the work-item whose pack they begin, in every loop: it alone may read what it
// writes to memory that params share.
func (b *grouper) rest(l *Loop, t *Var, turns *Expr, own map[*Local][]*Local) []Stmt {
	at := AddIndex(b.from(l), MulIndex(t.Ref(), Int(b.Each)))
	if len(own) == 0 {
		lane := &Var{Name: "rest"}
		from := AddIndex(at, MulIndex(turns, Int(b.Width)))
		return []Stmt{&Loop{Var: lane, Lo: from, Hi: l.Hi, Range: Serial, Body: substitute(l.Body, map[*Var]*Expr{l.Var: lane.Ref()})}}
	}
	var out []Stmt
	for u := range b.Each - 1 {
		turn := &Var{Name: "turn"}
		first := AddIndex(at, Int(u))
		lane := AddIndex(first, MulIndex(turn.Ref(), Int(b.Width)))
		body := substitute(l.Body, map[*Var]*Expr{l.Var: lane})
		for acc, parts := range own {
			body = accumulateInto(body, acc, func(a *Acc) Stmt { return &Acc{parts[u], a.Op, a.Value} })
		}
		out = append(out, &Loop{Var: turn, Lo: turns, Hi: turnsOf(SubIndex(l.Hi, first), b.Width), Range: Serial, Body: body})
	}
	return out
}

// packer writes a body for lanes side by side: a statement for all of them, then
// the next, each behind the loads that it needs.
type packer struct {
	k      *Kernel
	own    map[*Local][]*Local // partial results, and the body's own locals
	loaded []loaded
	out    []Stmt
}

// loaded is an element that a local has.
type loaded struct {
	load  *Expr
	local *Local
}

func (p *packer) body(l *Loop, t *Var, lanes []*Expr) []Stmt {
	for _, s := range l.Body {
		if s, ok := s.(*Set); ok && p.own[s.Local] == nil {
			for u := range lanes {
				p.own[s.Local] = append(p.own[s.Local], &Local{Name: fmt.Sprint(s.Local.Name, "_", u), DType: s.Local.DType})
			}
		}
	}
	for _, s := range l.Body {
		var copies []Stmt
		for u, lane := range lanes {
			one := substitute([]Stmt{s}, map[*Var]*Expr{l.Var: lane})
			copies = append(copies, p.loads(one, t, u)...)
		}
		p.add(copies)
	}
	return p.out
}

// loads puts what a statement loads into locals, and has it use its lane's.
func (p *packer) loads(one []Stmt, t *Var, u int) []Stmt {
	return Rewrite(one, func(e *Expr) *Expr {
		switch {
		case e.Kind == KindLocal && p.own[e.Local] != nil:
			return p.own[e.Local][u].Ref()
		case e.Kind == KindLoad && e.Uses(t):
			for _, have := range p.loaded {
				if have.load.Param == e.Param && SameIndex(have.load.Args[0], e.Args[0]) {
					return have.local.Ref()
				}
			}
			to := &Local{Name: fmt.Sprint("x", len(p.loaded)), DType: e.DType}
			p.loaded = append(p.loaded, loaded{e, to})
			p.out = append(p.out, &Set{to, e})
			return to.Ref()
		}
		return e
	})
}

// add writes the copies of a statement. What is stored is computed before the
// first of it is.
func (p *packer) add(copies []Stmt) {
	stores := make([]Stmt, 0, len(copies))
	for u, s := range copies {
		switch s := s.(type) {
		case *Set:
			p.out = append(p.out, &Set{p.own[s.Local][u], s.Value})
		case *Acc:
			to := s.Local
			if own := p.own[to]; own != nil {
				to = own[u]
			}
			p.out = append(p.out, &Acc{to, s.Op, s.Value})
		case *Store:
			y := &Local{Name: fmt.Sprint("y", u), DType: s.Value.DType}
			p.out = append(p.out, &Set{y, s.Value})
			stores = append(stores, &Store{Param: s.Param, Index: s.Index, Value: y.Ref()})
		}
	}
	p.out = append(p.out, stores...)
	kept := p.loaded[:0:0]
	for _, have := range p.loaded {
		if p.k.Params[have.load.Param].Use == Read { // which no statement changes
			kept = append(kept, have)
		}
	}
	p.loaded = kept
}
