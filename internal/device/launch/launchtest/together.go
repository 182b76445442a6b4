package launchtest

import (
	"context"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch"
)

// BenchmarkTogether shows whether runs of two goroutines, and a run and a transfer,
// go on beside each other: a run of 50 kernels alone, two at once, and one with a transfer of
// 64 MB to the device beside it, whose own time it reports.
func BenchmarkTogether(b *testing.B, d *launch.Device) {
	b.Helper()
	ctx := context.Background()
	const size, transferred = 4 * 8 * 8, 64 << 20
	m, err := d.CompileGraph(ctx, Chain(b, 50), device.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	alloc := func(n int) device.Buffer {
		buf, err := d.Alloc(n)
		if err == nil {
			err = d.Copy(ctx, buf, compile.HostBytes(make([]byte, n)))
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = buf.Close() })
		return buf
	}
	run := func() func() {
		bound := &device.Bound{Module: m, Leaves: []device.Buffer{alloc(size)}, Outputs: []device.Buffer{alloc(size)}}
		return func() {
			e, err := d.Submit(ctx, bound)
			if err == nil {
				err = e.Wait(ctx)
			}
			if err != nil {
				b.Error(err)
			}
		}
	}
	large, data := alloc(transferred), make([]byte, transferred)
	write := func() {
		if err := d.Copy(ctx, large, compile.HostBytes(data)); err != nil {
			b.Error(err)
		}
	}
	first, second := run(), run()
	for _, c := range []struct {
		name string
		all  []func()
	}{{"run", []func(){first}}, {"transfer", []func(){write}}, {"two runs", []func(){first, second}}, {"run and transfer", []func(){first, write}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var wait sync.WaitGroup
				for _, f := range c.all {
					wait.Go(f)
				}
				wait.Wait()
			}
		})
	}
}
