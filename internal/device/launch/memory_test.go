package launch_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/toy"
	"github.com/sinterml/sinter/internal/ir"
)

func open(t *testing.T, b launch.Backend, o launch.Options) *launch.Device {
	t.Helper()
	d, err := launch.New(b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func alloc(t *testing.T, d *launch.Device, n int) device.Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// program is one whose sessions hold a matrix of n by n between two products.
type program struct {
	*launch.Device
	*device.Bound
}

func products(t *testing.T, d *launch.Device, n int) *program {
	t.Helper()
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(n, n)}})
	for range 2 {
		if err == nil {
			x, err = b.Add(ir.MatMul, ir.Attr{}, x, x)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.CompileGraph(context.Background(), b.Finish(x), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &program{d, &device.Bound{Module: m, Leaves: []device.Buffer{alloc(t, d, 4*n*n)}, Outputs: []device.Buffer{alloc(t, d, 4*n*n)}}}
}

func (p *program) run() error {
	e, err := p.Submit(context.Background(), p.Bound)
	if err == nil {
		err = e.Wait(context.Background())
	}
	return err
}

func (p *program) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(p.Module.Close(), p.Leaves[0].Close(), p.Outputs[0].Close()); err != nil {
		t.Error(err)
	}
}

const size = 4 * 64 * 64 // of a matrix

func TestFigures(t *testing.T) {
	d := open(t, toy.Backend(0), toy.Options())
	p := products(t, d, 64)
	if s := d.Stats(); s != (device.MemStats{Allocated: 2 * size, Peak: 2 * size}) {
		t.Errorf("before a run: %+v", s)
	}
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s != (device.MemStats{Allocated: 2 * size, Cached: size, Peak: 3 * size}) {
		t.Errorf("after a run: %+v", s)
	}
	if err := d.TrimMemory(); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s != (device.MemStats{Allocated: 2 * size, Peak: 3 * size}) {
		t.Errorf("trimmed: %+v", s)
	}
	if err := p.run(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	p.close(t)
	if s := d.Stats(); s != (device.MemStats{Peak: 3 * size}) {
		t.Errorf("closed: %+v", s)
	}
}

func TestLimit(t *testing.T) {
	d := open(t, toy.Backend(0), toy.Options())
	p := products(t, d, 64)
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
	d.SetMemoryLimit(3 * size)
	// What is held for later runs makes way.
	b := alloc(t, d, size)
	if s := d.Stats(); s.Cached != 0 || s.Allocated != 3*size {
		t.Errorf("%+v", s)
	}
	var full *device.OutOfMemoryError
	if _, err := d.Alloc(1); !errors.As(err, &full) || full.Size != 1 || full.Limit != 3*size || full.Allocated != 3*size || full.Err != nil ||
		!strings.Contains(err.Error(), "no room for 1 bytes on toy, where 48.0 KiB are in use of a limit of 48.0 KiB: use smaller batches") {
		t.Errorf("%v", err)
	}
	if err := p.run(); !errors.As(err, &full) {
		t.Errorf("a run beyond the limit: %v", err)
	}
	if s := d.Stats(); s.Allocated != 3*size {
		t.Errorf("a run that failed keeps memory: %+v", s)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.run(); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	d.SetMemoryLimit(0)
	for range 3 {
		defer alloc(t, d, size).Close()
	}
	p.close(t)
}

// The driver, too, is asked again once what is held has been given back.
func TestDriverIsFull(t *testing.T) {
	d := open(t, toy.Backend(3*size+200), toy.Options())
	p := products(t, d, 64)
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
	b := alloc(t, d, size)
	var full *device.OutOfMemoryError
	if err := p.run(); !errors.As(err, &full) || full.Err == nil || full.Limit != 0 || !strings.Contains(err.Error(), "16.0 KiB on toy") || !strings.Contains(err.Error(), "toy: out of memory") {
		t.Errorf("%v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.run(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	p.close(t)
}

// What a driver refuses was never in use.
func TestPeakWithoutRefused(t *testing.T) {
	d := open(t, toy.Backend(4*size), toy.Options())
	b := alloc(t, d, size)
	var full *device.OutOfMemoryError
	if _, err := d.Alloc(8 * size); !errors.As(err, &full) || full.Peak != size {
		t.Errorf("%v, %+v", err, full)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s != (device.MemStats{Peak: size}) {
		t.Errorf("%+v", s)
	}
}

// Programs run and memory is trimmed at the same time.
func TestTrimWhileRunning(t *testing.T) {
	d := open(t, toy.Backend(0), toy.Options())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for range 50 {
			launchtest.SubmitChain(t, d, "")
		}
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		default:
			if err := d.TrimMemory(); err != nil {
				t.Error(err)
			}
		}
	}
	if s := d.Stats(); s.Allocated != 0 || s.Cached != 0 {
		t.Errorf("%+v", s)
	}
}
