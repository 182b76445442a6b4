package opencl_test

import (
	"os"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/opencl"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/effort"
)

func TestSabotage(t *testing.T) {
	launchtest.Sabotage{
		Size: new(*cl.SizeError), Build: new(*cl.BuildError), Complaint: "out of registers", Lost: []error{cl.OutOfResources},
		Driver: func(t *testing.T, how launchtest.Fault) launchtest.Fake {
			f := &cltest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: out of registers"
			}
			api := f.API()
			found, err := api.Devices()
			if err != nil {
				t.Fatal(err)
			}
			return launchtest.Fake{Open: func() (device.Device, error) { return opencl.New(api, found[0], nil) }, Started: f.Started, Live: f.Live}
		},
	}.Run(t)
}

// TestProgramsOfTheDriver has the driver here take up its own programs, in the
// place of compiling, and keep them itself where it does.
func TestProgramsOfTheDriver(t *testing.T) {
	api, err := cl.Load()
	var found []*cl.Device
	if err == nil {
		found, err = api.Devices()
	}
	if err != nil || len(found) == 0 {
		effort.Missing(t, "no OpenCL: ", err)
	}
	kept := &diskcache.Cache{Dir: t.TempDir(), Limit: 1 << 26}
	compiled := 0
	counting := *api
	counting.CreateProgramSource = func(c cl.ContextID, source **byte, length *int, code *cl.Code) cl.ProgramID {
		compiled++
		return api.CreateProgramSource(c, source, length, code)
	}
	run := func(wantKept, wantCompiled int) {
		t.Helper()
		d, err := opencl.New(&counting, found[0], kept)
		if err != nil {
			t.Fatal(err)
		}
		launchtest.SubmitChain(t, d, "")
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if files, err := os.ReadDir(kept.Dir); err != nil || len(files) != wantKept || compiled != wantCompiled {
			t.Errorf("%d programs compiled, want %d, and %d kept, want %d: %v", compiled, wantCompiled, len(files), wantKept, err)
		}
	}
	if found[0].Platform == "Portable Computing Language" {
		run(0, 1)
		run(0, 2) // which is short, as it finds its own
		compiled = 0
		t.Setenv("POCL_KERNEL_CACHE", "0") // is read by PoCL when it starts, and by us later
	}
	run(1, 1)
	run(1, 1)
}
