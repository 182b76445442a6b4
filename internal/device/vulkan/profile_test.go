package vulkan

import (
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// A queue that has a clock notes when launches ended; else, and where it stands
// still, the host takes the time.
func TestTimed(t *testing.T) {
	const takes = time.Millisecond
	launchtest.Timed(t, openFake(t, &vktest.Fake{Kernel: takes}), false, takes)
	launchtest.Timed(t, openFake(t, &vktest.Fake{Kernel: takes, Clockless: true}), true, takes)
	launchtest.Timed(t, openFake(t, &vktest.Fake{}), true, 0)
}

// A device that is lost in a run that is timed is an error as ever, and nothing of
// the driver is left.
func TestTimedIsLost(t *testing.T) {
	f := &vktest.Fake{Kernel: 100 * time.Microsecond}
	d := openFake(t, f)
	launchtest.Timed(t, d, false, f.Kernel)
	f.LoseAfter = f.Submitted() + 1
	launchtest.TimedFails(t, d, "VK_ERROR_DEVICE_LOST")
}

// A system's driver times kernels by its own clock.
func TestTimedBySystem(t *testing.T) {
	b := openBackend(t)
	d, err := open(b.device.Physical, b.shape, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	launchtest.Timed(t, d, false, time.Nanosecond)
}
