//go:build simulate

package cpu

import (
	"github.com/sinterml/sinter/internal/emit/x86/x86sim"
	"github.com/sinterml/sinter/internal/jit"
)

func init() { jit.Simulate = x86sim.Run }
