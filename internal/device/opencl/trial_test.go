package opencl

import (
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/trial"
	"github.com/sinterml/sinter/internal/timetest"
)

// TestTrialTakes: what a device computes before its first use, compared with the
// processor, takes a second at most where the driver has the programs on disk.
func TestTrialTakes(t *testing.T) {
	c := openContext(t)
	api, err := cl.Load()
	if err != nil {
		t.Fatal(err)
	}
	compare := func() {
		d, err := New(api, c.Device, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := trial.Run(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	compare() // the driver compiles, the first time on a machine
	timetest.Within(t, time.Second, "the comparison of a device with the processor", compare)
}
