package hip

import (
	"context"
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
func openFake(t *testing.T, f *hiptest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, nil)
}

func openKept(t *testing.T, f *hiptest.Fake, kept *diskcache.Cache) *launch.Device {
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
	t.Cleanup(func() {
		_ = d.Close() // a lost device cannot be waited for
		if live := f.Live(); len(live) > 0 {
			t.Errorf("not given back: %v", live)
		}
	})
	return d
}

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) {
	api := new(hiptest.Fake).API()
	all, err := api.Devices()
	if err != nil {
		b.Fatal(err)
	}
	d, err := New(api, all[0], nil)
	if err != nil {
		b.Fatal(err)
	}
	launchtest.BenchmarkSubmit(b, d)
}

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
	t.Run("works", func(t *testing.T) {
		f := &hiptest.Fake{}
		launchtest.SubmitChain(t, openFake(t, f), "")
		if f.Started() != 5 {
			t.Errorf("%d kernels started", f.Started())
		}
		if o := f.Options(); len(o) == 0 || o[0] != "--gpu-architecture=gfx90a:sramecc+:xnack-" || !slices.Contains(o, "-ffp-contract=off") {
			t.Errorf("options %q", o)
		}
	})
	t.Run("lost", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &hiptest.Fake{LoseAfter: 3}), "the device failed")
	})
	t.Run("no memory for temps", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &hiptest.Fake{Refuse: func(n int) bool { return n > 256 }}), "use smaller batches")
	})
	t.Run("compiler", func(t *testing.T) {
		d := openFake(t, &hiptest.Fake{BuildLog: "error: I do not like it"})
		var build *hiprt.BuildError
		_, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 1), device.Options{})
		if !errors.As(err, &build) || !strings.Contains(err.Error(), "I do not like it") || !strings.Contains(err.Error(), "Fake GPU") {
			t.Errorf("%v", err)
		}
	})
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
