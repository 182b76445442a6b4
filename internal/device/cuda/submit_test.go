package cuda

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/diskcache"
)

// BenchmarkSubmit has a driver that does nothing.
func BenchmarkSubmit(b *testing.B) {
	api := new(cutest.Fake).API()
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

// openFake opens the GPU of a driver that is made for the test. At the end
// nothing may be left of it, and no call may have been wrong.
func openFake(t *testing.T, f *cutest.Fake) *launch.Device {
	t.Helper()
	return openKept(t, f, 0, nil)
}

// openKept opens the device of a number.
func openKept(t *testing.T, f *cutest.Fake, number int, kept *diskcache.Cache) *launch.Device {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(api, all[number], kept)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if live := f.Live(); len(live) > 0 {
			t.Errorf("not given back: %v", live)
		}
		for _, fault := range f.Faults() {
			t.Error(fault)
		}
	})
	return d
}

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		number := 0
		if p.Second {
			number = 1
		}
		f := &cutest.Fake{Devices: 2, Driver: p.Driver, Foreign: p.Foreign}
		return launchtest.Opened{Device: openKept(t, f, number, p.Kept), Compiled: f.Compiled}
	})
}

// A driver that makes no code compiles while it loads, and nothing is kept.
func TestNoLinker(t *testing.T) {
	kept := &diskcache.Cache{Dir: t.TempDir(), Limit: 1 << 20}
	f := &cutest.Fake{NoLinker: true}
	launchtest.SubmitChain(t, openKept(t, f, 0, kept), "")
	if files, err := os.ReadDir(kept.Dir); err != nil || len(files) > 0 || f.Compiled() != 1 {
		t.Errorf("%d programs compiled, kept %v, %v", f.Compiled(), files, err)
	}
}

// A driver that fails is an error that says what to do, and nothing leaks.
func TestDriverFails(t *testing.T) {
	t.Run("works", func(t *testing.T) {
		f := &cutest.Fake{}
		launchtest.SubmitChain(t, openFake(t, f), "")
		if f.Started() != 5 {
			t.Errorf("%d kernels started", f.Started())
		}
	})
	t.Run("without pools", func(t *testing.T) { launchtest.SubmitChain(t, openFake(t, &cutest.Fake{NoPools: true}), "") })
	t.Run("lost", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &cutest.Fake{LoseAfter: 3}), "the device failed: Fake GPU: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED")
	})
	t.Run("memory", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &cutest.Fake{LoseAfter: 5, LoseWith: cu.UncorrectableECC}), "cuStreamSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE")
	})
	t.Run("no memory for temps", func(t *testing.T) {
		launchtest.SubmitChain(t, openFake(t, &cutest.Fake{Refuse: func(n int) bool { return n > 256 }}), "use smaller batches")
	})
	t.Run("compiler", func(t *testing.T) {
		d := openFake(t, &cutest.Fake{Log: "line 7: I do not like it"})
		if _, err := d.CompileGraph(context.Background(), launchtest.Chain(t, 1), device.Options{}); err == nil || !strings.Contains(err.Error(), "I do not like it") {
			t.Errorf("the log is not in the error: %v", err)
		}
	})
}
