package schedule

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// commits finds the variables whose new values may be written over the old
// ones, and puts the kernels that do so, with all that follow from them, behind
// the others: from Plan.Commit on nothing can fail any more, so that a run
// leaves all variables as they were or has changed them all.
//
// A new value is written in place if every other reader of the old one comes
// before, and its own kernel reads each element only before it writes it.
func (p *Plan) commits() {
	c := newCommits(p)
	for o, n := range p.Graph.Outputs {
		if n.Op == ir.Assign && p.Graph.Leaves[n.Attr.Leaf].Kind == ir.Variable {
			c.candidates = append(c.candidates, assignment{output: o, leaf: n.Attr.Leaf})
		}
	}
	// The largest first: of several that exclude one another it saves most.
	size := func(a assignment) int64 {
		_, n := p.Buffers[a.leaf].Len.Bounds()
		return n * int64(p.Buffers[a.leaf].DType.Size())
	}
	slices.SortStableFunc(c.candidates, func(a, b assignment) int { return cmp.Compare(size(b), size(a)) })
	for _, a := range c.candidates {
		if c.accept(a) {
			p.InPlace[a.output] = a.leaf
		}
	}
	c.reorder()
}

// assignment is an output that is the new value of a leaf.
type assignment struct{ output, leaf int }

// commits is the kernels of a plan as a graph.
type commits struct {
	plan       *Plan
	candidates []assignment
	writer     []int   // of each buffer; -1: none
	readers    [][]int // of each buffer
	after      [][]int // of each kernel: those that must come later
	late       []bool  // of each kernel: it comes behind the first that writes in place
}

func newCommits(p *Plan) *commits {
	p.InPlace = make([]int, len(p.Graph.Outputs))
	for i := range p.InPlace {
		p.InPlace[i] = -1
	}
	c := &commits{plan: p, writer: make([]int, len(p.Buffers)), readers: make([][]int, len(p.Buffers)), after: make([][]int, len(p.Kernels)), late: make([]bool, len(p.Kernels))}
	for i := range c.writer {
		c.writer[i] = -1
	}
	for i, k := range p.Kernels {
		for j, prm := range k.Params() {
			a := k.Args[j]
			switch {
			case a < 0:
			case prm.Use == loop.Read:
				c.readers[a] = append(c.readers[a], i)
			default:
				c.writer[a] = i
			}
		}
	}
	for a, w := range c.writer {
		if w >= 0 {
			c.after[w] = append(c.after[w], c.readers[a]...)
		}
	}
	return c
}

// accept has an assignment written in place, if nothing speaks against it.
func (c *commits) accept(a assignment) bool {
	out := slices.IndexFunc(c.plan.Buffers, func(b Buffer) bool { return b.Kind == OutputBuffer && b.Number == a.output })
	w := c.writer[out]
	k, product := loopsOf(c.plan.Kernels[w])
	if k == nil {
		return false
	}
	follows := map[int]bool{}
	c.follow(w, follows)
	for i := range follows {
		if !c.cannotFail(c.plan.Kernels[i]) {
			return false
		}
	}
	for _, r := range c.readers[a.leaf] {
		if r != w && follows[r] {
			return false // it needs both the old value and what comes of the new one
		}
	}
	args := c.plan.Kernels[w].Args
	from, to := slices.Index(args, a.leaf), slices.Index(args, out)
	if from >= 0 && !readsOwn(k, from, to) {
		return false
	}
	done := c.pairs(w)
	if from >= 0 {
		done = append(done, [2]int{from, to})
	}
	work, ok := storesInOrder(k, done)
	if !ok || product && work != k {
		return false // a product's stores stay in the order in which its values follow from one another
	}
	if !product {
		c.plan.Kernels[w].Work = work
	}
	for _, r := range c.readers[a.leaf] {
		if r != w {
			c.after[r] = append(c.after[r], w)
		}
	}
	for i := range follows {
		c.late[i] = true
	}
	return true
}

// loopsOf is the loops of a kernel, or what a product means as loops: its only
// stores are those of the epilogue. Nil: other work.
func loopsOf(k *Kernel) (loops *loop.Kernel, product bool) {
	switch w := k.Work.(type) {
	case *loop.Kernel:
		return w, false
	case *template.Gemm:
		return w.Loops(), true
	}
	return nil, false
}

// follow adds kernel i and all that must come behind it.
func (c *commits) follow(i int, all map[int]bool) {
	if all[i] {
		return
	}
	all[i] = true
	for _, n := range c.after[i] {
		c.follow(n, all)
	}
}

// cannotFail tells whether k ends well whatever it reads: there is nothing to
// check, and none of it lies in a file, which may be gone.
func (c *commits) cannotFail(k *Kernel) bool {
	if len(k.Checks) > 0 || k.Constant {
		return false
	}
	return !slices.ContainsFunc(k.Args, func(a int) bool {
		return a >= 0 && c.plan.Buffers[a].Kind == LeafBuffer && c.plan.Graph.Leaves[c.plan.Buffers[a].Number].Kind == ir.Weight
	})
}

// pairs are the params of kernel w that lie in the same place: where an old
// value is read, and where the new one goes.
func (c *commits) pairs(w int) (all [][2]int) {
	args := c.plan.Kernels[w].Args
	for j, a := range args {
		if a < 0 || c.plan.Buffers[a].Kind != OutputBuffer {
			continue
		}
		if leaf := c.plan.InPlace[c.plan.Buffers[a].Number]; leaf >= 0 {
			if from := slices.Index(args, leaf); from >= 0 {
				all = append(all, [2]int{from, j})
			}
		}
	}
	return all
}

// reorder moves the late kernels behind the others, each behind those it has
// to follow, else in their order.
func (c *commits) reorder() {
	var early, late []*Kernel
	waits := make([]int, len(c.plan.Kernels))
	for i, next := range c.after {
		if c.late[i] {
			for _, n := range next {
				waits[n]++
			}
		}
	}
	for i, k := range c.plan.Kernels {
		if !c.late[i] {
			early = append(early, k)
		}
	}
	done := make([]bool, len(waits))
	for at := 0; at < len(waits); {
		if !c.late[at] || done[at] || waits[at] > 0 {
			at++
			continue
		}
		done[at] = true
		late = append(late, c.plan.Kernels[at])
		next := at + 1
		for _, n := range c.after[at] {
			waits[n]--
			next = min(next, n) // an earlier one may be ready now
		}
		at = next
	}
	c.plan.Commit = len(early)
	c.plan.Kernels = append(early, late...)
}

// readsOwn tells whether k reads param from only at the place where the same
// iteration stores to param to.
func readsOwn(k *loop.Kernel, from, to int) bool {
	store, body := storeOf(k.Body, to)
	if store == nil {
		return false
	}
	inside := map[*loop.Expr]bool{}
	ok := true
	for _, s := range body {
		eachExpr(s, func(e *loop.Expr) {
			inside[e] = true
			if e.Kind == loop.KindLoad && e.Param == from {
				ok = ok && loop.SameIndex(e.Args[0], store.Index)
			}
		})
	}
	k.WalkExprs(func(e *loop.Expr) {
		ok = ok && (e.Kind != loop.KindLoad || e.Param != from || inside[e])
	})
	return ok
}

// storeOf finds the one store to a param and the statements beside it.
func storeOf(body []loop.Stmt, param int) (store *loop.Store, beside []loop.Stmt) {
	var visit func([]loop.Stmt)
	stores := 0
	visit = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				visit(s.Body)
			case *loop.Store:
				if s.Param == param {
					stores++
					store, beside = s, body
				}
			}
		}
	}
	visit(body)
	if stores != 1 {
		return nil, nil
	}
	return store, beside
}

// eachExpr visits the expressions of a statement that is no loop.
func eachExpr(s loop.Stmt, visit func(*loop.Expr)) {
	switch s := s.(type) {
	case *loop.Set:
		s.Value.Walk(visit)
	case *loop.Acc:
		s.Value.Walk(visit)
	case *loop.Store:
		s.Index.Walk(visit)
		s.Value.Walk(visit)
		if s.Valid != nil {
			s.Valid.Walk(visit)
		}
	}
}

// storesInOrder is k with its stores in an order in which no statement reads
// what one before it has overwritten; pairs are params that lie in the same
// place. It is false where there is no such order.
func storesInOrder(k *loop.Kernel, pairs [][2]int) (*loop.Kernel, bool) {
	if len(pairs) == 0 {
		return k, true
	}
	_, body := storeOf(k.Body, pairs[0][1])
	first := len(body)
	for first > 0 {
		if _, ok := body[first-1].(*loop.Store); !ok {
			break
		}
		first--
	}
	left := slices.Clone(body[first:])
	from := map[int]int{} // by the param where a new value goes
	for _, p := range pairs {
		from[p[1]] = p[0]
	}
	readers := storesThatRead(left)
	done := map[loop.Stmt]bool{}
	var sorted []loop.Stmt
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(s loop.Stmt) bool {
			old, ok := from[s.(*loop.Store).Param]
			return !ok || !slices.ContainsFunc(readers[old], func(o loop.Stmt) bool { return o != s && !done[o] })
		})
		if next < 0 {
			return nil, false
		}
		done[left[next]] = true
		sorted = append(sorted, left[next])
		left = slices.Delete(left, next, next+1)
	}
	for _, p := range pairs {
		if !slices.ContainsFunc(sorted, func(s loop.Stmt) bool { return s.(*loop.Store).Param == p[1] }) {
			return nil, false // stored elsewhere
		}
	}
	if slices.Equal(sorted, body[first:]) {
		return k, true
	}
	other := *k
	other.Body = replaceBody(k.Body, body, slices.Concat(body[:first], sorted))
	return &other, true
}

// storesThatRead are the statements that load from each param.
func storesThatRead(body []loop.Stmt) map[int][]loop.Stmt {
	all := map[int][]loop.Stmt{}
	for _, s := range body {
		eachExpr(s, func(e *loop.Expr) {
			if e.Kind == loop.KindLoad && !slices.Contains(all[e.Param], s) {
				all[e.Param] = append(all[e.Param], s)
			}
		})
	}
	return all
}

// replaceBody copies the loops around one list of statements, with another in
// its place.
func replaceBody(body, old, with []loop.Stmt) []loop.Stmt {
	if len(body) > 0 && &body[0] == &old[0] {
		return with
	}
	made := slices.Clone(body)
	for i, s := range made {
		if l, ok := s.(*loop.Loop); ok {
			copied := *l
			copied.Body = replaceBody(l.Body, old, with)
			made[i] = &copied
		}
	}
	return made
}
