package metal

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/metal/mtl/mtltest"
)

// The host takes the time of each kernel.
func TestTimed(t *testing.T) { launchtest.Timed(t, openFake(t, &mtltest.Fake{}), true, 0) }
