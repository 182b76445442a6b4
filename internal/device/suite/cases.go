// Package suite is what every device has to compute: each operation on every
// dtype it takes, at sizes of 0, 1, odd and large, with operands that lie in
// memory in all ways, special values, and runs that must end with an error.
// Expected values and how far a device may be from them come from the referee.
//
// A case is a description, not a test: the same list serves tests, benchmarks
// and a program that checks the devices of its user.
package suite

import (
	"slices"
	"strings"
	"sync"

	"github.com/sinterml/sinter/internal/ir"
)

// every is all cases, shared by all devices of a process.
var every = sync.OnceValue(func() []*Case {
	return slices.Concat(leafCases(), pointwiseCases(), castCases(), reduceCases(), movementCases(),
		indexedCases(), matMulCases(), convCases(), attentionCases(), orderCases(), segmentCases(), faultCases())
})

// Cases lists the cases.
func Cases() []*Case { return slices.Clone(every()) }

// FewStatic leaves out two of three cases that compute what another does, of
// sizes that are constants, for a driver whose compiler takes minutes for all: of
// each operation and each dtype some stay.
func FewStatic(cases []*Case) []*Case {
	return third(cases, func(c *Case) bool { return strings.HasSuffix(c.Name, " static") })
}

// FewElementwise leaves out two of three cases in which every element of the result
// is computed for itself, for a second shape of kernels: what they compute is
// written alike in both. Of each operation and each dtype some stay, not of each pair.
func FewElementwise(cases []*Case) []*Case { return third(cases, (*Case).elementwise) }

// elementwise tells whether no kernel of the case has more to it than an expression
// for each element.
func (c *Case) elementwise() bool {
	g, _, err := c.Graph()
	return err == nil && c.Fails == nil && !slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool {
		switch n.Op.Class() {
		case ir.ClassLeaf, ir.ClassUnary, ir.ClassBinary, ir.ClassTernary, ir.ClassMovement:
			return n.Op == ir.Rand
		}
		return n.Op != ir.Contiguous
	})
}

// FewWords leaves out two of three of the cases in whose names no word is new: of each
// operation, each dtype and each form some stay, not of each pair.
func FewWords(cases []*Case) []*Case { return fewWords(cases, func(*Case) bool { return true }) }

// FewTemplates does so with products, convolutions and attention alone, whose kernels
// take a driver's compiler a second each.
func FewTemplates(cases []*Case) []*Case { return fewWords(cases, (*Case).template) }

// template tells whether a kernel of the case may be a template.
func (c *Case) template() bool {
	g, _, err := c.Graph()
	return err == nil && slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool {
		return n.Op == ir.MatMul || n.Op == ir.Conv || n.Op == ir.Attention || n.Op == ir.AttentionGrad
	})
}

func fewWords(cases []*Case, among func(*Case) bool) []*Case {
	met := map[string]bool{}
	return third(cases, func(c *Case) bool {
		if !among(c) {
			return false
		}
		news := false
		for w := range strings.FieldsSeq(c.Name) {
			news = news || !met[w]
			met[w] = true
		}
		return !news
	})
}

// third leaves out two of three cases that are alike.
func third(cases []*Case, alike func(*Case) bool) []*Case {
	n := 0
	return slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool {
		if !alike(c) {
			return false
		}
		n++
		return n%3 != 1
	})
}

// Graph builds the case's graph; fills says what each leaf holds, by number.
func (c *Case) Graph() (g *ir.Graph, fills []Fill, err error) { return c.build() }

// rows and cols are the sizes of most cases; from cols on sizes are at least
// one, so that a maximum over them has a value.
var (
	rows = ir.Sym("N", 0, 4096)
	cols = ir.Sym("M", 1, 4096)
)

// planes are the sizes of a matrix [N M].
var planes = []ir.Env{{"N": 3, "M": 5}, {"N": 0, "M": 5}, {"N": 1, "M": 1}, {"N": 17, "M": 33}, {"N": 70, "M": 41}}

// fits tells whether op takes operands of these types.
func fits(op ir.Op, a ir.Attr, in ...ir.Type) bool {
	_, err := ir.Infer(op, &a, in)
	return err == nil
}

// takes lists the dtypes that op's operands, all alike, may have.
func takes(op ir.Op, a ir.Attr, operands int, shape ...int) []ir.DType {
	var all []ir.DType
	for _, d := range ir.DTypes() {
		in := make([]ir.Type, operands)
		for i := range in {
			in[i] = ir.Type{DType: d, Shape: ir.Static(shape...)}
		}
		if fits(op, a, in...) {
			all = append(all, d)
		}
	}
	return all
}

// views are ways in which a matrix may lie in memory.
var views = []struct {
	name string
	make func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node
}{
	{"plain", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node { return b.Input(d, fill, n, m) }},
	{"permuted", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		return b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Input(d, fill, m, n))
	}},
	{"expanded rows", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		return b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{n, m}}, b.Input(d, fill, ir.N(1), m))
	}},
	{"sliced", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		x := b.Input(d, fill, n.Plus(2), m.Mul(ir.N(2)).Plus(1))
		return b.Add(ir.Slice, ir.Attr{Starts: ir.Static(1, 1), Steps: []int{1, 2}, Shape: ir.Shape{n, m}}, x)
	}},
	{"flipped", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		return b.Add(ir.Flip, ir.Attr{Axes: []int{0, 1}}, b.Input(d, fill, n, m))
	}},
	{"expanded columns", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		return b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{n, m}}, b.Input(d, fill, n, ir.N(1)))
	}},
	{"reshaped", func(b *Builder, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
		return b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{n, m}}, b.Input(d, fill, n.Mul(m)))
	}},
}

// view makes an operand as the i-th view.
func (b *Builder) view(i int, d ir.DType, fill Fill, n, m ir.Dim) *ir.Node {
	return views[i%len(views)].make(b, d, fill, n, m)
}
