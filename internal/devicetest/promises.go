package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// promise is something that package device says of every device.
type promise struct {
	name  string
	check func(s *subject) error
}

var promises = []promise{
	{"many goroutines run one module", (*subject).concurrency},
	{"the number of threads changes no bit", (*subject).threads},
	{"a hundred runs give the same bits", (*subject).hundredRuns},
	{"variables may be written where they lie", (*subject).inPlace},
	{"a run can be cancelled", with(cancelled)},
	{"a run can be cancelled while it runs", (*subject).cancelledMidway},
	{"what is closed is not used", with(closed)},
	{"a closed device does nothing", with(closedDevice)},
	{"a module closed while it runs finishes", (*subject).closedMidway},
	{"buffers that do not fit are refused", with(misfits)},
	{"sizes outside their bounds are refused", with(outOfBounds)},
	{"a device runs its own modules alone", (*subject).foreign},
	{"a retained buffer stays", with(retained)},
	{"copies", with(copies)},
	{"memory is given back", with(givenBack)},
	{Kept, (*subject).keptFollows},
	{"leaves lie at any address", (*subject).addresses},
	{"compiling leaves the graph as it was", (*subject).unchangedGraph},
}

// Kept is the promise that Promise can test a device for.
const Kept = "what is kept of a weight is that of its values"

// Promise tests a device for one promise, where all that Run does takes too long.
func Promise(t *testing.T, open Open, name string) {
	s, err := newSubject(open, Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(promises, func(p promise) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("there is no promise %q", name)
	}
	if err := promises[i].check(s); err != nil {
		t.Error(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// fixture is a device of its own with a small program, compiled and bound.
type fixture struct {
	suite.Runner
	c *prepared
	r *suite.Sample
	m device.Module
	b *device.Bound
}

// prepared is a case whose results are known.
type prepared struct {
	*suite.Case
	graph *ir.Graph
	runs  []*suite.Sample
}

func prepare(c *suite.Case) (*prepared, error) {
	graph, runs, err := c.Prepare()
	return &prepared{c, graph, runs}, err
}

// caseNamed finds a case of the suite and prepares it.
func caseNamed(name string) (*prepared, error) {
	all := suite.Cases()
	i := slices.IndexFunc(all, func(c *suite.Case) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no case %q", name)
	}
	return prepare(all[i])
}

// with runs a check on a fixture of its own.
func with(check func(f *fixture) error) func(s *subject) error {
	return func(s *subject) error {
		d, err := s.another(2)
		if err != nil {
			return err
		}
		f := &fixture{Runner: d}
		if f.c, err = caseNamed("softmax"); err != nil {
			return err
		}
		f.r = f.c.runs[0]
		if f.m, err = d.CompileGraph(context.Background(), f.c.graph, s.compile); err != nil {
			return err
		}
		if f.b, err = bind(d, f.m, f.c.graph, f.r); err != nil {
			return err
		}
		err = check(f)
		for _, buf := range append(f.b.Leaves, f.b.Outputs...) {
			_ = buf.Close() // the check may have closed it
		}
		_, _ = f.m.Close(), d.Close()
		return err
	}
}

// bind puts leaves and outputs into memory of the device.
func bind(d device.Device, m device.Module, g *ir.Graph, r *suite.Sample) (*device.Bound, error) {
	b := &device.Bound{Module: m, Env: r.Env}
	for _, leaf := range r.Leaves {
		buf, err := d.Alloc(len(leaf))
		if err == nil {
			err = d.Copy(context.Background(), buf, compile.HostBytes(leaf))
		}
		if err != nil {
			return nil, err
		}
		b.Leaves = append(b.Leaves, buf)
	}
	for i, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(r.Env)
		if err != nil {
			return nil, err
		}
		buf, err := d.Alloc(n * o.DType.Size())
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		b.Outputs = append(b.Outputs, buf)
	}
	return b, nil
}

// run submits what is bound and compares the results.
func (f *fixture) run() error {
	if err := suite.Submit(context.Background(), f, f.b); err != nil {
		return err
	}
	outs, err := f.outputs()
	if err != nil {
		return err
	}
	return f.c.Compare(outs, f.r)
}

func (f *fixture) outputs() ([][]byte, error) {
	return suite.Contents(context.Background(), f, f.b.Outputs)
}

// parallel is the cases that many goroutines run at once: a kernel of each
// kind.
var parallel = []string{"softmax", "linear layer wide", "attention ragged causal f32", "sort f32", "reduce long f32",
	"gather rows of a table", "chain f32", "scan sum f32", "matmul batched f32", "conv f32"}

func (s *subject) concurrency() error {
	ctx := context.Background()
	for _, name := range s.names(parallel) {
		c, err := caseNamed(name)
		if err != nil {
			return err
		}
		m, err := s.two.CompileGraph(ctx, c.graph, s.compile)
		if err != nil {
			return err
		}
		runs := s.samples(c)
		first := make([][][]byte, len(runs))
		for i, r := range runs {
			if first[i], err = suite.Execute(ctx, s.two, m, c.graph, r); err != nil {
				return err
			}
		}
		var wait sync.WaitGroup
		errs := make([]error, 12)
		if s.slow && effort.Less() {
			errs = errs[:4]
		}
		for g := range errs {
			wait.Go(func() {
				for i := range len(runs) {
					at := (i + g) % len(runs)
					got, err := suite.Execute(ctx, s.two, m, c.graph, runs[at])
					if err == nil {
						err = suite.SameBits(got, first[at])
					}
					if err != nil {
						errs[g] = fmt.Errorf("%s at %v: %w", name, runs[at].Env, err)
						return
					}
				}
			})
		}
		wait.Wait()
		if err := errors.Join(append(errs, m.Close())...); err != nil {
			return err
		}
	}
	return nil
}

// threads compares one thread with two where there is work for two.
func (s *subject) threads() error {
	ctx := context.Background()
	for _, name := range s.names(append(parallel, "softmax large", "chain gelu large", "attention long", "reduce long f64", "reduce long bf16")) {
		c, err := caseNamed(name)
		if err != nil {
			return err
		}
		one, err := s.one.CompileGraph(ctx, c.graph, s.compile)
		if err != nil {
			return err
		}
		two, err := s.two.CompileGraph(ctx, c.graph, s.compile)
		if err != nil {
			return err
		}
		for _, r := range s.samples(c) {
			x, err := suite.Execute(ctx, s.one, one, c.graph, r)
			if err != nil {
				return err
			}
			y, err := suite.Execute(ctx, s.two, two, c.graph, r)
			if err != nil {
				return err
			}
			if err := suite.SameBits(x, y); err != nil {
				return fmt.Errorf("%s at %v: %w", name, r.Env, err)
			}
		}
		if err := errors.Join(one.Close(), two.Close()); err != nil {
			return err
		}
	}
	return nil
}

// cancelled: a context that is done before the run or the compilation starts.
func cancelled(f *fixture) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.CompileGraph(ctx, f.c.graph, device.Options{}); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("compiling: %v", err)
	}
	if err := suite.Submit(ctx, f, f.b); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("running: %v", err)
	}
	return f.run()
}

// patience is far above what any of this takes: past it a run hangs.
const patience = 30 * time.Second

// midway is a program that takes a while: products one after another.
var midway = &suite.Case{Name: "midway", Build: func(b *suite.Builder) []*ir.Node {
	const n = 64
	x, w := b.Input(ir.F32, suite.Ordinary, ir.N(n), ir.N(n)), b.Leaf(ir.Weight, ir.F32, suite.Ordinary, ir.N(n), ir.N(n))
	for range 40 {
		x = b.Add(ir.Tanh, ir.Attr{}, b.Add(ir.MatMul, ir.Attr{}, x, w))
	}
	return []*ir.Node{x}
}}

func (s *subject) cancelledMidway() error {
	c, err := prepare(midway)
	if err != nil {
		return err
	}
	r := c.runs[0]
	m, err := s.two.CompileGraph(context.Background(), c.graph, s.compile)
	if err != nil {
		return err
	}
	b, err := bind(s.two, m, c.graph, r)
	if err != nil {
		return err
	}
	for _, after := range []time.Duration{0, 20 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- suite.Submit(ctx, s.two, b) }()
		time.Sleep(after)
		cancel()
		select {
		case err = <-ended:
		case <-time.After(patience):
			return fmt.Errorf("cancelled after %v, the run has not ended after %v", after, patience)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("cancelled after %v: %w", after, err)
		}
	}
	// The same buffers serve the next run.
	if err := suite.Submit(context.Background(), s.two, b); err != nil {
		return err
	}
	outs, err := (&fixture{Runner: s.two, b: b}).outputs()
	if err != nil {
		return err
	}
	fresh, err := suite.Execute(context.Background(), s.two, m, c.graph, r)
	if err != nil {
		return err
	}
	errs := []error{suite.SameBits(outs, fresh), m.Close()}
	for _, buf := range append(b.Leaves, b.Outputs...) {
		errs = append(errs, buf.Close())
	}
	return errors.Join(errs...)
}

func (s *subject) unchangedGraph() error {
	for _, name := range parallel {
		c, err := caseNamed(name)
		if err != nil {
			return err
		}
		before := c.graph.String()
		m, err := s.two.CompileGraph(context.Background(), c.graph, s.compile)
		if err != nil {
			return err
		}
		if err := m.Close(); err != nil {
			return err
		}
		if after := c.graph.String(); after != before {
			return fmt.Errorf("%s became\n%s", before, after)
		}
	}
	return nil
}
