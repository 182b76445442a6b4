package x86

import (
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
)

// Lanes of 8 bytes agree with the interpreter at all bounds.
func TestWide(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		if err := nativetest.CheckWide(emitterFor(isa)); err != nil {
			t.Error(err)
		}
	})
}
