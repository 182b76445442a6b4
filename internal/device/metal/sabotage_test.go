package metal_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/metal"
	"github.com/sinterml/sinter/internal/device/metal/mtl/mtltest"
)

func TestSabotage(t *testing.T) {
	launchtest.Sabotage{
		Size: new(*metal.SizeError), Build: new(*metal.BuildError), Complaint: "out of registers", Lost: []error{metal.ErrDevice}, Readable: true,
		Driver: func(_ *testing.T, how launchtest.Fault) launchtest.Fake {
			f := &mtltest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: out of registers"
			}
			api := f.API()
			return launchtest.Fake{Open: func() (device.Device, error) { return metal.New(api, api.Devices()[0]) }, Started: f.Started, Live: f.Live}
		},
	}.Run(t)
}
