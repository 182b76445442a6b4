package opencl

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/ir"
)

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) {
	launchtest.BenchmarkSubmit(b, openFake(b, &cltest.Fake{Quick: true}))
}

// TestSubmit: host time of a run is bounded.
func TestSubmit(t *testing.T) { launchtest.SubmitTakes(t, openFake(t, &cltest.Fake{Quick: true})) }

// openFake opens the device of a driver that is made for the test, and says at the
// end what was not given back.
func openFake(t testing.TB, f *cltest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, nil)
}

func openKept(t testing.TB, f *cltest.Fake, kept *diskcache.Cache) *launch.Device {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, all[0], kept)
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Closing(t, d, cl.OutOfResources, f.Live)
}

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		f := &cltest.Fake{Driver: p.Driver, Foreign: p.Foreign}
		if p.Second {
			f.Name = "Fake GPU 2"
		}
		return launchtest.Opened{Device: openKept(t, f, p.Kept), Compiled: f.Compiled}
	})
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	launchtest.Failing{
		Started: 5, Lost: "CL_", Complaint: "I do not like it",
		Open: func(t *testing.T, how launchtest.Fault) (*launch.Device, func() int) {
			f := &cltest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: I do not like it"
			}
			return openFake(t, f), f.Started
		},
	}.Run(t)
}

// A device shows how it compiles without asking its driver: equal kernels have
// one code.
func TestLook(t *testing.T) {
	d := openFake(t, &cltest.Fake{BuildLog: "error: nobody asked"})
	c, err := d.Look(context.Background(), launchtest.Chain(t, 5), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Steps) < 2 || len(c.Plan.Kernels) != 5 || len(c.CodeOf) != 5 || len(c.Codes) != 1 {
		t.Fatalf("%d steps, %d kernels, codes %v of %d", len(c.Steps), len(c.Plan.Kernels), c.CodeOf, len(c.Codes))
	}
	if part := c.Codes[0].Parts[0]; !strings.Contains(part.Text, "__kernel void "+part.Name) || part.Bytes != len(part.Text) {
		t.Errorf("the code is %q, of %d bytes:\n%s", part.Name, part.Bytes, part.Text)
	}
}

// What streams do to memory is in order.
func TestInOrder(t *testing.T) { launchtest.InOrder(t, openFake(t, &cltest.Fake{})) }

// BenchmarkTogether is on a driver that takes 0.1 ms for a kernel and for a
// megabyte.
func BenchmarkTogether(b *testing.B) {
	f := &cltest.Fake{Kernel: 100 * time.Microsecond, Megabyte: 100 * time.Microsecond}
	launchtest.BenchmarkTogether(b, openFake(b, f))
}

// Two runs are under way at once, and a run and a transfer.
func TestTogether(t *testing.T) {
	f := &cltest.Fake{Kernel: 5 * time.Millisecond, Megabyte: 20 * time.Millisecond}
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
	for name, other := range map[string]func(){"runs": run, "a run and a transfer": write} {
		busy := 0
		for range 20 { // the machine may start one late
			var wait sync.WaitGroup
			wait.Go(run)
			wait.Go(other)
			wait.Wait()
			if busy = f.MostBusy(); busy > 1 {
				break
			}
		}
		if busy < 2 {
			t.Errorf("%s wait for each other", name)
		}
		f.Rest()
	}
}

// A driver that finds no memory for a kernel behind one that has written a variable
// over its old value has left variables that are of no moment: the error says so.
// Where it was the first kernel they are as they were.
func TestNoMemoryForKernels(t *testing.T) {
	g, err := ir.Parse(`graph
leaf 0 variable "v" f32[300]
leaf 1 variable "w" f32[500]
%0 = variable : f32[300]
%1 = variable leaf=1 : f32[500]
%2 = mul %0 %0 : f32[300]
%3 = mul %1 %1 : f32[500]
%4 = assign %0 %2 : f32[300]
%5 = assign %1 %3 leaf=1 : f32[500]
return %4 %5`)
	if err != nil {
		t.Fatal(err)
	}
	for after, lost := range []bool{false, true} {
		f := &cltest.Fake{}
		api := f.API()
		enqueue, started := api.EnqueueNDRangeKernel, 0
		api.EnqueueNDRangeKernel = func(q cl.QueueID, k cl.KernelID, dims uint32, offset, global, local *[3]int, waits uint32, list, event *cl.EventID) cl.Code {
			if started++; started > after {
				return cl.MemObjectAllocFailure
			}
			return enqueue(q, k, dims, offset, global, local, waits, list, event)
		}
		all, err := api.Devices()
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(api, all[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		d = launchtest.Closing(t, d, cl.OutOfResources, f.Live)
		m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		b := &device.Bound{Module: m}
		for _, n := range []int{300, 500} {
			v, err := d.Alloc(4 * n)
			if err != nil {
				t.Fatal(err)
			}
			b.Leaves, b.Outputs = append(b.Leaves, v), append(b.Outputs, v)
		}
		e, err := d.Submit(context.Background(), b)
		if err == nil {
			err = e.Wait(context.Background())
		}
		_, full := errors.AsType[*device.OutOfMemoryError](err)
		if err == nil || !m.Info().InPlace[0] || !m.Info().InPlace[1] || started != after+1 {
			t.Fatalf("%d kernels, in place %v: %v", started, m.Info().InPlace, err)
		}
		if said := strings.Contains(err.Error(), "whose values are lost"); said != lost || full == lost {
			t.Errorf("after %d kernels: %v (of memory: %v)", after, err, full)
		}
		for _, v := range b.Leaves {
			v.Close()
		}
		m.Close()
	}
}

// A driver that cannot wait for a marker has not ended what comes before it: nothing
// that this uses is freed or used again meanwhile.
func TestWaitIsRefused(t *testing.T) {
	f := &cltest.Fake{}
	api := f.API()
	api.WaitForEvents = func(uint32, *cl.EventID) cl.Code { return cl.OutOfHostMemory }
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, all[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	d = launchtest.Closing(t, d, cl.OutOfResources, f.Live)
	m, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 5), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := &device.Bound{Module: m}
	for _, list := range []*[]device.Buffer{&b.Leaves, &b.Outputs} {
		v, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		*list = append(*list, v)
	}
	e, err := d.Submit(context.Background(), b)
	if err == nil {
		err = e.Wait(context.Background())
	}
	if !errors.Is(err, cl.OutOfHostMemory) {
		t.Error(err)
	}
}
