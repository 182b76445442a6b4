package hip_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/hip"
	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
)

func TestSabotage(t *testing.T) {
	launchtest.Sabotage{
		Size: new(*hiprt.SizeError), Build: new(*hiprt.BuildError), Complaint: "out of registers", Lost: []error{hiprt.LaunchFailure},
		Driver: func(t *testing.T, how launchtest.Fault) launchtest.Fake {
			f := &hiptest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: out of registers"
			}
			api := f.API()
			found, err := api.Devices()
			if err != nil {
				t.Fatal(err)
			}
			return launchtest.Fake{Open: func() (device.Device, error) { return hip.New(api, found[0], nil) }, Started: f.Started, Live: f.Live}
		},
	}.Run(t)
}
