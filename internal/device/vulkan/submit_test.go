package vulkan

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
	"github.com/sinterml/sinter/internal/diskcache"
)

// openFake opens the device of a driver that is made for the test, and says at
// the end what was not given back.
func openFake(t testing.TB, f *vktest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, nil)
}

func openKept(t testing.TB, f *vktest.Fake, kept *diskcache.Cache) *launch.Device {
	t.Helper()
	i, err := f.API().NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := i.Physicals()
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(all[0], shapeOf(all[0]), kept, false)
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Closing(t, d, vk.DeviceLost, func() []string {
		i.Close()
		return f.Live()
	})
}

// opening is how many programs are compiled and run when a device is opened: to
// see how it rounds.
const opening = 3

// BenchmarkSubmit has a driver that does nothing, with as many queues as are used.
func BenchmarkSubmit(b *testing.B) {
	launchtest.BenchmarkSubmit(b, openFake(b, &vktest.Fake{Quick: true, Queues: 8}))
}

// TestSubmit: host time of a run is bounded.
func TestSubmit(t *testing.T) {
	launchtest.SubmitTakes(t, openFake(t, &vktest.Fake{Quick: true, Queues: 8}))
}

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		f := &vktest.Fake{Shared: true, Keeps: true, Driver: p.Driver, Foreign: p.Foreign}
		if p.Second {
			f.Device = 2
		}
		return launchtest.Opened{Device: openKept(t, f, p.Kept), Compiled: f.Compiled}
	})
}

// A driver that gives nothing has nothing kept.
func TestNothingToKeep(t *testing.T) {
	kept := &diskcache.Cache{Dir: t.TempDir(), Limit: 1 << 20}
	launchtest.SubmitChain(t, openKept(t, &vktest.Fake{Shared: true}, kept), "")
	if files, err := os.ReadDir(kept.Dir); err != nil || len(files) > 0 {
		t.Errorf("kept %v, %v", files, err)
	}
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	launchtest.Failing{
		Started: 1, Parts: true, Lost: "VK_ERROR_DEVICE_LOST", Complaint: "refuses a program, at k0_",
		Open: func(t *testing.T, how launchtest.Fault) (*launch.Device, func() int) {
			f := &vktest.Fake{Shared: true, Refuse: how.Refuse}
			if how.Build {
				f.BuildFails, f.BuildsBefore = vk.InvalidShader, opening
			}
			if how.LoseAfter > 0 {
				f.LoseAfter = opening + how.LoseAfter
			}
			return openFake(t, f), f.Submitted
		},
	}.Run(t)
}

// A device that is full cannot be opened.
func TestFull(t *testing.T) {
	i, err := (&vktest.Fake{Refuse: func(n int) bool { return true }}).API().NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := i.Physicals()
	if err != nil {
		t.Fatal(err)
	}
	var size *vk.SizeError
	if _, err := New(all[0], nil); !errors.As(err, &size) || !strings.Contains(err.Error(), "Fake GPU, which has 1073741824 in all") {
		t.Errorf("%v", err)
	}
}

// TestRecorded looks at what a plan is for the driver: its launches with a
// barrier around each, as the layer that checks for them does not follow
// addresses.
func TestRecorded(t *testing.T) {
	f := &vktest.Fake{Shared: true}
	d := openFake(t, f)
	m, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 3), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bound [2]device.Buffer
	for i := range bound {
		if bound[i], err = d.Alloc(256); err != nil {
			t.Fatal(err)
		}
	}
	e, err := d.Submit(t.Context(), &device.Bound{Module: m, Leaves: bound[:1], Outputs: bound[1:]})
	if err == nil {
		err = e.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"barrier"}
	for range 3 {
		want = append(want, "pipeline", "push", "dispatch", "barrier")
	}
	if got := f.Recorded(); !slices.Equal(got, want) {
		t.Errorf("recorded %v, not %v", got, want)
	}
	for _, c := range []interface{ Close() error }{m, bound[0], bound[1]} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
