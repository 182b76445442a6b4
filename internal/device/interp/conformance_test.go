package interp_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// TestConformance runs the suite, before CI the short one: what is right is said by
// the same code.
func TestConformance(t *testing.T) {
	devicetest.Run(t, func(int) (device.Device, error) { return interp.New(), nil }, devicetest.Options{Slow: effort.Less()})
}
