package opencl

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// TestConformance runs the suite in the shape for processors.
func TestConformance(t *testing.T) { conform(t, "cpu") }

// TestConformanceForGPUs runs it in the shape for GPUs, but for most of what that
// changes little about.
func TestConformanceForGPUs(t *testing.T) { conform(t, "gpu") }

func conform(t *testing.T, shape string) {
	if effort.Now() < effort.CI {
		t.Skip("the driver's compiler takes minutes for the suite: set SINTER_CI")
	}
	s := shapes[shape]
	devicetest.InProcesses(t, 2, func(part devicetest.Part) {
		c := openContext(t)
		with := func(int) (device.Device, error) {
			api, err := cl.Load()
			if err != nil {
				return nil, err
			}
			return open(api, c.Device, s, optionsFor(c.Device, s), nil)
		}
		devicetest.Run(t, with, devicetest.Options{Compile: device.Options{Check: true}, Grouped: true, Elsewhere: shape != "cpu", Part: part})
	})
}
