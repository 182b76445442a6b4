package cuda

import (
	"os"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/diskcache"
)

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) { launchtest.BenchmarkSubmit(b, openFake(b, &cutest.Fake{})) }

// TestSubmit: host time of a run is bounded.
func TestSubmit(t *testing.T) { launchtest.SubmitTakes(t, openFake(t, &cutest.Fake{})) }

// openFake opens the GPU of a driver that is made for the test. At the end
// nothing may be left of it, and no call may have been wrong.
func openFake(t testing.TB, f *cutest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, 0, nil)
}

// openKept opens the device of a number.
func openKept(t testing.TB, f *cutest.Fake, number int, kept *diskcache.Cache) *launch.Device {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, all[number], kept)
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Closing(t, d, nil, func() []string { return slices.Concat(f.Live(), f.Faults()) })
}

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		number := 0
		if p.Second {
			number = 1
		}
		f := &cutest.Fake{Devices: 2, Driver: p.Driver, Foreign: p.Foreign}
		return launchtest.Opened{Device: openKept(t, f, number, p.Kept), Compiled: f.Compiled}
	})
}

// A driver that makes no code compiles while it loads, and nothing is kept.
func TestNoLinker(t *testing.T) {
	kept := &diskcache.Cache{Dir: t.TempDir(), Limit: 1 << 20}
	f := &cutest.Fake{NoLinker: true}
	launchtest.SubmitChain(t, openKept(t, f, 0, kept), "")
	if files, err := os.ReadDir(kept.Dir); err != nil || len(files) > 0 || f.Compiled() != 1 {
		t.Errorf("%d programs compiled, kept %v, %v", f.Compiled(), files, err)
	}
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	launchtest.Failing{
		Started: 5, Lost: "the device failed: Fake GPU: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED", Complaint: "I do not like it",
		Open: func(t *testing.T, how launchtest.Fault) (*launch.Device, func() int) {
			f := &cutest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.Log = "error: I do not like it"
			}
			return openFake(t, f), f.Started
		},
	}.Run(t)
}

func TestWithoutPools(t *testing.T) {
	launchtest.SubmitChain(t, openFake(t, &cutest.Fake{NoPools: true}), "")
}

func TestMemoryLost(t *testing.T) {
	launchtest.SubmitChain(t, openFake(t, &cutest.Fake{LoseAfter: 5, LoseWith: cu.UncorrectableECC}), "cuStreamSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE")
}

// What streams do to memory is in order.
func TestInOrder(t *testing.T) { launchtest.InOrder(t, openFake(t, &cutest.Fake{Compute: true})) }
