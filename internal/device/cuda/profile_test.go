package cuda

import (
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
)

// A driver whose graphs can have events is asked when launches ran; else, and where
// its clock goes wrong, the host takes the time.
func TestTimed(t *testing.T) {
	const takes = time.Millisecond
	launchtest.Timed(t, openFake(t, &cutest.Fake{Kernel: takes}), false, takes)
	launchtest.Timed(t, openFake(t, &cutest.Fake{Kernel: takes, NoGraphEvents: true}), true, takes)
	launchtest.Timed(t, openFake(t, &cutest.Fake{}), true, 0) // its clock says a millisecond
}

// A GPU that is simulated has the same results when it is timed.
func TestTimedComputes(t *testing.T) {
	launchtest.Timed(t, openFake(t, &cutest.Fake{Compute: true, Kernel: 100 * time.Microsecond}), false, 100*time.Microsecond)
}

// A GPU that is lost in a run that is timed is an error as ever, and nothing of the
// driver is left.
func TestTimedIsLost(t *testing.T) {
	for after := 1; after <= 5; after++ {
		f := &cutest.Fake{Kernel: 100 * time.Microsecond}
		d := openFake(t, f)
		launchtest.Timed(t, d, false, f.Kernel)
		f.LoseAfter = f.Started() + after
		launchtest.TimedFails(t, d, "CUDA_ERROR_LAUNCH_FAILED")
	}
}
