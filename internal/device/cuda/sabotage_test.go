package cuda_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
)

// driverOf opens the first GPU of a driver that is made for the test.
func driverOf(t *testing.T, f *cutest.Fake) launchtest.Fake {
	t.Helper()
	api := f.API()
	found, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Fake{
		Open:    func() (device.Device, error) { return cuda.New(api, found[0], nil) },
		Started: f.Started, Live: func() []string { return slices.Concat(f.Live(), f.Faults()) },
	}
}

func TestSabotage(t *testing.T) {
	launchtest.Sabotage{
		Size: new(*cu.SizeError), Build: new(*cu.BuildError), Complaint: "out of registers", Lost: []error{cu.LaunchFailed, cu.UncorrectableECC}, Reopens: true,
		Driver: func(t *testing.T, how launchtest.Fault) launchtest.Fake {
			f := &cutest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.Log = "ptxas fatal: out of registers"
			}
			if how.Lost != nil {
				f.LoseWith, f.Compute = how.Lost.(cu.Code), true
			}
			return driverOf(t, f)
		},
	}.Run(t)
}

// TestWrong refuses a GPU that computes something else than the processor: here
// nothing at all.
func TestWrong(t *testing.T) {
	f := driverOf(t, &cutest.Fake{})
	device.Register(device.Driver{
		Name: "fake-wrong", External: true,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: "Fake GPU"}}, nil },
		Open: func(int) (device.Device, error) { return f.Open() },
	})
	if _, err := sinter.Open("fake-wrong"); err == nil || !strings.Contains(err.Error(), "was compared with the processor and is not used") {
		t.Error(err)
	}
	if left := f.Live(); len(left) > 0 {
		t.Errorf("not given back: %v", left)
	}
}
