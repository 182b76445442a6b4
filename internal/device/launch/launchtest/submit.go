package launchtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/timetest"
)

// Chain is a plan of about so many kernels.
func Chain(t testing.TB, products int) *ir.Graph {
	t.Helper()
	b := ir.NewBuilder(nil)
	must := func(n *ir.Node, err error) *ir.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(8, 8)}}))
	for range products {
		x = must(b.Add(ir.MatMul, ir.Attr{}, x, x))
	}
	return b.Finish(x)
}

// Closing closes a device of a driver that was made for the test at its end, and
// says what was not given back. One that was lost may say so.
func Closing(t testing.TB, d *launch.Device, lost error, live func() []string) *launch.Device {
	t.Helper()
	t.Cleanup(func() {
		if err := d.Close(); err != nil && (lost == nil || !errors.Is(err, lost)) {
			t.Error(err)
		}
		if left := live(); len(left) > 0 {
			t.Errorf("not given back: %v", left)
		}
	})
	return d
}

// fifty is a run of a program of 50 kernels, and how many it has; end gives back
// what it needs.
func fifty(t testing.TB, d *launch.Device) (run func(), kernels int, end func()) {
	t.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, 50), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &device.Bound{Module: m}
	for _, to := range []*[]device.Buffer{&b.Leaves, &b.Outputs} {
		buf, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		*to = append(*to, buf)
	}
	run = func() {
		e, err := d.Submit(ctx, b)
		if err == nil {
			err = e.Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return run, m.Info().Kernels, func() {
		if err := errors.Join(m.Close(), b.Leaves[0].Close(), b.Outputs[0].Close()); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkSubmit is what a run of a program of 50 kernels costs on the host:
// d's driver does nothing.
func BenchmarkSubmit(b *testing.B, d *launch.Device) {
	b.Helper()
	run, kernels, end := fifty(b, d)
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(kernels), "kernels")
	end()
}

// SubmitTakes holds such a run to 60 us.
func SubmitTakes(t *testing.T, d *launch.Device) {
	t.Helper()
	run, kernels, end := fifty(t, d)
	if kernels < 50 {
		t.Errorf("%d kernels are no fifty", kernels)
	}
	timetest.Best(t, 60*time.Microsecond, 20000, "a run of 50 kernels on a driver that does nothing", run)
	end()
}

// SubmitChain runs a program of five kernels. wants is a part of the error that
// is to come, if one is.
func SubmitChain(t *testing.T, d *launch.Device, wants string) {
	t.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, 5), device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Submit(ctx, &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}})
	if err == nil {
		err = e.Wait(ctx)
	}
	if wants == "" && err != nil || wants != "" && (err == nil || !strings.Contains(err.Error(), wants)) {
		t.Errorf("error %v, want %q", err, wants)
	}
	if err := errors.Join(x.Close(), y.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// Failing is a driver that goes wrong below sinter, in runs of five kernels.
type Failing struct {
	// Open opens a device; started is how many kernels, or lists of them, the
	// driver has started.
	Open    func(t *testing.T, f Fault) (d *launch.Device, started func() int)
	Started int // by a run
	// Parts says that small memory is a part of what the driver gave.
	Parts           bool
	Lost, Complaint string // are in what the driver says
}

// Run tests that what fails is an error that says what to do, and nothing leaks.
func (x Failing) Run(t *testing.T) {
	t.Run("works", func(t *testing.T) {
		d, started := x.Open(t, Fault{})
		before := started()
		SubmitChain(t, d, "")
		if n := started() - before; n != x.Started {
			t.Errorf("a run of five kernels is %d for the driver, not %d", n, x.Started)
		}
	})
	t.Run("lost", func(t *testing.T) {
		d, _ := x.Open(t, Fault{LoseAfter: 1})
		SubmitChain(t, d, x.Lost)
	})
	t.Run("no memory for temps", func(t *testing.T) {
		armed := false
		d, _ := x.Open(t, Fault{Refuse: func(n int) bool { return armed && n > 256 }})
		armed = true
		wants := "use smaller batches"
		if x.Parts {
			wants = ""
		}
		SubmitChain(t, d, wants)
	})
	t.Run("compiler", func(t *testing.T) {
		d, _ := x.Open(t, Fault{Build: true})
		_, err := d.CompileGraph(context.Background(), Chain(t, 1), device.Options{})
		if err == nil || !strings.Contains(err.Error(), x.Complaint) || !strings.Contains(err.Error(), "Fake GPU") {
			t.Errorf("%v", err)
		}
	})
}
