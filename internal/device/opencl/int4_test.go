package opencl

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/suite"
)

// TestPackedWeights compares products with weights in 4 bits with the referee's,
// in the shape for processors and in that for GPUs.
func TestPackedWeights(t *testing.T) {
	c := openContext(t)
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			api, err := cl.Load()
			if err != nil {
				t.Fatal(err)
			}
			d, err := open(api, c.Device, s, optionsFor(c.Device, s), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for _, packed := range suite.PackedCases() {
				if err := packed.Run(t.Context(), d, device.Options{Check: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
