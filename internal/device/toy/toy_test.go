package toy_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/toy"
	"github.com/sinterml/sinter/internal/devicetest"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
)

// TestConformance is what a new device has to pass; Slow, as this one is.
func TestConformance(t *testing.T) {
	open := func(int) (device.Device, error) { return toy.New() }
	devicetest.Run(t, open, devicetest.Options{Slow: true})
}
