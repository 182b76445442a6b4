package hip

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
)

// The host takes the time of each kernel.
func TestTimed(t *testing.T) { launchtest.Timed(t, openFake(t, &hiptest.Fake{}), true, 0) }
