package hip

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/diskcache"
)

// openFake opens the device of a driver that is made for the test, and says at
// the end what was not given back.
func openFake(t testing.TB, f *hiptest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, nil)
}

func openKept(t testing.TB, f *hiptest.Fake, kept *diskcache.Cache) *launch.Device {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, all[0], kept)
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Closing(t, d, hiprt.LaunchFailure, f.Live)
}

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) { launchtest.BenchmarkSubmit(b, openFake(b, &hiptest.Fake{})) }

// TestSubmit: host time of a run is bounded.
func TestSubmit(t *testing.T) { launchtest.SubmitTakes(t, openFake(t, &hiptest.Fake{})) }

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		f := &hiptest.Fake{Driver: 60241130 + int32(p.Driver[0]-'0'), Foreign: p.Foreign}
		if p.Second {
			f.Bus = 0xC2
		}
		return launchtest.Opened{Device: openKept(t, f, p.Kept), Compiled: f.Compiled}
	})
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	launchtest.Failing{
		Started: 5, Lost: "the device failed", Complaint: "I do not like it",
		Open: func(t *testing.T, how launchtest.Fault) (*launch.Device, func() int) {
			f := &hiptest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: I do not like it"
			}
			return openFake(t, f), f.Started
		},
	}.Run(t)
}

// The compiler is told the architecture with its features, and not to contract.
func TestOptions(t *testing.T) {
	f := &hiptest.Fake{}
	launchtest.SubmitChain(t, openFake(t, f), "")
	if o := f.Options(); len(o) == 0 || o[0] != "--gpu-architecture=gfx90a:sramecc+:xnack-" || !slices.Contains(o, "-ffp-contract=off") {
		t.Errorf("options %q", o)
	}
}

// What a driver has is told with the reason and the remedy for what cannot be
// used; the compiler is never asked for an architecture that it does not know.
func TestUsable(t *testing.T) {
	t.Setenv("HIP_VISIBLE_DEVICES", "7")
	for _, c := range []struct {
		name   string
		fake   *hiptest.Fake
		reason string
	}{
		{"good", &hiptest.Fake{}, ""},
		{"without features", &hiptest.Fake{Arch: "gfx1100"}, ""},
		{"none", &hiptest.Fake{NoDevices: true}, "HIP_VISIBLE_DEVICES=7"},
		{"not known", &hiptest.Fake{Arch: "gfx9999"}, `"gfx9999", which sinter does not know`},
		{"a feature that is not known", &hiptest.Fake{Arch: "gfx90a:-O0"}, "does not know"},
		{"an old compiler", &hiptest.Fake{Arch: "gfx1100", Compiler: 4}, "from version 5.5 on, and this is 4.2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := c.fake.API()
			found, err := usable(api)
			if c.reason == "" {
				if err != nil || len(found) != 1 {
					t.Fatalf("%d devices, %v", len(found), err)
				}
				p := properties(found[0])
				if p.PCI != "0000:c1:00.0" || p.Memory != 1<<30 || p.Free != 1<<29 || p.Driver != "HIP 6.2.41134, hiprtc 6.2" || !slices.Contains(p.Features, "untested") {
					t.Errorf("%+v", p)
				}
				return
			}
			var lack *device.MissingError
			if len(found) > 0 || !errors.As(err, &lack) || lack.Remedy == "" || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%d devices, %v", len(found), err)
			}
			if c.fake.NoDevices {
				return
			}
			all, err := api.Devices()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(api, all[0], nil); err == nil || !strings.Contains(err.Error(), "is a") {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// What streams do to memory is in order.
func TestInOrder(t *testing.T) { launchtest.InOrder(t, openFake(t, &hiptest.Fake{})) }
