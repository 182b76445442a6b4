package null_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/null"
	"github.com/sinterml/sinter/internal/ir"
)

// sums is the sum of the squares of each row: n rows of a million columns,
// more than a machine holds.
func sums(t *testing.T) *ir.Graph {
	t.Helper()
	b := ir.NewBuilder(nil)
	shape := ir.Shape{ir.Sym("n", 0, 1<<22), ir.N(1_000_000)}
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: shape}})
	if err != nil {
		t.Fatal(err)
	}
	square, err := b.Add(ir.Mul, ir.Attr{}, x, x)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := b.Add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, square)
	if err != nil {
		t.Fatal(err)
	}
	return b.Finish(sum)
}

func alloc(t *testing.T, d *null.Device, n int) device.Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCountsAndRunsNothing(t *testing.T) {
	ctx, d := context.Background(), null.New()
	m, err := d.CompileGraph(ctx, sums(t), device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1 << 20 // 4 TB of x
	x, y := alloc(t, d, 4*rows*1_000_000), alloc(t, d, 4*rows)
	run := &device.Bound{Module: m, Env: ir.Env{"n": rows}, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}}
	for range 3 {
		event, err := d.Submit(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		if err := event.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	kernels := m.Info().Kernels
	if got, want := d.Counts(), (null.Counts{Compiled: 1, Runs: 3, Kernels: 3 * kernels}); got != want || kernels != 1 {
		t.Errorf("%+v, want %+v, of one fused kernel", got, want)
	}
	all, err := d.CompileGraph(ctx, sums(t), device.Options{NoOpt: []string{"all"}})
	if err != nil || all.Info().Kernels <= kernels {
		t.Errorf("%v; without passes there are as few kernels", err)
	}
	if s := d.Stats(); s.Allocated != 4*rows*1_000_001 {
		t.Errorf("%+v", s)
	}
	if err := d.Copy(ctx, y, y); err == nil {
		t.Error("a value that was not computed was read")
	}
	if err := errors.Join(x.Close(), y.Close()); err != nil || d.Stats().Allocated != 0 {
		t.Errorf("%v, %+v", err, d.Stats())
	}
}

func TestRefuses(t *testing.T) {
	ctx, d := context.Background(), null.New()
	m, err := d.CompileGraph(ctx, sums(t), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row, out := alloc(t, d, 4_000_000), alloc(t, d, 4)
	one := ir.Env{"n": 1}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, b := range map[string]*device.Bound{
		"no module":    {Env: one, Leaves: []device.Buffer{row}, Outputs: []device.Buffer{out}},
		"no leaf":      {Module: m, Env: one, Outputs: []device.Buffer{out}},
		"nil leaf":     {Module: m, Env: one, Leaves: []device.Buffer{nil}, Outputs: []device.Buffer{out}},
		"no size":      {Module: m, Leaves: []device.Buffer{row}, Outputs: []device.Buffer{out}},
		"wrong size":   {Module: m, Env: ir.Env{"n": 2}, Leaves: []device.Buffer{row}, Outputs: []device.Buffer{out}},
		"wrong output": {Module: m, Env: one, Leaves: []device.Buffer{row}, Outputs: []device.Buffer{row}},
	} {
		if _, err := d.Submit(ctx, b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good := &device.Bound{Module: m, Env: one, Leaves: []device.Buffer{row}, Outputs: []device.Buffer{out}}
	if _, err := d.Submit(cancelled, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Submit(ctx, good); !errors.Is(err, device.ErrClosed) {
		t.Errorf("closed module: %v", err)
	}
	if d.Counts().Runs != 0 {
		t.Error("a refused run was counted")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = d.CompileGraph(ctx, sums(t), device.Options{})
	_, err2 := d.Alloc(1)
	_, err3 := d.Import(nil)
	for _, err := range []error{err, err2, err3, d.Close(), m.Close()} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("closed device: %v", err)
		}
	}
}
