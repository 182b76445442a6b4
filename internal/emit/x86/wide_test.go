package x86

import (
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
)

// TestWide: lanes of 8 bytes give the interpreter's bits.
func TestWide(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for name, c := range nativetest.Wide() {
			if err := checkCase(c, isa); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
