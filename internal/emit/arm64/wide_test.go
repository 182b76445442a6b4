package arm64

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Lanes of 8 bytes agree with the interpreter at all bounds.
func TestWide(t *testing.T) {
	needNEON(t)
	err := nativetest.WideCases(func(name string, c *looptest.Case) error {
		if err := nativetest.Check(c, emit, 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
