package cuda

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// gpu finds the first GPU of the system, without which a test is skipped.
func gpu(t testing.TB) (*cu.API, *cu.Device) {
	t.Helper()
	api, err := cu.Load()
	if err != nil {
		t.Skip(thisSystem.missing(err))
	}
	all, err := usable(api, thisSystem)
	if len(all) == 0 {
		t.Skip(err)
	}
	return api, all[0]
}

// simulated is a GPU of a compute capability whose kernels the processor runs.
// At the end nothing may be left of it, and no call may have been wrong.
func simulated(t testing.TB, capability int) (*cu.API, *cu.Device) {
	t.Helper()
	f := &cutest.Fake{Compute: true, Capability: capability}
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range f.Faults() {
			t.Error(fault)
		}
		if live := f.Live(); len(live) > 0 {
			t.Errorf("not given back: %v", live)
		}
	})
	return api, all[0]
}

// TestRandomKernels compares single kernels with the interpreter of loops.
func TestRandomKernels(t *testing.T) {
	find := map[string]func(testing.TB) (*cu.API, *cu.Device){
		"gpu":  gpu,
		"sm75": func(t testing.TB) (*cu.API, *cu.Device) { return simulated(t, 75) },
		"sm90": func(t testing.TB) (*cu.API, *cu.Device) { return simulated(t, 90) },
	}
	for name, open := range find {
		t.Run(name, func(t *testing.T) {
			b, err := newBackend(open(t))
			if err != nil {
				t.Fatal(err)
			}
			launchtest.RandomKernels(t, b, b.target.Shape(), nil)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestConformance runs the suite on the simulated GPU, half of it before CI.
func TestConformance(t *testing.T) {
	conform(t, true, func(t testing.TB) (*cu.API, *cu.Device) { return simulated(t, 90) })
}

// TestConformanceGPU runs it on a real one.
func TestConformanceGPU(t *testing.T) { conform(t, false, gpu) }

func conform(t *testing.T, slow bool, find func(testing.TB) (*cu.API, *cu.Device)) {
	api, d := find(t)
	open := func(int) (device.Device, error) { return New(api, d, nil) }
	o := devicetest.Options{Compile: device.Options{Check: true}, Slow: slow}
	if slow && effort.Less() {
		o.Part = devicetest.Part{Number: 1, Of: 2}
	}
	devicetest.Run(t, open, o)
}
