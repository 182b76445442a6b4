package x86

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// node is an expression with what emission wants to know about it. Equal
// expressions share one node, so that lowering need not find them.
type node struct {
	*loop.Expr
	id   int32
	args []*node
	deps deps
	uses int  // by other nodes and statements
	acts bool // an index that sets a status word is below: it must be computed
	need int  // registers to compute it, after Sethi and Ullman
	poly *poly
}

// deps is what a value depends on, as sets of the kernel's loops (by
// variable), locals and params.
type deps struct{ vars, locals, params uint64 }

func (d deps) or(x deps) deps {
	return deps{d.vars | x.vars, d.locals | x.locals, d.params | x.params}
}

func (d deps) meets(x deps) bool {
	return d.vars&x.vars|d.locals&x.locals|d.params&x.params != 0
}

// nodeKey is equal for equal expressions.
type nodeKey struct {
	kind    loop.Kind
	dtype   ir.DType
	op      ir.Op
	bits    uint64
	size    string
	v       *loop.Var
	local   *loop.Local
	param   int
	slot    int
	a, b, c int32
}

// graph holds the nodes of one kernel.
type graph struct {
	byExpr map[*loop.Expr]*node
	byKey  map[nodeKey]*node
	vars   map[*loop.Var]uint64
	locals map[*loop.Local]uint64
	plus   map[*loop.Var]int64 // constants that belong to variables from outside
	full   bool                // more loops, locals or params than a set holds
}

func newGraph() *graph {
	return &graph{
		byExpr: map[*loop.Expr]*node{}, byKey: map[nodeKey]*node{},
		vars: map[*loop.Var]uint64{}, locals: map[*loop.Local]uint64{},
	}
}

// bitOf gives each key a bit of its own.
func bitOf[K comparable](g *graph, m map[K]uint64, k K) uint64 {
	b, ok := m[k]
	if !ok {
		g.full = g.full || len(m) >= 64
		b = 1 << (len(m) & 63)
		m[k] = b
	}
	return b
}

func (g *graph) paramBit(p int) uint64 {
	g.full = g.full || p >= 64
	return 1 << (p & 63)
}

// node returns the node of x, which every expression of the kernel gets
// before emission begins.
func (g *graph) node(x *loop.Expr) *node {
	if n := g.byExpr[x]; n != nil {
		return n
	}
	key := nodeKey{kind: x.Kind, dtype: x.DType}
	args := make([]*node, len(x.Args))
	for i, a := range x.Args {
		args[i] = g.node(a)
		*[]*int32{&key.a, &key.b, &key.c}[i] = args[i].id + 1
	}
	var d deps
	switch x.Kind {
	case loop.KindConst:
		key.bits = x.Bits
	case loop.KindSize:
		key.size = x.Size.String()
	case loop.KindVar:
		key.v, d.vars = x.Var, bitOf(g, g.vars, x.Var)
	case loop.KindLocal:
		key.local, d.locals = x.Local, bitOf(g, g.locals, x.Local)
	case loop.KindLoad:
		key.param, d.params = x.Param, g.paramBit(x.Param)
	case loop.KindIndex:
		key.size, key.slot = x.Size.String(), x.Slot
	case loop.KindApply:
		key.op = x.Op
	}
	n := g.byKey[key]
	if n == nil {
		n = &node{Expr: x, id: int32(len(g.byKey)), args: args, deps: d}
		n.acts = x.Kind == loop.KindIndex
		for _, a := range args {
			n.deps = n.deps.or(a.deps)
			n.acts = n.acts || a.acts
			a.uses++
		}
		n.need = need(n)
		g.byKey[key] = n
	}
	g.byExpr[x] = n
	return n
}

// need is the number of registers that computing n holds at once when the
// operand that needs most goes first.
func need(n *node) int {
	if n.Kind != loop.KindApply {
		if n.Kind == loop.KindConst {
			return 0
		}
		return 1
	}
	var each [3]int
	for i, a := range n.args {
		each[i] = a.need
	}
	slices.SortFunc(each[:], func(a, b int) int { return cmp.Compare(b, a) })
	most := 1
	for i, x := range each[:len(n.args)] {
		most = max(most, x+i)
	}
	return most
}

// counted adds the uses by statements and collects what loops change.
func (g *graph) statements(body []loop.Stmt, changes map[*loop.Loop]deps) deps {
	var all deps
	use := func(x *loop.Expr) {
		if x != nil {
			g.node(x).uses++
		}
	}
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			use(s.Lo)
			use(s.Hi)
			d := g.statements(s.Body, changes)
			changes[s] = d
			all = all.or(d)
		case *loop.Set:
			use(s.Value)
			all.locals |= bitOf(g, g.locals, s.Local)
		case *loop.Acc:
			use(s.Value)
			all.locals |= bitOf(g, g.locals, s.Local)
		case *loop.Store:
			use(s.Index)
			use(s.Value)
			use(s.Valid)
			all.params |= g.paramBit(s.Param)
		}
	}
	return all
}
