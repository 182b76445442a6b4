package interp

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// graph builds small graphs in tests; any mistake ends the test.
type graph struct {
	t testing.TB
	b *ir.Builder
}

func newGraph(t testing.TB) *graph {
	t.Helper()
	return &graph{t: t, b: ir.NewBuilder(nil)}
}

func (g *graph) add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	g.t.Helper()
	n, err := g.b.Add(op, a, in...)
	if err != nil {
		g.t.Fatal(err)
	}
	return n
}

func (g *graph) get(n *ir.Node, out int) *ir.Node {
	g.t.Helper()
	return g.add(ir.Get, ir.Attr{Out: out}, n)
}

func (g *graph) input(t ir.DType, data []byte, shape ir.Shape) *ir.Node {
	g.t.Helper()
	n, err := g.b.AddLeaf(ir.Leaf{Kind: ir.Input, Type: ir.Type{DType: t, Shape: shape}, Storage: &data})
	if err != nil {
		g.t.Fatal(err)
	}
	return n
}

// raw is the memory of a slice.
func raw[T any](x []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(zero)))
}

// of is an input with values; without a shape it is a vector.
func of[T number](g *graph, values []T, shape ...int) *ir.Node {
	g.t.Helper()
	if shape == nil {
		shape = []int{len(values)}
	}
	return g.input(dtypeOf[T](), raw(values), ir.Static(shape...))
}

// bools is an input of bools.
func bools(g *graph, values ...bool) *ir.Node {
	g.t.Helper()
	data := make([]byte, len(values))
	for i, v := range values {
		if v {
			data[i] = 1
		}
	}
	return g.input(ir.Bool, data, ir.Static(len(values)))
}

// evaluate runs a graph. Finish numbers leaves by first visit, so each carries
// a pointer to its bytes.
func (g *graph) evaluate(env ir.Env, outputs ...*ir.Node) ([][]byte, [][]float64, error) {
	g.t.Helper()
	graph := g.b.Finish(outputs...)
	bound := make([][]byte, len(graph.Leaves))
	for i, l := range graph.Leaves {
		bound[i] = *l.Storage.(*[]byte)
	}
	return Evaluate(context.Background(), graph, env, bound)
}

func (g *graph) values(env ir.Env, outputs ...*ir.Node) [][]byte {
	g.t.Helper()
	outs, _, err := g.evaluate(env, outputs...)
	if err != nil {
		g.t.Fatal(err)
	}
	return outs
}

// check evaluates one output and compares it bit for bit, NaN as a class.
func check[T number](g *graph, n *ir.Node, want ...T) {
	g.t.Helper()
	if t := dtypeOf[T](); n.DType != t && !(n.DType == ir.Bool && t == ir.U8) && !(narrow(n.DType) && t == ir.U16) {
		g.t.Fatalf("%v compared as %v", n, t)
	}
	got := elements[T](g.values(nil, n)[0])
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = string(raw(got[i:i+1])) == string(raw(want[i:i+1])) || isNaN(got[i]) && isNaN(want[i])
	}
	if !same {
		g.t.Errorf("%v gives %v, want %v", n, got, want)
	}
}

// checkNear compares to within a relative 1e-6.
func checkNear(g *graph, n *ir.Node, want ...float32) {
	g.t.Helper()
	got := elements[float32](g.values(nil, n)[0])
	if len(got) != len(want) {
		g.t.Fatalf("%v gives %v, want %v", n, got, want)
	}
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-6*math.Abs(float64(want[i]))) {
			g.t.Errorf("%v gives %v, want %v", n, got, want)
		}
	}
}

func TestEveryOpHasARule(t *testing.T) {
	for _, op := range ir.Ops() {
		if r := rules[op]; r.eval == nil && r.alias == 0 {
			t.Errorf("%v has no rule", op)
		}
	}
	for op := range rules {
		if op.String() == "" {
			t.Errorf("rule for unknown operation %d", op)
		}
	}
}

// A whole run through the device's interface, with a variable assigned.
// doubling is a program over n values that returns 2v as the new value of v, and
// x, with buffers for n = 3.
func doubling(t *testing.T) (d *Device, bound *device.Bound, v []float32) {
	t.Helper()
	must := func(n *ir.Node, err error) *ir.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b := ir.NewBuilder(nil)
	x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Shape{ir.Sym("n", 0, 100)}}}))
	variable := must(b.AddLeaf(ir.Leaf{Kind: ir.Variable, Name: "v", Type: ir.Type{DType: ir.F32, Shape: ir.Static(3)}}))
	sum := must(b.Add(ir.Add, ir.Attr{}, variable, variable))
	g := b.Finish(must(b.Add(ir.Assign, ir.Attr{Leaf: 1}, variable, sum)), x)
	d = New()
	m, err := d.CompileGraph(context.Background(), g, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v = []float32{10, 20, 30}
	bound = &device.Bound{Module: m, Env: ir.Env{"n": 3}}
	for _, l := range g.Leaves {
		data := []float32{1, 2, 3}
		if l.Name == "v" {
			data = v
		}
		in, err := d.Import(raw(data))
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Alloc(12)
		if err != nil {
			t.Fatal(err)
		}
		bound.Leaves, bound.Outputs = append(bound.Leaves, in), append(bound.Outputs, out)
	}
	return d, bound, v
}

func TestSubmit(t *testing.T) {
	ctx := t.Context()
	d, bound, v := doubling(t)
	ev, err := d.Submit(ctx, bound)
	if err != nil {
		t.Fatal(err)
	}
	if err := ev.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if got := elements[float32](bound.Outputs[0].Bytes()); got[0] != 20 || got[1] != 40 || got[2] != 60 {
		t.Errorf("the new value is %v", got)
	}
	if v[0] != 10 {
		t.Error("a leaf was written")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if ev, err = d.Submit(gone, bound); err != nil {
		t.Fatal(err)
	}
	if err := ev.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run gives %v", err)
	}
	bound.Env = ir.Env{"n": 101}
	if _, err := d.Submit(ctx, bound); err == nil {
		t.Error("a size out of its bounds is accepted")
	}
	bound.Env = ir.Env{"n": 2}
	if _, err := d.Submit(ctx, bound); err == nil {
		t.Error("leaves of the wrong size are accepted")
	}
}

func TestClosed(t *testing.T) {
	d, bound, _ := doubling(t)
	if s := d.Stats(); s.Allocated != 24 || s.Peak != 24 {
		t.Errorf("stats %+v", s)
	}
	for _, b := range slices.Concat(bound.Leaves, bound.Outputs) {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Close(); !errors.Is(err, device.ErrClosed) {
			t.Errorf("second Close gives %v", err)
		}
	}
	if s := d.Stats(); s.Allocated != 0 {
		t.Errorf("stats %+v after closing all", s)
	}
	if err := bound.Module.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Submit(t.Context(), bound); !errors.Is(err, device.ErrClosed) {
		t.Errorf("a closed module gives %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Alloc(1); !errors.Is(err, device.ErrClosed) {
		t.Errorf("a closed device gives %v", err)
	}
}

// Weights may lie at any address.
func TestUnalignedLeaf(t *testing.T) {
	g := newGraph(t)
	data := make([]byte, 9)
	copy(data[1:], raw([]float64{2.5}))
	x := g.input(ir.F64, data[1:], ir.Static(1))
	check(g, g.add(ir.Neg, ir.Attr{}, x), -2.5)
}
