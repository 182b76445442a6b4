//go:build !static

// Package gputest has tests run on the devices of drivers: one table of kinds,
// for all comparisons with references.
package gputest

import (
	"os"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	_ "github.com/sinterml/sinter/gpu" // brings the drivers
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/vulkan"
	"github.com/sinterml/sinter/internal/effort"
)

// kinds of device. Those that run on any machine must be there where everything
// is to be tested; the others are GPUs.
var kinds = []struct {
	name     string
	anywhere bool
}{
	{"opencl", true},
	{"vulkan", true},
	{"cuda", false},
	{simulated, true},
}

// simulated is a GPU of NVIDIA's whose driver and kernels are run by the
// processor, a thousand times slower.
const simulated = "simulated"

var registerSimulated = sync.OnceFunc(func() {
	device.Register(device.Driver{Name: simulated, Open: func(int) (device.Device, error) {
		api := (&cutest.Fake{Compute: true}).API()
		all, err := api.Devices()
		if err != nil {
			return nil, err
		}
		return cuda.New(api, all[0], nil)
	}})
})

// validated is Vulkan under its validation layer, for whose messages see Run.
const validated = "vulkan-validated"

// messages are what the validation layer has found wrong.
var messages struct {
	sync.Mutex
	text []string
}

var registerValidated = sync.OnceFunc(func() {
	device.Register(vulkan.Validated(func(text string) {
		messages.Lock()
		defer messages.Unlock()
		messages.text = append(messages.text, text)
	}))
})

// newMessages are those since they were last asked for.
func newMessages() []string {
	messages.Lock()
	defer messages.Unlock()
	text := messages.text
	messages.text = nil
	return text
}

// Slow tells that a test should do less on a device: one that is simulated.
func Slow(d *sinter.Device) bool { return d.Name() == simulated }

// Variable is of the environment: the name of the one device that tests run on,
// which must be there.
const Variable = "SINTER_TEST_DEVICE"

// Run runs a test on the first device of each kind, skipping kinds of which
// there is none. Where everything is to be tested that of Vulkan is under the
// validation layer, whose messages fail the test. Where Variable names a device,
// that is the only one, as users open it.
func Run(t *testing.T, test func(t *testing.T, d *sinter.Device)) {
	registerSimulated()
	all := effort.Now() >= effort.CI
	if name := os.Getenv(Variable); name != "" {
		t.Run(name, func(t *testing.T) {
			d, err := sinter.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer closeDevice(t, d)
			test(t, d)
		})
		return
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if k.name == simulated && !all {
				t.Skip("a simulated GPU takes its time: set SINTER_CI")
			}
			name := k.name
			if name == "vulkan" && all {
				registerValidated()
				name = validated
			}
			d, err := sinter.Open(name)
			switch {
			case err != nil && k.anywhere:
				effort.Missing(t, err)
			case err != nil:
				t.Skip(err)
			}
			defer closeDevice(t, d)
			test(t, d)
		})
	}
}

// closeDevice ends a device, of which no message may be left.
func closeDevice(t *testing.T, d *sinter.Device) {
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, text := range newMessages() {
		t.Error(text)
	}
}
