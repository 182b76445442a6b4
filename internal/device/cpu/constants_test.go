package cpu

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
	"github.com/sinterml/sinter/internal/jit"
)

// scaledGraph multiplies rows by a weight whose columns are divided by their
// greatest values, and those by the sum over all columns.
const scaledGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 48]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 48]
%2 = reducemax %1 axes=[0] : f32[1 48]
%3 = expand %2 : f32[64 48]
%4 = div %1 %3 : f32[64 48]
%5 = matmul %0 %4 : f32[n 48]
%6 = sum %2 axes=[1] : f32[1 1]
%7 = expand %6 : f32[n 48]
%8 = mul %5 %7 : f32[n 48]
`

// constantTest is a program with weights, and a count of what runs once.
type constantTest struct {
	device  *Device
	graph   *ir.Graph
	module  *module
	weights []*buffer
	bound   atomic.Int64 // how often a constant kernel was bound
	before  func()       // called before that, if set
}

// countedKernel is a constant kernel under observation.
type countedKernel struct {
	kernel
	test *constantTest
}

func (k *countedKernel) bind(r *binding) (jit.Step, error) {
	k.test.bound.Add(1)
	if k.test.before != nil {
		k.test.before()
	}
	return k.kernel.bind(r)
}

func newConstantTest(t *testing.T, d *Device, text string, weights ...*buffer) *constantTest {
	t.Helper()
	c := &constantTest{device: d, weights: weights}
	var err error
	if c.graph, err = ir.Parse(text); err != nil {
		t.Fatal(err)
	}
	m, err := d.CompileGraph(context.Background(), c.graph, device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	c.module = m.(*module)
	for i, k := range c.module.plan.Kernels {
		if k.Constant {
			c.module.kernels[i] = &countedKernel{c.module.kernels[i], c}
		}
	}
	return c
}

// weight makes a buffer of random numbers.
func (d *Device) weight(t *testing.T, rng *rand.Rand, n int) *buffer {
	t.Helper()
	b, err := d.newBuffer(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	copy(b.data, randomElements(rng, ir.F32, n, false))
	return b
}

// run runs the program on n rows of x.
func (c *constantTest) run(ctx context.Context, x []byte, n int) ([][]byte, error) {
	b := &device.Bound{Module: c.module, Env: ir.Env{"n": n}}
	in, err := c.device.Import(x)
	if err != nil {
		return nil, err
	}
	weights := c.weights
	for _, l := range c.graph.Leaves {
		if l.Kind == ir.Input {
			b.Leaves = append(b.Leaves, in)
		} else {
			b.Leaves, weights = append(b.Leaves, weights[0]), weights[1:]
		}
	}
	var outs [][]byte
	for _, o := range c.graph.Outputs {
		size, err := o.Shape.Numel().Eval(b.Env)
		if err != nil {
			return nil, err
		}
		out, err := c.device.Import(make([]byte, size*o.DType.Size()))
		if err != nil {
			return nil, err
		}
		b.Outputs, outs = append(b.Outputs, out), append(outs, out.Bytes())
	}
	event, err := c.device.Submit(ctx, b)
	if err == nil {
		err = event.Wait(ctx)
	}
	return outs, err
}

// check runs the program and compares with the referee.
func (c *constantTest) check(t *testing.T, x []byte, n int) {
	t.Helper()
	got, err := c.run(context.Background(), x, n)
	if err != nil {
		t.Error(err)
		return
	}
	var leaves [][]byte
	weights := c.weights
	for _, l := range c.graph.Leaves {
		if l.Kind == ir.Input {
			leaves = append(leaves, x)
		} else {
			leaves, weights = append(leaves, weights[0].data), weights[1:]
		}
	}
	want, bounds, err := interp.Evaluate(context.Background(), c.graph, ir.Env{"n": n}, leaves)
	if err != nil {
		t.Error(err)
		return
	}
	for i, o := range c.graph.Outputs {
		if err := compare(o.DType, got[i], want[i], bounds[i]); err != nil {
			t.Errorf("%v, %d rows, output %d: %v", c.device.ISA(), n, i, err)
		}
	}
}

func (c *constantTest) wantBound(t *testing.T, n int64, after string) {
	t.Helper()
	if got := c.bound.Load(); got != n {
		t.Errorf("%v: after %s constant kernels were started %d times, want %d", c.device.ISA(), after, got, n)
	}
}

// What depends on weights alone runs once, for all sizes, all programs that
// compute it from these weights, and goes when they do.
func TestConstantKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range machines(t) {
		w, other := d.weight(t, rng, 64*48), d.weight(t, rng, 64*48)
		first := newConstantTest(t, d, scaledGraph+"return %8", w)
		if i := first.module.Info(); i.Kernels != 1 || i.Constant != 2 {
			t.Errorf("%d kernels each run and %d once, want 1 and 2", i.Kernels, i.Constant)
		}
		for n := range 10 {
			first.check(t, randomElements(rng, ir.F32, (n+1)*64, false), n+1)
		}
		first.wantBound(t, 2, "10 runs")

		// Another program, in which the leaves have other numbers and the same
		// is an output too. That is the caller's to change.
		second := newConstantTest(t, d, scaledGraph+"return %2 %8", w)
		for range 2 {
			x := randomElements(rng, ir.F32, 3*64, false)
			second.check(t, x, 3)
			out, err := second.run(context.Background(), x, 3)
			if err != nil {
				t.Fatal(err)
			}
			clear(out[0])
		}
		second.wantBound(t, 0, "runs of another program")

		third := newConstantTest(t, d, scaledGraph+"return %8", other)
		third.check(t, randomElements(rng, ir.F32, 2*64, false), 2)
		third.wantBound(t, 2, "a run with other weights")

		for _, b := range []*buffer{w, other} {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
		waitFreed(t, d)
	}
}

// waitFreed waits until nothing of d's memory is in use.
func waitFreed(t *testing.T, d *Device) {
	t.Helper()
	for range 100 {
		if d.Stats().Allocated == 0 {
			return
		}
		runtime.GC()
	}
	t.Errorf("%v: %d bytes were never freed", d.ISA(), d.Stats().Allocated)
}

// Results that only lead to other constants are not kept.
func TestConstantInterim(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const text = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "a" f32[64 128]
leaf 2 weight "b" f32[128 96]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 128]
%2 = weight leaf=2 : f32[128 96]
%3 = matmul %1 %2 : f32[64 96]
%4 = reducemax %3 axes=[1] : f32[64 1]
%5 = reshape %4 : f32[1 64]
%6 = expand %5 : f32[n 64]
%7 = mul %0 %6 : f32[n 64]
return %7
`
	for _, d := range machines(t) {
		a, b := d.weight(t, rng, 64*128), d.weight(t, rng, 128*96)
		c := newConstantTest(t, d, text, a, b)
		for n := 1; n < 4; n++ {
			c.check(t, randomElements(rng, ir.F32, n*64, false), n)
		}
		c.wantBound(t, 2, "3 runs")
		count := 0
		a.All(func(k *keep.Kept) {
			if c, ok := k.Value.(*keep.Results[*buffer]); ok {
				made, _ := c.Known()
				for _, r := range made {
					count += r.Size()
				}
			}
		})
		if count != 4*64 {
			t.Errorf("%v: %d bytes are kept, want 256", d.ISA(), count)
		}
		for _, w := range c.weights {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		waitFreed(t, d)
	}
}

// First runs at the same time compute once.
func TestConstantsFirstRunOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range machines(t) {
		w := d.weight(t, rng, 64*48)
		tests := []*constantTest{newConstantTest(t, d, scaledGraph+"return %8", w), newConstantTest(t, d, scaledGraph+"return %5 %7", w)}
		x := randomElements(rng, ir.F32, 5*64, false)
		var wait sync.WaitGroup
		for i := range 100 {
			wait.Go(func() {
				n := 1 + i%5
				tests[i%2].check(t, x[:n*64*4], n)
			})
		}
		wait.Wait()
		if n := tests[0].bound.Load() + tests[1].bound.Load(); n != 2 {
			t.Errorf("%v: constant kernels were started %d times, want 2", d.ISA(), n)
		}
	}
}

// A first run that is cancelled leaves the work to the next, also to those that
// are waiting for it.
func TestConstantsCancelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, d := range machines(t) {
		c := newConstantTest(t, d, scaledGraph+"return %8", d.weight(t, rng, 64*48))
		x := randomElements(rng, ir.F32, 64, false)
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		c.before = func() {
			if ctx.Err() == nil {
				wait.Go(func() { c.check(t, x, 1) })
				cancel()
			}
		}
		if _, err := c.run(ctx, x, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: a cancelled run ends with %v", d.ISA(), err)
		}
		wait.Wait()
		c.check(t, x, 1)
		c.wantBound(t, 3, "a cancelled run and two more")
	}
}

// Errors that weights cause are those of each run.
func TestConstantErrors(t *testing.T) {
	const text = `graph
symbol n 1 64
leaf 0 input "x" i32[n 4]
leaf 1 weight "w" i32[4 4]
%0 = input : i32[n 4]
%1 = weight leaf=1 : i32[4 4]
%2 = idiv %1 %1 : i32[4 4]
%3 = sum %2 axes=[0] : i32[1 4]
%4 = expand %3 : i32[n 4]
%5 = add %0 %4 : i32[n 4]
return %5
`
	for _, d := range machines(t) {
		zeros, ones := makeBuffer(make([]byte, 64), nil), makeBuffer(bytes.Repeat([]byte{1}, 64), nil)
		c := newConstantTest(t, d, text, zeros)
		for range 2 {
			var division *device.DivisionError
			if _, err := c.run(context.Background(), make([]byte, 32), 2); !errors.As(err, &division) {
				t.Errorf("%v: division by a weight of 0 ends with %v", d.ISA(), err)
			}
		}
		c.weights[0] = ones
		c.check(t, make([]byte, 32), 2)
		c.wantBound(t, 3, "two failures and a run")
	}
}

// TestConstantsOnRandomGraphs compares with the referee, and second and later
// runs, which compute nothing of weights alone, with first ones.
func TestConstantsOnRandomGraphs(t *testing.T) {
	devices := machines(t)
	// Few operations, so that graphs hang together.
	ops := []ir.Op{ir.ReduceSum, ir.ReduceMax, ir.ArgMax, ir.Sort, ir.Scan, ir.MatMul, ir.Exp, ir.Mul, ir.Add, ir.IDiv, ir.Permute, ir.Concat, ir.Gather}
	constants := 0
	for seed := range effort.Of(600, 600, 3000, 200_000) {
		d := devices[seed%len(devices)]
		c := irtest.Config{Smooth: true, Symbolic: seed%2 == 0, MaxElements: 600, MaxNodes: 40, Ops: ops}
		g, leaves, env := irtest.Random(rand.New(rand.NewPCG(uint64(seed), 29)), c)
		for _, n := range g.Nodes { // far more weights than are drawn
			_, static := n.Shape.Ints()
			if (n.Op == ir.Input || n.Op == ir.Bound) && static && (seed+n.Attr.Leaf)%4 > 0 {
				n.Op = ir.Weight
				g.Leaves[n.Attr.Leaf].Kind = ir.Weight
			}
		}
		m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, g)
		}
		constants += m.Info().Constant
		b := &device.Bound{Module: m, Env: env}
		for _, l := range leaves {
			b.Leaves = append(b.Leaves, makeBuffer(l, nil))
		}
		want, bounds, refused := interp.Evaluate(context.Background(), g, env, leaves)
		var first [][]byte
		for run := range 3 {
			got, err := runBound(d, b, g)
			if (err != nil) != (refused != nil) {
				t.Fatalf("seed %d, %v: run %d ends with %v, the referee with %v\n%v", seed, d.ISA(), run, err, refused, g)
			}
			for i := range got {
				if run == 0 {
					err = compare(g.Outputs[i].DType, got[i], want[i], bounds[i])
				} else {
					err = compare(g.Outputs[i].DType, got[i], first[i], nil)
				}
				if err != nil {
					t.Fatalf("seed %d, %v: output %d of run %d: %v\n%v\n%v", seed, d.ISA(), i, run, err, m.(*module).plan, g)
				}
			}
			if run == 0 {
				first = got
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if constants == 0 {
		t.Error("no graph had a constant kernel")
	}
	t.Logf("%d constant kernels", constants)
}

// runBound runs a program with outputs of its own.
func runBound(d *Device, b *device.Bound, g *ir.Graph) (outs [][]byte, err error) {
	b.Outputs = nil
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(b.Env)
		if err != nil {
			return nil, err
		}
		outs = append(outs, make([]byte, n*o.DType.Size()))
		b.Outputs = append(b.Outputs, makeBuffer(outs[len(outs)-1], nil))
	}
	event, err := d.Submit(context.Background(), b)
	if err == nil {
		err = event.Wait(context.Background())
	}
	if err != nil {
		return nil, err
	}
	return outs, nil
}

const keptProductGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 64]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 64]
%2 = matmul %1 %1 : f32[64 64]
%3 = reshape %2 : f32[1 64 64]
%4 = expand %3 : f32[n 64 64]
%5 = reshape %0 : f32[n 1 64]
%6 = expand %5 : f32[n 64 64]
%7 = add %4 %6 : f32[n 64 64]
return %7
`

// What a run has of kept results stays until it ends, though the weight is written.
func TestKeptHeldByRun(t *testing.T) {
	d := must(New(Options{}))
	defer d.Close()
	ctx := context.Background()
	m := must(d.CompileGraph(ctx, must(ir.Parse(keptProductGraph)), device.Options{})).(*module)
	defer m.Close()
	w := must(d.Alloc(4 * 64 * 64))
	defer w.Close()
	b := &device.Bound{Module: m, Env: ir.Env{"n": 1}, Outputs: []device.Buffer{must(d.Alloc(4 * 64 * 64))}}
	for _, l := range m.plan.Graph.Leaves {
		if l.Kind == ir.Weight {
			b.Leaves = append(b.Leaves, w)
		} else {
			b.Leaves = append(b.Leaves, must(d.Alloc(4*64)))
		}
	}
	s := must(m.session(b.Env))
	defer s.close()
	if err := errors.Join(s.place(b), s.constants(ctx, b)); err != nil {
		t.Fatal(err)
	}
	kept := s.mem[m.recipes[0].Results[0]].buffer
	if err := d.Copy(ctx, w, compile.HostBytes(make([]byte, 4*64*64))); err != nil {
		t.Fatal(err)
	}
	if kept.refs.Load() == 0 {
		t.Error("what the run reads was freed")
	}
	s.rest()
	if n := kept.refs.Load(); n != 0 {
		t.Errorf("%d hold what nobody finds any more", n)
	}
}
