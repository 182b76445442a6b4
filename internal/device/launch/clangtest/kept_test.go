package clangtest

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/emit/cstyle"
)

// What is kept of weights follows them, by kernels in both languages.
func TestKept(t *testing.T) {
	c := Find(t)
	for _, s := range []*cstyle.Style{cstyle.HIP, cstyle.Metal} {
		t.Run(s.Name, func(t *testing.T) {
			devicetest.Promise(t, func(int) (device.Device, error) {
				return launch.New(&Backend{Clang: c, Style: s}, launch.Options{Kind: s.Name, Shape: GPU, Units: 2})
			}, devicetest.Kept)
		})
	}
}
