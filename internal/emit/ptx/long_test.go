//go:build long

package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/devicetest"
)

// TestConformance runs all of the suite of devices for all targets, which
// package cuda does of a part.
func TestConformance(t *testing.T) {
	known := map[string]string{}
	for _, c := range suite.Cases() {
		if strings.Contains(c.Name, "f64") && needsFunction(c.Name) {
			known[c.Name] = "functions of f64 have no expansion into exact operations"
		}
	}
	for _, target := range targets {
		t.Run(fmt.Sprint(target), func(t *testing.T) {
			open := func(int) (device.Device, error) {
				return launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
			}
			devicetest.Run(t, open, devicetest.Options{Compile: device.Options{Check: true}, Known: known})
		})
	}
}

// needsFunction tells whether a case of f64 has a transcendental function.
func needsFunction(name string) bool {
	if strings.HasPrefix(name, "attention") {
		return true
	}
	for _, op := range []string{"exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "atan", "tanh", "erf", "pow"} {
		if strings.HasPrefix(name, op+" ") {
			return true
		}
	}
	return false
}
