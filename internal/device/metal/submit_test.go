package metal

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/metal/mtl/mtltest"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// openFake opens the device of a driver that is made for the test, and says at
// the end what was not given back.
func openFake(t testing.TB, f *mtltest.Fake) *launch.Device {
	t.Helper()
	api := f.API()
	d, err := New(api, api.Devices()[0])
	if err != nil {
		t.Fatal(err)
	}
	return launchtest.Closing(t, d, nil, f.Live)
}

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) { launchtest.BenchmarkSubmit(b, openFake(b, &mtltest.Fake{})) }

// TestSubmit: host time of a run is bounded.
func TestSubmit(t *testing.T) { launchtest.SubmitTakes(t, openFake(t, &mtltest.Fake{})) }

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	launchtest.Failing{
		Started: 5, Lost: "the device failed", Complaint: "I do not like it",
		Open: func(t *testing.T, how launchtest.Fault) (*launch.Device, func() int) {
			f := &mtltest.Fake{Refuse: how.Refuse, LoseAfter: how.LoseAfter}
			if how.Build {
				f.BuildLog = "error: I do not like it"
			}
			return openFake(t, f), f.Started
		},
	}.Run(t)
}

// What there is, is told with the reason and the remedy for what is not.
func TestUsable(t *testing.T) {
	api := new(mtltest.Fake).API()
	found, err := usable(api)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d devices, %v", len(found), err)
	}
	if p := properties(api, found[0]); p.Driver != "Metal, macOS 15.1 (24B83)" || p.Memory != 1<<30 || p.Description != "Fake GPU" || !slices.Contains(p.Features, "untested") {
		t.Errorf("%+v", p)
	}
	updated := (&mtltest.Fake{System: "macOS 15.2 (24C101)"}).API()
	if p, before := properties(updated, found[0]), properties(api, found[0]); p.Driver == before.Driver {
		t.Errorf("%q with another system too", p.Driver)
	}
	var lack *device.MissingError
	if _, err := usable((&mtltest.Fake{NoDevices: true}).API()); !errors.As(err, &lack) || lack.Remedy == "" {
		t.Errorf("%v", err)
	}
	if runtime.GOOS != "darwin" {
		if _, err := list(); !errors.As(err, &lack) || !strings.Contains(err.Error(), "macOS") {
			t.Errorf("%v", err)
		}
	}
}

// A kernel whose registers leave room for small groups only is an error.
func TestSmallGroups(t *testing.T) {
	d := openFake(t, &mtltest.Fake{Items: 4})
	m, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 1), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x, _ := d.Alloc(256)
	y, _ := d.Alloc(256)
	e, err := d.Submit(context.Background(), &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}})
	if err == nil {
		err = e.Wait(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "Fake GPU runs 4") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(x.Close(), y.Close()); err != nil {
		t.Error(err)
	}
}

// TestManyBuffers has more of them than there are slots: the last are passed by
// their addresses, which systems before macOS 13 do not have.
func TestManyBuffers(t *testing.T) {
	args := make([]entry.Arg, 0, 41)
	for i := range 40 {
		args = append(args, entry.Arg{Kind: entry.ArgBuffer, Param: i})
	}
	args = append(args, entry.Arg{Kind: entry.ArgEnd})
	for _, old := range []bool{false, true} {
		f := &mtltest.Fake{Old: old}
		api := f.API()
		b := &backend{api: api, device: api.Devices()[0]}
		p := &program{backend: b}
		r, err := p.Record([]launch.Launch{{Kernel: &entry.Kernel{Entry: "k"}, Args: args, Groups: 1, Items: 1}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			if err = r.SetMemory(0, i, m); err != nil {
				break
			}
		}
		if old {
			if err == nil || !strings.Contains(err.Error(), "macOS 13") {
				t.Errorf("%v", err)
			}
			continue
		}
		if err := errors.Join(err, r.SetInt(0, 40, 7), r.Run()); err != nil {
			t.Fatal(err)
		}
		id := m.(*memory).id
		l := f.Last()[0]
		if len(l.Buffers) != 29 || l.Buffers[28] != id || len(l.Far) != 11 || l.Far[10] != id || l.Addresses[10] != uint64(id)<<16 || l.Numbers[0] != 7 {
			t.Errorf("%+v", l)
		}
	}
}
