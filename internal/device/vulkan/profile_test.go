package vulkan

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// The host takes the time of each kernel.
func TestTimed(t *testing.T) { launchtest.Timed(t, openFake(t, &vktest.Fake{}), true, 0) }
