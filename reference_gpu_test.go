//go:build !static

package sinter_test

import (
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/gputest"
)

// TestReferenceOperatorsGPU compares the operators and their gradients with
// PyTorch on the devices of drivers: all of them where everything is to be
// tested, as drivers' compilers take their time.
func TestReferenceOperatorsGPU(t *testing.T) {
	ref := openReferenceCases(t)
	every := 1
	if !gputest.All() {
		every = 60
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		for i, c := range ref.Cases {
			if i%every != 0 {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				c.run(t, ref.file, ref.Rtol, sinter.Options{Device: d, Check: true})
			})
		}
	})
}
