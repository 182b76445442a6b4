package opencl

import (
	"errors"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
)

// openContext opens the first device of the system's drivers. Where everything
// has to be tested there must be one.
func openContext(t testing.TB) *cl.Context {
	t.Helper()
	api, err := cl.Load()
	if err != nil {
		effort.Missing(t, err)
	}
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		effort.Missing(t, "OpenCL's drivers find no device")
	}
	c, err := api.NewContext(all[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// shapes are those that a processor can run too.
var shapes = map[string]entry.Shape{
	"cpu": processor,
	"gpu": {Items: 64, Near: 16 << 10, Shared: 32 << 10, Flat: 8, Product: cstyle.GemmForGroups},
}

// optionsFor are those of the driver's compiler. LLVM 15 loses halves of vectors
// that are scattered by PoCL's loops over work-items: they are left as they are.
func optionsFor(d *cl.Device, s entry.Shape) string {
	if s.Items > 1 && d.CPU {
		return buildOptions(d) + " -cl-opt-disable"
	}
	return buildOptions(d)
}

// backendOf is a backend in a shape, until the end of the test.
func backendOf(t *testing.T, s entry.Shape) *backend {
	t.Helper()
	c := openContext(t)
	b, err := newBackend(c, s, optionsFor(c.Device, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.up.Close(), b.down.Close(), b.runs.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestRandomKernels compares kernels in both shapes with the interpreter.
func TestRandomKernels(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			b := backendOf(t, s)
			launchtest.RandomKernels(t, b, s, nil)
		})
	}
}

// TestFewRows compares products of few rows in the shape for GPUs.
func TestFewRows(t *testing.T) {
	s := shapes["gpu"]
	launchtest.FewRows(t, backendOf(t, s), s, func(ir.DType) bool { return true })
}
