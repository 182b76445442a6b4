// Package irtest makes random graphs with data for their leaves, for tests
// that compare two ways of computing the same.
package irtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Config says what graphs to draw. The zero value draws small graphs of every
// operation and type, with static shapes and ordinary numbers.
type Config struct {
	MaxNodes    int        // operations drawn, beside leaves and what fits operands together; 0: 12
	MaxElements int        // of one tensor; 0: 2048
	DTypes      []ir.DType // of leaves and results, Bool always among them; nil: all
	Ops         []ir.Op    // what is drawn; leaves, and reshape and expand to fit operands, always may appear; nil: all
	Symbolic    bool       // inputs with symbolic sizes
	Sizes       [2]int     // bounds of symbols; zero: 1 to 16
	Sums        bool       // sizes are sums and multiples of symbols too, and views begin at symbols
	// Integers restricts floats to whole numbers so small that every sum is
	// exact, in whatever order: two devices must agree bit for bit.
	Integers bool
	// Smooth gives operations that jump, such as floor and less, only operands
	// that every device computes alike.
	Smooth bool
	// Chain is the probability that an operation takes the newest value that
	// fits and, beside it, a constant: for tests of rules that look for
	// operations in a row.
	Chain   float64
	Special float64 // probability of NaN, infinity, -0, a subnormal or an extreme as an element of a float leaf
}

// Random draws a graph, the bytes of its leaves by number, and the values of
// its symbols. The same rng state gives the same graph.
func Random(rng *rand.Rand, c Config) (*ir.Graph, [][]byte, ir.Env) {
	g := newGenerator(rng, c)
	want := 1 + rng.IntN(g.MaxNodes)
	for tries := 0; len(g.drawn) < want && tries < 4*want+8; tries++ {
		g.draw(g.ops[rng.IntN(len(g.ops))])
	}
	graph := g.b.Finish(g.outputs()...)
	data := make([][]byte, len(graph.Leaves))
	for i, l := range graph.Leaves {
		data[i] = g.data[l.Name]
	}
	return graph, data, g.env
}

// value is a node and what the generator knows of it.
type value struct {
	n     *ir.Node
	size  []int   // its shape, with the symbols' values put in
	bound float64 // no element is larger in magnitude, special values aside; kept with Integers alone
	exact bool    // the same bits on every device
}

func (v *value) count() int {
	n := 1
	for _, s := range v.size {
		n *= s
	}
	return n
}

type generator struct {
	Config
	rng     *rand.Rand
	b       *ir.Builder
	ops     []ir.Op
	allowed [32]bool // by DType
	env     ir.Env
	symbols []ir.Dim
	data    map[string][]byte // by leaf name
	values  []*value          // operands to draw from
	drawn   []*value          // results of draw
	rands   int

	assigned map[int]bool // leaves of variables that are given a new value
	assigns  []*ir.Node
}

func newGenerator(rng *rand.Rand, c Config) *generator {
	g := &generator{Config: c, rng: rng, b: ir.NewBuilder(nil), env: ir.Env{}, data: map[string][]byte{}}
	if g.MaxNodes == 0 {
		g.MaxNodes = 12
	}
	if g.MaxElements == 0 {
		g.MaxElements = 2048
	}
	if g.DTypes == nil {
		g.DTypes = ir.DTypes()
	}
	for _, d := range g.DTypes {
		g.allowed[d] = true
	}
	g.allowed[ir.Bool] = true
	for _, op := range ir.Ops() {
		// Attention draws its gradient, and without u32 mulhi would draw nothing.
		any := c.Ops == nil && op != ir.AttentionGrad && (op != ir.MulHi || g.allowed[ir.U32])
		if drawers[op] != nil && (any || slices.Contains(c.Ops, op)) {
			g.ops = append(g.ops, op)
		}
	}
	if len(g.ops) == 0 {
		panic("irtest: no operation to draw")
	}
	if c.Symbolic {
		for _, name := range []string{"N", "T"} {
			n := 1 + rng.IntN(12)
			g.env[name] = n
			lo, hi := 1, 16
			if c.Sizes[1] > 0 {
				lo, hi = c.Sizes[0], c.Sizes[1]
			}
			g.symbols = append(g.symbols, ir.Sym(name, lo, hi))
		}
	}
	return g
}

// draw adds one operation of the given kind if its operands can be had.
func (g *generator) draw(op ir.Op) {
	if v := drawers[op](g, op); v != nil {
		g.drawn = append(g.drawn, v)
	}
}

// outputs chooses the last result and some others, each once.
func (g *generator) outputs() []*ir.Node {
	if len(g.drawn) == 0 {
		return append(g.assigns, g.leaf(g.dtype(nil), g.shape(64), 0, 0).n)
	}
	outs := append(g.assigns, g.drawn[len(g.drawn)-1].n)
	for range g.rng.IntN(4) {
		if n := g.drawn[g.rng.IntN(len(g.drawn))].n; !slices.Contains(outs, n) {
			outs = append(outs, n)
		}
	}
	return outs
}

// add makes a node whose operands were chosen to fit: if they do not, the
// generator is wrong, and that must not pass for a graph.
func (g *generator) add(op ir.Op, a ir.Attr, in ...*value) *value {
	nodes := make([]*ir.Node, len(in))
	exact := true
	bound := 0.0
	for i, v := range in {
		nodes[i] = v.n
		exact = exact && v.exact
		bound = max(bound, v.bound)
	}
	n, err := g.b.Add(op, a, nodes...)
	if err != nil {
		panic(fmt.Sprintf("irtest: %v", err))
	}
	return g.keep(n, bound, exact)
}

func (g *generator) keep(n *ir.Node, bound float64, exact bool) *value {
	size, err := n.Shape.Eval(g.env)
	if err != nil {
		panic(fmt.Sprintf("irtest: %v", err))
	}
	v := &value{n: n, size: size, bound: bound, exact: exact}
	if n.Op.Outputs() == 1 {
		g.values = append(g.values, v)
	}
	return v
}

// pick chooses one of the values that f accepts, the newest rather more often;
// nil if there is none.
func (g *generator) pick(f func(v *value) bool) *value {
	if g.chains() {
		for _, v := range slices.Backward(g.values) {
			if f(v) {
				return v
			}
		}
	}
	var chosen *value
	seen := 0.0
	for i, v := range g.values {
		if f(v) {
			weight := float64(i + 1)
			seen += weight
			if g.rng.Float64()*seen < weight {
				chosen = v
			}
		}
	}
	return chosen
}

func (g *generator) chains() bool { return g.Chain > 0 && g.rng.Float64() < g.Chain }

// any chooses an existing value whose type f accepts, or makes a leaf.
func (g *generator) any(f func(d ir.DType) bool) *value {
	if g.rng.IntN(8) > 0 {
		if v := g.pick(func(v *value) bool { return f(v.n.DType) }); v != nil {
			return v
		}
	}
	d := g.dtype(f)
	if d == ir.NoType {
		return nil
	}
	return g.leaf(d, g.shape(g.MaxElements/4), 0, 0)
}

// dtype chooses an allowed type that f accepts, NoType if there is none.
func (g *generator) dtype(f func(d ir.DType) bool) ir.DType {
	var fit [32]ir.DType
	n := 0
	for _, d := range g.DTypes {
		if f == nil || f(d) {
			fit[n] = d
			n++
		}
	}
	if f != nil && f(ir.Bool) && n == 0 {
		return ir.Bool
	}
	if n == 0 {
		return ir.NoType
	}
	return fit[g.rng.IntN(n)]
}

// shape draws sizes with at most limit elements.
func (g *generator) shape(limit int) ir.Shape {
	s := make(ir.Shape, g.rank())
	for i := range s {
		s[i] = g.dim(limit)
		n, _ := s[i].Eval(g.env)
		limit /= max(n, 1)
	}
	g.rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func (g *generator) rank() int { return [...]int{0, 1, 1, 2, 2, 2, 2, 3, 3, 4}[g.rng.IntN(10)] }

// dim draws one size of at most limit: often 1, odd or a small power of two,
// now and then 0 or a symbol.
func (g *generator) dim(limit int) ir.Dim {
	if len(g.symbols) > 0 && g.rng.IntN(3) == 0 {
		d := g.symbols[g.rng.IntN(len(g.symbols))]
		if g.Sums && g.rng.IntN(3) == 0 {
			e := g.symbols[g.rng.IntN(len(g.symbols))]
			d = [...]ir.Dim{d.Add(e), d.Mul(ir.N(2)), d.Plus(3), d.Mul(ir.N(4)).Plus(1)}[g.rng.IntN(4)]
		}
		if g.eval(d) <= limit {
			return d
		}
	}
	sizes := [...]int{1, 1, 2, 2, 3, 4, 5, 7, 8, 8, 9, 13, 16, 17, 31, 40}
	n := sizes[g.rng.IntN(len(sizes))]
	if g.rng.IntN(64) == 0 {
		n = 0
	}
	return ir.N(min(n, max(limit, 1)))
}

func (g *generator) eval(d ir.Dim) int {
	n, err := d.Eval(g.env)
	if err != nil {
		panic(fmt.Sprintf("irtest: %v", err))
	}
	return n
}

func (g *generator) count(s ir.Shape) int {
	n := 1
	for _, d := range s {
		n *= g.eval(d)
	}
	return n
}

// exactLimit is below what whole numbers of type d add and multiply without
// rounding; integers wrap, which is exact.
func exactLimit(d ir.DType) float64 {
	switch d {
	case ir.F16:
		return 1 << 11
	case ir.BF16:
		return 1 << 8
	case ir.F32:
		return 1 << 24
	case ir.F64:
		return 1 << 53
	}
	return math.Inf(1)
}

// fits tells whether results up to bound may be made: with Integers they must
// be exact.
func (g *generator) fits(d ir.DType, bound float64) bool {
	return !g.Integers || bound <= exactLimit(d)
}
