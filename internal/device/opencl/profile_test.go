package opencl

import (
	"testing"
	"time"

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

// A device that is lost in a run that is timed is an error as ever, and nothing of
// the driver is left.
func TestTimedIsLost(t *testing.T) {
	for after := 1; after <= 5; after++ {
		f := &cltest.Fake{Kernel: 100 * time.Microsecond}
		d := openFake(t, f)
		launchtest.Timed(t, d, false, f.Kernel)
		f.LoseAfter = f.Started() + after
		launchtest.TimedFails(t, d, "the device failed")
	}
}
