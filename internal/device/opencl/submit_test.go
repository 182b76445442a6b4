package opencl

import (
	"context"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/internal/diskcache"
)

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) { launchtest.BenchmarkSubmit(b, openFake(b, &cltest.Fake{})) }

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
