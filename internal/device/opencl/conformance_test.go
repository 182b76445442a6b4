package opencl

import (
	"os"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/devicetest"
)

// everyShape has the suite run in the shape for GPUs too, which on a processor
// takes an hour; TestRandomKernels does so always.
var everyShape = false

// TestConformance runs the suite in the shape for processors.
func TestConformance(t *testing.T) {
	if os.Getenv("SINTER_CI") == "" {
		t.Skip("the driver's compiler takes minutes for the suite: set SINTER_CI")
	}
	devicetest.InProcesses(t, 2, func(part devicetest.Part) { conform(t, part) })
}

// conform runs a part of the suite.
func conform(t *testing.T, part devicetest.Part) {
	c := openContext(t)
	for name, s := range shapes {
		if s.Items > 1 && !everyShape {
			continue
		}
		t.Run(name, func(t *testing.T) {
			with := func(int) (device.Device, error) {
				api, err := cl.Load()
				if err != nil {
					return nil, err
				}
				return open(api, c.Device, s, optionsFor(c.Device, s), nil)
			}
			devicetest.Run(t, with, devicetest.Options{Compile: device.Options{Check: true}, Grouped: true, Part: part})
		})
	}
}
