package cpu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// TestMemoryLimit has a program whose sessions hold a temp of a megabyte.
func TestMemoryLimit(t *testing.T) {
	const n, size = 512, 4 * 512 * 512
	d, err := New(Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
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
	defer m.Close()
	alloc := func() device.Buffer {
		buf, err := d.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		return buf
	}
	bound := &device.Bound{Module: m, Leaves: []device.Buffer{alloc()}, Outputs: []device.Buffer{alloc()}}
	run := func() error {
		e, err := d.Submit(context.Background(), bound)
		if err == nil {
			err = e.Wait(context.Background())
		}
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	before := d.Stats()
	if before.Cached < size {
		t.Fatalf("nothing is held for the next run: %+v", before)
	}
	if err := d.TrimMemory(); err != nil || d.Stats().Cached != 0 || d.Stats().Allocated != before.Allocated {
		t.Errorf("trimmed: %+v, %v", d.Stats(), err)
	}
	d.SetMemoryLimit(before.Allocated + size/2)
	var full *device.OutOfMemoryError
	if _, err := d.Alloc(size); !errors.As(err, &full) || full.Size < size || full.Limit != before.Allocated+size/2 || !strings.Contains(err.Error(), "raise the limit") {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := run(); !errors.As(err, &full) {
		t.Errorf("a run beyond the limit: %v", err)
	}
	d.SetMemoryLimit(before.Allocated + before.Cached + size)
	if err := run(); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	third := alloc() // in the place of what is held
	if err := errors.Join(third.Close(), d.Close(), bound.Leaves[0].Close(), bound.Outputs[0].Close()); err != nil {
		t.Error(err)
	}
	if s := d.Stats(); s.Allocated != 0 || s.Cached != 0 {
		t.Errorf("a closed device holds %+v", s)
	}
}
