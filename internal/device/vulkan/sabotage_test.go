package vulkan_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// opening is how many programs are compiled and run when a device is opened: to
// see how it rounds.
const opening = 3

func TestSabotage(t *testing.T) {
	launchtest.Sabotage{
		Size: new(*vk.SizeError), Build: new(*vk.BuildError), Complaint: vk.InvalidShader.Error(), Lost: []error{vk.DeviceLost},
		Driver: func(t *testing.T, how launchtest.Fault) launchtest.Fake {
			f := &vktest.Fake{Shared: true, Refuse: how.Refuse} // shared, so that only runs are submitted
			if how.Build {
				f.BuildFails, f.BuildsBefore = vk.InvalidShader, opening
			}
			if how.LoseAfter > 0 {
				f.LoseAfter = opening + how.LoseAfter
			}
			i, err := f.API().NewInstance(vk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := i.Physicals()
			if err != nil {
				t.Fatal(err)
			}
			return launchtest.Fake{
				Open:    func() (device.Device, error) { return vulkan.Unverified(found[0]) },
				Started: func() int { return f.Submitted() - opening }, Live: f.Live, Close: i.Close,
			}
		},
	}.Run(t)
}
