package interp_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/devicetest"
)

func TestConformance(t *testing.T) {
	devicetest.Run(t, func(int) (device.Device, error) { return interp.New(), nil }, devicetest.Options{})
}
