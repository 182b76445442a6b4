package suite

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sinterml/sinter/internal/ir"
)

// Short lists a part of the suite for a minute: every operation on every dtype,
// every template, at one size or a few. Most of a minute is a driver's compiler,
// so that several operations are one program. What most depends on comes first.
func Short() []*Case { return slices.Clone(short()) }

var short = sync.OnceValue(func() []*Case {
	list := selection(foundation)
	for _, d := range ir.DTypes() {
		list = append(list, shortPointwise(d), shortMoves(d), shortScatter(d))
		if takesAny(ir.ClassReduce, d) {
			list = append(list, shortReduce(d))
		}
		if fits(ir.MatMul, ir.Attr{}, ir.Type{DType: d, Shape: ir.Static(2, 2)}, ir.Type{DType: d, Shape: ir.Static(2, 2)}) {
			list = append(list, shortProducts(d))
		}
	}
	return append(list, selection(others())...)
})

// The shape of operands in short cases: no multiple of any vector.
var shortShape = ir.Static(5, 19)

// operands makes leaves for several operations, a few of which share theirs and
// so a kernel.
type operands struct {
	b    *Builder
	made map[operand]*ir.Node
	n    int // operations so far
}

type operand struct {
	dtype ir.DType
	at    int
	own   ir.Op // whose values must be its own; 0: any will do
}

// sharing is how many operations share operands.
const sharing = 6

func (o *operands) next() {
	if o.n%sharing == 0 {
		o.made = map[operand]*ir.Node{}
	}
	o.n++
}

func (o *operands) leaf(d ir.DType, op ir.Op, at int) *ir.Node {
	key := operand{dtype: d, at: at}
	if at == 1 && (op == ir.IDiv || op == ir.Mod || op == ir.Shl || op == ir.Shr) {
		key.own = op
	}
	if o.made[key] == nil {
		o.made[key] = o.b.Input(d, operandFill(op, at), shortShape...)
	}
	return o.made[key]
}

// shortPointwise is every pointwise operation on d, and casts from it to all.
func shortPointwise(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("pointwise %v", d), Build: func(b *Builder) []*ir.Node {
		var outs []*ir.Node
		o := &operands{b: b}
		for _, op := range ir.Ops() {
			count := arity[op.Class()]
			types := slices.Repeat([]ir.Type{{DType: d}}, count)
			if op == ir.Where {
				types[0].DType = ir.Bool
			}
			if op == ir.Cast || op == ir.Bitcast || !op.Pointwise() || !fits(op, ir.Attr{}, types...) {
				continue
			}
			o.next()
			in := make([]*ir.Node, count)
			for i, t := range types {
				in[i] = o.leaf(t.DType, op, i)
			}
			outs = append(outs, b.Add(op, ir.Attr{}, in...))
		}
		for _, op := range []ir.Op{ir.Cast, ir.Bitcast} {
			for _, to := range ir.DTypes() {
				if a := (ir.Attr{DType: to}); fits(op, a, ir.Type{DType: d}) {
					o.next()
					outs = append(outs, b.Add(op, a, o.leaf(d, op, 0)))
				}
			}
		}
		return outs
	}}
}

// arity is the number of operands of pointwise operations.
var arity = map[ir.Class]int{ir.ClassUnary: 1, ir.ClassBinary: 2, ir.ClassTernary: 3}

// shortMoves moves elements of d in every way, looks some up, and reads leaves of
// every kind.
func shortMoves(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("movement %v", d), Exact: true, Build: func(b *Builder) []*ir.Node {
		n, m := shortShape[0], shortShape[1]
		var outs []*ir.Node
		for v, op := range ir.Ops() {
			if op.Class() != ir.ClassMovement && op != ir.Contiguous {
				continue
			}
			x := b.view(v, d, Anything, n, m)
			in := []*ir.Node{x}
			switch op {
			case ir.Concat:
				in = append(in, b.view(v+3, d, Anything, n, m))
			case ir.Expand:
				in[0] = b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{n, ir.N(1), m}}, x)
			}
			outs = append(outs, b.Add(op, movements(op, d, n, m)[0], in...))
		}
		for _, kind := range []ir.Op{ir.Bound, ir.Weight, ir.Variable} {
			outs = append(outs, b.Add(ir.Flip, ir.Attr{Axes: []int{0}}, b.Leaf(kind, d, Anything, shortShape...)))
		}
		index := b.Input(ir.I32, Below(5), ir.N(3), m)
		return append(outs, b.Full(d, 1, shortShape...), b.Add(ir.Gather, ir.Attr{Axes: []int{0}}, b.Input(d, Anything, shortShape...), index))
	}}
}

// shortScatter writes to places that are computed, and adds.
func shortScatter(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("scatter %v", d), Build: func(b *Builder) []*ir.Node {
		var outs []*ir.Node
		for _, mode := range []string{"set", "add"} {
			if mode == "add" && d == ir.Bool {
				continue
			}
			x, updates := b.Input(d, Ordinary, shortShape...), b.Input(d, Ordinary, ir.N(8), shortShape[1])
			index := b.Input(ir.I64, Below(5), ir.N(8), shortShape[1])
			outs = append(outs, b.Add(ir.Scatter, ir.Attr{Axes: []int{0}, Mode: mode}, x, index, updates))
		}
		if a := (ir.Attr{DType: d, Shape: shortShape, Axes: []int{1}}); fits(ir.Iota, a) {
			outs = append(outs, b.Add(ir.Iota, a))
		}
		return outs
	}}
}

func takesAny(class ir.Class, d ir.DType) bool {
	return slices.ContainsFunc(ir.Ops(), func(op ir.Op) bool {
		return op.Class() == class && fits(op, ir.Attr{Axes: []int{0}}, ir.Type{DType: d, Shape: shortShape})
	})
}

// shortReduce is every reduction of d, of rows and of columns.
func shortReduce(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("reduce %v", d), Build: func(b *Builder) []*ir.Node {
		var outs []*ir.Node
		for _, op := range ir.Ops() {
			for axis := range 2 {
				a := ir.Attr{Axes: []int{axis}}
				if op.Class() == ir.ClassReduce && fits(op, a, ir.Type{DType: d, Shape: shortShape}) {
					outs = append(outs, b.Add(op, a, b.Input(d, reduceFill(op, d), shortShape...)))
				}
			}
		}
		return outs
	}}
}

// shortProducts multiplies d, by a matrix as it lies and by one that is turned.
func shortProducts(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("products %v", d), Build: func(b *Builder) []*ir.Node {
		m, k, n := ir.N(33), ir.N(17), ir.N(65)
		x := b.Input(d, Ordinary, m, k)
		return []*ir.Node{b.Add(ir.MatMul, ir.Attr{}, x, b.view(0, d, Ordinary, k, n)), b.Add(ir.MatMul, ir.Attr{}, x, b.view(1, d, Ordinary, k, n))}
	}}
}

// choice names a case of the whole suite and those of its sizes that the short
// one has; none is all of them.
type choice struct {
	name  string
	sizes []int
}

// foundation is what models are made of.
var foundation = []choice{
	{"linear layer wide", []int{2}}, {"softmax", []int{3}}, {"attention plain f32", []int{5}},
	{"attention ragged causal f32", []int{4}}, {"gather rows of a table", []int{3}}, {"reduce long f32", []int{3}}, {"chain gelu large", nil},
}

// others is the other templates and anchors, and runs that fail.
func others() []choice {
	list := []choice{
		{"attention long", nil}, {"attention mask causal cap f16", []int{5}}, {"attention ragged window bf16", []int{4}}, {"attention wide heads bf16", []int{1}}, {"attention wide heads f16", []int{1}}, {"attention plain f64", []int{0}},
		{"attentiongrad causal f32", []int{5}}, {"attentiongrad ragged plain f32", []int{4}}, {"attentiongrad plain bf16", []int{0}},
		{"conv f32", []int{3}}, {"conv f16", []int{2}}, {"matmul batched f32", []int{6}}, {"matmul few rows f32", nil}, {"matmul few rows bf16", []int{3}}, {"matmul many rows f16", []int{2}}, {"matmul many rows bf16", []int{2}}, {"rand", []int{3}}, {"assign f32", nil}, {"segmentids", []int{4}},
		{"segmentreduce sum f32", []int{4}}, {"segmentreduce max i32", []int{4}}, {"chain bf16", []int{3}}, {"reduce long bf16", []int{2}},
		{"gather outside at 6 i32", nil}, {"scatter add outside at -1 i64", nil}, {"idiv by zero i32", nil}, {"mod by zero u8", nil}, {"segmentids with offsets [0 7]", nil},
	}
	for _, d := range []ir.DType{ir.F32, ir.I64} {
		list = append(list, choice{fmt.Sprintf("sort %v", d), []int{3}}, choice{fmt.Sprintf("scan sum %v", d), []int{3}})
	}
	return list
}

// selection copies cases of the suite, with fewer sizes.
func selection(list []choice) []*Case {
	var cases []*Case
	for _, want := range list {
		i := slices.IndexFunc(every(), func(c *Case) bool { return c.Name == want.name })
		if i < 0 {
			panic("suite: no case " + want.name) // the list itself is wrong
		}
		from := every()[i]
		c := &Case{Name: from.Name, Build: from.Build, Sizes: from.Sizes, Exact: from.Exact, Fails: from.Fails}
		if want.sizes != nil {
			c.Sizes = nil
			for _, at := range want.sizes {
				c.Sizes = append(c.Sizes, from.Sizes[at])
			}
		}
		cases = append(cases, c)
	}
	return cases
}
