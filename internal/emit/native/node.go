package native

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Node is an expression with what emission wants to know about it. Equal
// expressions share one node, so that lowering need not find them.
type Node struct {
	*loop.Expr
	ID       int32
	Operands []*Node
	Deps     Deps
	Readers  int  // by other nodes and statements
	Acts     bool // an index that sets a status word is below: it must be computed
	Wide     bool // a bool that comes from comparing values of 8 bytes alone
	Need     int  // registers to compute it, after Sethi and Ullman
	poly     *Poly
}

// Deps is what a value depends on, as sets of the kernel's loops (by
// variable), locals and params. Loops that are not inside each other may share
// a bit, as none sees the variable of another; params that are never stored to
// have none.
type Deps struct{ Vars, Locals, Params uint64 }

func (d Deps) Or(x Deps) Deps {
	return Deps{d.Vars | x.Vars, d.Locals | x.Locals, d.Params | x.Params}
}

func (d Deps) Meets(x Deps) bool {
	return d.Vars&x.Vars|d.Locals&x.Locals|d.Params&x.Params != 0
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

// Graph holds the nodes of one kernel.
type Graph struct {
	byExpr map[*loop.Expr]*Node
	ByKey  map[nodeKey]*Node
	Locals map[*loop.Local]uint64
	Plus   map[*loop.Var]int64 // constants that belong to variables from outside
	Full   bool                // more loops, locals or params than a set holds

	vars    map[*loop.Var]uint64
	deepest int            // depths of loops, each a bit from the lowest on
	others  int            // other variables, each a bit from the highest on
	stored  map[int]uint64 // params
}

func NewGraph() *Graph {
	return &Graph{
		byExpr: map[*loop.Expr]*Node{}, ByKey: map[nodeKey]*Node{},
		Locals: map[*loop.Local]uint64{}, vars: map[*loop.Var]uint64{}, stored: map[int]uint64{},
	}
}

// BitOf gives each key a bit of its own.
func BitOf[K comparable](g *Graph, m map[K]uint64, k K) uint64 {
	b, ok := m[k]
	if !ok {
		g.Full = g.Full || len(m) >= 64
		b = 1 << (len(m) & 63)
		m[k] = b
	}
	return b
}

// ParamBit is the bit of a param, 0 for one that the kernel does not store to.
func (g *Graph) ParamBit(p int) uint64 { return g.stored[p] }

// VarBit is the bit of a variable. One of no loop in the kernel gets one of its own.
func (g *Graph) VarBit(v *loop.Var) uint64 {
	if g.vars[v] == 0 {
		g.vars[v] = 1 << (63 - g.others&63)
		g.others++
		g.Full = g.Full || g.deepest+g.others > 64
	}
	return g.vars[v]
}

// name gives bits to the variables of loops, by how deep they are, and to params that
// are stored to. It comes before any Node.
func (g *Graph) name(body []loop.Stmt, depth int) {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			g.deepest = max(g.deepest, depth+1)
			switch bit := uint64(1) << (depth & 63); g.vars[s.Var] {
			case 0:
				g.vars[s.Var] = bit
			case bit:
			default: // of another loop, too, elsewhere
				delete(g.vars, s.Var)
				g.VarBit(s.Var)
			}
			g.name(s.Body, depth+1)
		case *loop.Store:
			BitOf(g, g.stored, s.Param)
		}
	}
	g.Full = g.Full || g.deepest+g.others > 64
}

// Node returns the node of x, which every expression of the kernel gets
// before emission begins.
func (g *Graph) Node(x *loop.Expr) *Node {
	if n := g.byExpr[x]; n != nil {
		return n
	}
	key := nodeKey{kind: x.Kind, dtype: x.DType}
	args := make([]*Node, len(x.Args))
	for i, a := range x.Args {
		args[i] = g.Node(a)
		*[]*int32{&key.a, &key.b, &key.c}[i] = args[i].ID + 1
	}
	var d Deps
	switch x.Kind {
	case loop.KindConst:
		key.bits = x.Bits
	case loop.KindSize:
		key.size = x.Size.String()
	case loop.KindVar:
		key.v, d.Vars = x.Var, g.VarBit(x.Var)
	case loop.KindLocal:
		key.local, d.Locals = x.Local, BitOf(g, g.Locals, x.Local)
	case loop.KindLoad:
		key.param, d.Params = x.Param, g.ParamBit(x.Param)
	case loop.KindIndex:
		key.size, key.slot = x.Size.String(), x.Slot
	case loop.KindApply:
		key.op = x.Op
	}
	n := g.ByKey[key]
	if n == nil {
		n = &Node{Expr: x, ID: int32(len(g.ByKey)), Operands: args, Deps: d}
		n.Acts = x.Kind == loop.KindIndex
		for _, a := range args {
			n.Deps = n.Deps.Or(a.Deps)
			n.Acts = n.Acts || a.Acts
			a.Readers++
		}
		n.Need, n.Wide = need(n), comparesWide(n)
		g.ByKey[key] = n
	}
	g.byExpr[x] = n
	return n
}

// comparesWide is Node.Wide of n.
func comparesWide(n *Node) bool {
	if n.Kind != loop.KindApply || n.DType != ir.Bool {
		return false
	}
	a := n.Operands
	switch n.Op {
	case ir.Less, ir.Equal, ir.Cast:
		return Wide(a[0].DType)
	case ir.And, ir.Or, ir.Xor:
		return a[0].Wide && a[1].Wide
	}
	return false
}

// ComparesDoubles tells whether n is one comparison of f64, or with 0: those are made in
// lanes, even where these are all alike.
func (n *Node) ComparesDoubles() bool {
	return n.Wide && n.Op != ir.And && n.Op != ir.Or && n.Op != ir.Xor && n.Operands[0].DType == ir.F64
}

// need is the number of registers that computing n holds at once when the
// operand that needs most goes first.
func need(n *Node) int {
	if n.Kind != loop.KindApply {
		if n.Kind == loop.KindConst {
			return 0
		}
		return 1
	}
	var each [3]int
	for i, a := range n.Operands {
		each[i] = a.Need
	}
	slices.SortFunc(each[:], func(a, b int) int { return cmp.Compare(b, a) })
	most := 1
	for i, x := range each[:len(n.Operands)] {
		most = max(most, x+i)
	}
	return most
}

// Statements adds the readers by statements and collects what loops change.
func (g *Graph) Statements(body []loop.Stmt, changes map[*loop.Loop]Deps) Deps {
	var all Deps
	use := func(x *loop.Expr) {
		if x != nil {
			g.Node(x).Readers++
		}
	}
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			use(s.Lo)
			use(s.Hi)
			d := g.Statements(s.Body, changes)
			changes[s] = d
			all = all.Or(d)
		case *loop.Set:
			use(s.Value)
			all.Locals |= BitOf(g, g.Locals, s.Local)
		case *loop.Acc:
			use(s.Value)
			all.Locals |= BitOf(g, g.Locals, s.Local)
		case *loop.Store:
			use(s.Index)
			use(s.Value)
			use(s.Valid)
			all.Params |= g.ParamBit(s.Param)
		}
	}
	return all
}
