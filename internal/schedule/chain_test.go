package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/timetest"
)

// TestLongChain schedules a chain of 100,000 operations, which takes time
// linear in its length and many kernels.
func TestLongChain(t *testing.T) {
	const length = 100_000
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(4)}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range length {
		if x, err = b.Add([]ir.Op{ir.Exp, ir.Neg, ir.Tanh}[i%3], ir.Attr{}, x); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	p, err := Build(b.Finish(x), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	t.Logf("%d kernels in %v", len(p.Kernels), time.Since(start))
}

// TestLongChainOfRows schedules what centres rows again and again. Whether two
// kernels may be one is no question to all that come before.
func TestLongChainOfRows(t *testing.T) {
	const rounds = 1500
	b := ir.NewBuilder(nil)
	add := func(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
		n, err := b.Add(op, a, in...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(4, 8)}})
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		sum := add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, x)
		x = add(ir.Sub, ir.Attr{}, x, add(ir.Expand, ir.Attr{Shape: x.Shape}, sum))
	}
	g := b.Finish(x)
	var p *Plan
	timetest.BusyWithin(t, 2*time.Second, "scheduling", func() { p, err = Build(g, Options{}) })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestManyAssignments schedules a kernel that writes as many variables in place as
// one may.
func TestManyAssignments(t *testing.T) {
	b := ir.NewBuilder(nil)
	typ := ir.Type{DType: ir.F32, Shape: ir.Static(8, 8)}
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: typ})
	var outs []*ir.Node
	for i := range 240 {
		var v, y *ir.Node
		if err == nil {
			v, err = b.AddLeaf(ir.Leaf{Kind: ir.Variable, Name: fmt.Sprint("v", i), Storage: new(int), Type: typ})
		}
		if err == nil {
			y, err = b.Add(ir.Add, ir.Attr{}, v, x)
		}
		if err == nil {
			y, err = b.Add(ir.Assign, ir.Attr{Leaf: v.Attr.Leaf}, v, y)
		}
		outs = append(outs, y)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := b.Finish(outs...)
	var p *Plan
	timetest.BusyWithin(t, 500*time.Millisecond, "scheduling", func() { p, err = Build(g, Options{}) })
	if err != nil {
		t.Fatal(err)
	}
	for i, leaf := range p.InPlace {
		if leaf < 0 {
			t.Errorf("variable %d is not written in place", i)
		}
	}
}

// Expressions are cut where a kernel would do too many operations, or where they
// would be too long written out.
func TestLargeExpressions(t *testing.T) {
	for _, c := range []struct {
		name    string
		length  int
		next    func(b *ir.Builder, x, argument *ir.Node) (*ir.Node, error)
		buffers int // x, the result and what is kept between
	}{
		{"a chain", 240, func(b *ir.Builder, x, _ *ir.Node) (*ir.Node, error) { return b.Add(ir.Neg, ir.Attr{}, x) }, 2},
		{"a longer chain", 300, func(b *ir.Builder, x, _ *ir.Node) (*ir.Node, error) { return b.Add(ir.Neg, ir.Attr{}, x) }, 3},
		{"an argument that comes again and again", 40, func(b *ir.Builder, x, a *ir.Node) (*ir.Node, error) { return b.Add(ir.FMA, ir.Attr{}, x, a, a) }, 2},
		{"a power", 7, func(b *ir.Builder, x, _ *ir.Node) (*ir.Node, error) { return b.Add(ir.Mul, ir.Attr{}, x, x) }, 2},
		{"a power of a power", 9, func(b *ir.Builder, x, _ *ir.Node) (*ir.Node, error) { return b.Add(ir.Mul, ir.Attr{}, x, x) }, 3},
	} {
		b := ir.NewBuilder(nil)
		x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(4)}})
		for range 10 {
			if err == nil {
				x, err = b.Add(ir.Exp, ir.Attr{}, x)
			}
		}
		argument := x
		for range c.length {
			if err == nil {
				x, err = c.next(b, x, argument)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(b.Finish(x), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Buffers) != c.buffers {
			t.Errorf("%s: %d buffers, want %d", c.name, len(p.Buffers), c.buffers)
		}
	}
}
