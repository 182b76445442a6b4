package opencl

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
)

// A system's driver times kernels by its own clock.
func TestTimedBySystem(t *testing.T) {
	c := openContext(t)
	api, err := cl.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, c.Device, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	launchtest.Timed(t, d, false, time.Nanosecond)
}

// A driver that knows when its kernels ran is asked; with one that does not the host
// takes the time.
func TestTimed(t *testing.T) {
	const takes = time.Millisecond
	launchtest.Timed(t, openFake(t, &cltest.Fake{Kernel: takes}), false, takes)
	launchtest.Timed(t, openFake(t, &cltest.Fake{Kernel: takes, Clockless: true}), true, takes)
	launchtest.Timed(t, openFake(t, &cltest.Fake{}), true, 0) // its clock stands still
}

type unrecorded struct{ t *testing.T }

func (u unrecorded) Record(device.Module, []device.KernelRun) {
	u.t.Error("a run that failed is recorded")
}

// A device that is lost in a run that is timed is an error as ever, and nothing of
// the driver is left.
func TestTimedIsLost(t *testing.T) {
	for after := 1; after <= 5; after++ {
		f := &cltest.Fake{Kernel: 100 * time.Microsecond}
		d := openFake(t, f)
		launchtest.Timed(t, d, false, f.Kernel)
		f.LoseAfter = f.Started() + after
		m, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 5), device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		b := &device.Bound{Module: m, Record: unrecorded{t}}
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
		if !errors.Is(err, cl.OutOfResources) && !errors.Is(err, cl.Code(-14)) {
			t.Errorf("lost by kernel %d: %v", after, err)
		}
	}
}
