package looptest

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Config restricts what Random makes. The zero value allows everything that
// two emitters must agree on bit for bit.
type Config struct {
	DTypes      []ir.DType                         // types of values; empty: all. i64 is always there for indices
	Op          func(op ir.Op, from ir.DType) bool // operations allowed on operands of a type; nil: all
	WildIndices bool                               // some gathered indices are out of range
	Unguarded   bool                               // no loads or stores under a condition
	MaxTrip     int                                // iterations of one loop; 0: 300
}

// maxIterations bounds the innermost iterations of a whole kernel.
const maxIterations = 20000

type param struct {
	name  string
	dtype ir.DType
	use   loop.Use
	len   int
	fill  fill
	limit int // of fillIndices
}

// variable is a loop around, with the values it takes: lo <= v < hi.
type variable struct {
	v      *loop.Var
	lo, hi int
	extent *loop.Expr // an expression for hi
}

type local struct {
	*loop.Local
	exact bool // a float that only ever holds small whole numbers
}

type generator struct {
	rng    *rand.Rand
	c      Config
	params []*param
	slots  int
	sizes  []size
	names  int
	ops    []ir.Op
}

// size is a dimension and its value in this case.
type size struct {
	dim   ir.Dim
	value int
}

// scope is what statements at one place may use.
type scope struct {
	vars   []variable
	vector *loop.Var // of the Vector loop around
	trips  int       // iterations of the loops around
	depth  int
	read   []local // may be read
	set    []local // may also be set anew
	sums   []local // to be reduced by the Vector loop around
	ops    map[*loop.Local]ir.Op
	pool   []*loop.Expr // made before, to be shared
}

// Random makes a valid kernel that stays within its buffers, and its data.
// Floats are summed over lanes from small whole numbers only, so that every
// order gives the same bits.
func Random(rng *rand.Rand, c Config) *Case {
	if c.MaxTrip == 0 {
		c.MaxTrip = 300
	}
	if len(c.DTypes) == 0 {
		c.DTypes = ir.DTypes()
	}
	g := &generator{rng: rng, c: c}
	for _, op := range ir.Ops() {
		if op.Pointwise() {
			g.ops = append(g.ops, op)
		}
	}
	env := ir.Env{"N": 1 + rng.IntN(40), "M": 1 + rng.IntN(9)}
	n, m := ir.Sym("N", 1, 4096), ir.Sym("M", 1, 64)
	for _, d := range []ir.Dim{n, m, n.Mul(m), n.Plus(3), n.Mul(ir.N(2)).Add(m)} {
		v, _ := d.Eval(env) // both symbols are bound
		g.sizes = append(g.sizes, size{d, v})
	}
	s := &scope{trips: 1}
	k := &loop.Kernel{Name: "random"}
	var start, end int
	if rng.IntN(3) > 0 {
		l, inner := g.open(s, loop.Global, 6)
		l.Body = g.body(inner)
		k.Body = []loop.Stmt{l}
		start, end = inner.vars[0].lo, max(inner.vars[0].lo, inner.vars[0].hi)
	} else {
		k.Body = g.body(s)
	}
	k.Slots = g.slots
	out := &Case{Kernel: k, Args: loop.Args{Sizes: env, Start: start, End: end, Status: make([]int64, g.slots)}}
	for _, p := range g.params {
		k.Params = append(k.Params, loop.Param{Name: p.name, DType: p.dtype, Len: ir.N(p.len), Use: p.use})
		out.Args.Buffers = append(out.Args.Buffers, g.buffer(p))
	}
	return out
}

func (g *generator) one(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *generator, from []T) T { return from[g.rng.IntN(len(from))] }

func (g *generator) dtype() ir.DType { return pick(g, g.c.DTypes) }

// param adds a buffer that holds at least n elements.
func (g *generator) param(d ir.DType, use loop.Use, f fill, n int) int {
	g.names++
	g.params = append(g.params, &param{name: "p" + strconv.Itoa(g.names), dtype: d, use: use, len: n, fill: f})
	return len(g.params) - 1
}

var trips = []int{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 255, 256, 257, 300}

// open makes a loop of at most limit iterations and the scope of its body.
func (g *generator) open(s *scope, r loop.Range, limit int) (*loop.Loop, *scope) {
	limit = min(limit, g.c.MaxTrip, maxIterations/max(s.trips, 1))
	if r == loop.Unroll {
		limit = min(limit, 4)
	}
	g.names++
	v := &loop.Var{Name: "i" + strconv.Itoa(g.names)}
	n := pick(g, trips)
	for n > limit {
		n /= 2
	}
	lo, hi, extent := 0, n, loop.Int(n)
	if sz := pick(g, g.sizes); r != loop.Unroll && sz.value <= limit && g.one(2) {
		hi, extent = sz.value, loop.SizeOf(sz.dim)
	}
	l := &loop.Loop{Var: v, Range: r, Hi: extent}
	switch {
	case g.one(4) && hi > 0:
		lo = g.rng.IntN(min(hi, 5))
		l.Lo = loop.Int(lo)
	case r == loop.Serial && s.vector == nil && len(s.vars) > 0 && g.one(4): // a triangle
		if outer := pick(g, s.vars); outer.hi <= limit {
			hi, extent = outer.hi, loop.Int(outer.hi)
			l.Hi = loop.AddIndex(outer.v.Ref(), loop.Int(1))
		}
	}
	inner := *s
	inner.vars = append(slices.Clone(s.vars), variable{v, lo, hi, extent})
	inner.trips = s.trips * max(hi-lo, 1)
	inner.depth++
	if r == loop.Vector {
		inner.vector = v
		g.enterVector(s, &inner)
	}
	return l, &inner
}

// enterVector chooses which locals from outside are reduced by the loop; they
// cannot be read in it, the others not be set.
func (g *generator) enterVector(s, inner *scope) {
	inner.read, inner.set, inner.pool = nil, nil, nil
	inner.ops = map[*loop.Local]ir.Op{}
	for _, l := range s.set {
		if g.one(2) {
			inner.sums = append(inner.sums, l)
		} else {
			inner.read = append(inner.read, l)
		}
	}
}

func (g *generator) body(s *scope) []loop.Stmt {
	var body []loop.Stmt
	for range 1 + g.rng.IntN(4) {
		body = append(body, g.stmt(s)...)
	}
	return append(body, g.store(s)...)
}

func (g *generator) stmt(s *scope) []loop.Stmt {
	for {
		switch g.rng.IntN(7) {
		case 0, 1:
			return []loop.Stmt{g.newLocal(s)}
		case 2:
			if len(s.set) > 0 {
				return []loop.Stmt{g.setAnew(s)}
			}
		case 3:
			if a := g.acc(s); a != nil {
				return []loop.Stmt{a}
			}
		case 4:
			return g.store(s)
		default:
			if s.depth < 4 {
				return g.loops(s)
			}
		}
	}
}

// loops makes a loop; sometimes two, of which the second reads what the first
// put in scratch memory.
func (g *generator) loops(s *scope) []loop.Stmt {
	if s.vector != nil || !g.one(4) {
		return []loop.Stmt{g.loop(s)}
	}
	first, inner := g.open(s, loop.Vector, g.c.MaxTrip)
	v, d := inner.vars[len(inner.vars)-1], g.dtype()
	scratch := g.param(d, loop.Scratch, fillAny, max(v.hi, v.lo+1))
	first.Body = append(g.body(inner), &loop.Store{Param: scratch, Index: v.v.Ref(), Value: g.value(inner, d, 3)})
	again := &loop.Var{Name: v.v.Name}
	index, n := again.Ref(), max(v.hi, v.lo+1)
	for _, o := range s.vars { // the loops around, above the lanes
		index = loop.AddIndex(loop.MulIndex(index, o.extent), o.v.Ref())
		n *= max(o.hi, 1)
	}
	out := g.param(d, loop.Write, fillAny, n)
	value := loop.Load(scratch, d, again.Ref(), nil)
	second := &loop.Loop{Var: again, Lo: first.Lo, Hi: first.Hi, Range: loop.Vector,
		Body: []loop.Stmt{&loop.Store{Param: out, Index: index, Value: value}}}
	return []loop.Stmt{first, second}
}

func (g *generator) loop(s *scope) loop.Stmt {
	r := loop.Vector
	if s.vector != nil || g.one(3) {
		r = pick(g, []loop.Range{loop.Serial, loop.Serial, loop.Unroll})
	}
	limit := 12
	if r == loop.Vector {
		limit = g.c.MaxTrip
	}
	l, inner := g.open(s, r, limit)
	l.Body = g.body(inner)
	return l
}

func (g *generator) newLocal(s *scope) loop.Stmt {
	d := g.dtype()
	g.names++
	l := local{Local: &loop.Local{Name: "t" + strconv.Itoa(g.names), DType: d}}
	value := g.value(s, d, 3)
	if (d == ir.F32 || d == ir.F64) && g.one(2) {
		l.exact = true
		bits, _ := ir.Bits(d, float64(g.rng.IntN(5))) // in range
		value = loop.Const(d, bits)
	}
	s.read, s.set = append(s.read, l), append(s.set, l)
	return &loop.Set{Local: l.Local, Value: value}
}

func (g *generator) setAnew(s *scope) loop.Stmt {
	l := pick(g, s.set)
	if l.exact {
		return &loop.Set{Local: l.Local, Value: loop.Apply(ir.Neg, l.DType, l.Ref())}
	}
	return &loop.Set{Local: l.Local, Value: g.value(s, l.DType, 3)}
}

// acc accumulates into a local of the lane or of the loop around the lanes.
func (g *generator) acc(s *scope) loop.Stmt {
	from := s.set
	if len(s.sums) > 0 && (len(from) == 0 || g.one(2)) {
		from = s.sums
	}
	if len(from) == 0 {
		return nil
	}
	l := pick(g, from)
	op := pick(g, []ir.Op{ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or})
	if fixed := s.ops[l.Local]; fixed != ir.NoOp {
		op = fixed
	}
	ordered := len(s.sums) > 0 && slices.Contains(s.sums, l)
	switch d := l.DType; {
	case d == ir.Bool && op != ir.And && op != ir.Or,
		d.IsFloat() && (op == ir.And || op == ir.Or),
		d.IsFloat() && ordered && !l.exact && op != ir.Min && op != ir.Max:
		return nil
	}
	if ordered {
		s.ops[l.Local] = op
	}
	var value *loop.Expr
	switch {
	case !l.exact:
		value = g.value(s, l.DType, 3)
	case op == ir.Mul: // by 1 or -1
		one, _ := ir.Bits(l.DType, 1)
		minus, _ := ir.Bits(l.DType, -1)
		value = loop.Apply(ir.Where, l.DType, g.value(s, ir.Bool, 2), loop.Const(l.DType, one), loop.Const(l.DType, minus))
	default:
		value = g.load(s, l.DType, fillSmall)
	}
	return &loop.Acc{Local: l.Local, Op: op, Value: value}
}
