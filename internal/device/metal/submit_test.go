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
func openFake(t *testing.T, f *mtltest.Fake) *launch.Device {
	t.Helper()
	api := f.API()
	d, err := New(api, api.Devices()[0])
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
	api := new(mtltest.Fake).API()
	d, err := New(api, api.Devices()[0])
	if err != nil {
		b.Fatal(err)
	}
	launchtest.BenchmarkSubmit(b, d)
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	t.Run("works", func(t *testing.T) {
		f := &mtltest.Fake{}
		launchtest.SubmitChain(t, openFake(t, f), "")
		if f.Started() != 5 {
			t.Errorf("%d kernels started", f.Started())
		}
	})
	t.Run("lost", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &mtltest.Fake{LoseAfter: 3}), "the device failed")
	})
	t.Run("no memory for temps", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &mtltest.Fake{Refuse: func(n int) bool { return n > 256 }}), "use smaller batches")
	})
	t.Run("compiler", func(t *testing.T) {
		d := openFake(t, &mtltest.Fake{BuildLog: "error: I do not like it"})
		var build *BuildError
		_, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 1), device.Options{})
		if !errors.As(err, &build) || !strings.Contains(err.Error(), "I do not like it") || !strings.Contains(err.Error(), "Fake GPU") {
			t.Errorf("%v", err)
		}
	})
}

// What there is, is told with the reason and the remedy for what is not.
func TestUsable(t *testing.T) {
	found, err := usable(new(mtltest.Fake).API())
	if err != nil || len(found) != 1 {
		t.Fatalf("%d devices, %v", len(found), err)
	}
	if p := properties(found[0]); p.Memory != 1<<30 || p.Description != "Fake GPU" || !slices.Contains(p.Features, "untested") {
		t.Errorf("%+v", p)
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
