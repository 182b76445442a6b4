package launchtest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch"
)

// InOrder uses memory by one kind of call right after another, for all pairs:
// what one call does to memory has ended when it returns, though each kind has a
// stream of its own. A driver of tests notices what has not.
func InOrder(t *testing.T, d *launch.Device) {
	t.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, 5), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const size = 2 << 20 // more than is copied at once
	data := bytes.Repeat([]byte{1, 2, 3, 4}, size/4)
	var x, y, a, b device.Buffer
	for to, n := range map[*device.Buffer]int{&x: 256, &y: 256, &a: size, &b: size} {
		if *to, err = d.Alloc(n); err != nil {
			t.Fatal(err)
		}
	}
	small := make([]byte, 256)
	back := make([]byte, size)
	calls := []func() error{
		func() error {
			return errors.Join(d.Copy(ctx, x, compile.HostBytes(data[:256])), d.Copy(ctx, a, compile.HostBytes(data)))
		},
		func() error {
			return errors.Join(d.Copy(ctx, compile.HostBytes(small), y), d.Copy(ctx, compile.HostBytes(back), a))
		},
		func() error { return errors.Join(d.Copy(ctx, x, y), d.Copy(ctx, a, b)) },
		func() error { return errors.Join(d.Copy(ctx, y, x), d.Copy(ctx, b, a)) },
		func() error {
			e, err := d.Submit(ctx, &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}})
			if err == nil {
				err = e.Wait(ctx)
			}
			return err
		},
	}
	for i, first := range calls {
		for j, second := range calls {
			if err := errors.Join(first(), second()); err != nil {
				t.Errorf("calls %d and %d: %v", i, j, err)
			}
		}
	}
	for _, buf := range []device.Buffer{x, y, a, b} { // which nothing uses any more
		if err := buf.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
