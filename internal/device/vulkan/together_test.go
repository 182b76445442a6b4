package vulkan

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// What queues do to memory is in order, however many there are.
func TestInOrder(t *testing.T) {
	for _, queues := range []uint32{1, 2, 8} {
		launchtest.InOrder(t, openFake(t, &vktest.Fake{Queues: queues}))
	}
}

// BenchmarkTogether is on a driver that takes 0.1 ms for a kernel and for a
// megabyte.
func BenchmarkTogether(b *testing.B) {
	f := &vktest.Fake{Queues: 8, Kernel: 100 * time.Microsecond, Megabyte: 100 * time.Microsecond}
	launchtest.BenchmarkTogether(b, openFake(b, f))
}

// Two runs are under way at once, and beside them a transfer, as far as there are
// queues. On one queue nothing is.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		queues     uint32
		runs, with int // that are busy with two runs, and with a transfer too
	}{{1, 1, 1}, {2, 1, 2}, {3, 2, 3}, {8, 2, 3}} {
		f := &vktest.Fake{Queues: c.queues, Kernel: 5 * time.Millisecond, Megabyte: 20 * time.Millisecond}
		d := openFake(t, f)
		large, err := d.Alloc(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		defer large.Close()
		run := func() { launchtest.SubmitChain(t, d, "") }
		write := func() {
			if err := d.Copy(context.Background(), large, compile.HostBytes(make([]byte, 1<<20))); err != nil {
				t.Error(err)
			}
		}
		for name, together := range map[string]struct {
			all  []func()
			want int
		}{"two runs": {[]func(){run, run}, c.runs}, "two runs and a transfer": {[]func(){run, run, write}, c.with}} {
			busy := 0
			for range 20 { // the machine may start one late
				f.Rest()
				var wait sync.WaitGroup
				for _, call := range together.all {
					wait.Go(call)
				}
				wait.Wait()
				if busy = max(busy, f.MostBusy()); busy >= together.want {
					break
				}
			}
			if busy != together.want {
				t.Errorf("%s keep %d of %d queues busy at once, not %d", name, busy, c.queues, together.want)
			}
		}
	}
}
