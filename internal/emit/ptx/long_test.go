//go:build long

package ptx_test

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/devicetest"
)

// TestConformance runs all of the suite of devices for all targets, which
// package cuda does of a part.
func TestConformance(t *testing.T) {
	for _, target := range targets {
		t.Run(fmt.Sprint(target), func(t *testing.T) {
			open := func(int) (device.Device, error) {
				return launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
			}
			devicetest.Run(t, open, devicetest.Options{Compile: device.Options{Check: true}})
		})
	}
}
