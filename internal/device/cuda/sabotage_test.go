package cuda_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
)

// sabotaged registers a GPU whose driver fails as told, and gives its name. At
// the end nothing of the driver may be left.
func sabotaged(t *testing.T, f *cutest.Fake) string {
	t.Helper()
	kind := fmt.Sprintf("fake-%s", t.Name())
	api := f.API()
	found, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	device.Register(device.Driver{
		Name: kind, External: true,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: found[0].Name}}, nil },
		Open: func(int) (device.Device, error) { return cuda.New(api, found[0], nil) },
	})
	t.Cleanup(func() {
		// What tensors brought to the device goes with them.
		for i := 0; len(f.Live()) > 0 && i < 100; i++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if left := f.Live(); len(left) > 0 {
			t.Errorf("not given back: %v", left)
		}
		for _, fault := range f.Faults() {
			t.Error(fault)
		}
	})
	return kind
}

func open(t *testing.T, kind string) *sinter.Device {
	t.Helper()
	d, err := sinter.OpenWith(kind, sinter.DeviceOptions{Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// sums has the device compute a vector.
func sums(t *testing.T, d *sinter.Device, n int) error {
	x := sinter.Of(make([]float32, n), n)
	_, err := sinter.Values[float32](sinter.WithDevice(t.Context(), d), x.Add(x).Exp())
	return err
}

func TestMemoryRefused(t *testing.T) {
	d := open(t, sabotaged(t, &cutest.Fake{Refuse: func(n int) bool { return n > 1<<20 }}))
	err := sums(t, d, 1<<20)
	var size *cu.SizeError
	if !errors.As(err, &size) || !strings.Contains(err.Error(), "Fake GPU") || !strings.Contains(err.Error(), "use smaller batches") {
		t.Errorf("%v", err)
	}
	if err := sums(t, d, 1<<10); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestProgramRefused(t *testing.T) {
	d := open(t, sabotaged(t, &cutest.Fake{Log: "ptxas fatal: out of registers"}))
	var build *cu.BuildError
	if err := sums(t, d, 1<<10); !errors.As(err, &build) || !strings.Contains(err.Error(), "out of registers") || !strings.Contains(err.Error(), "Fake GPU") {
		t.Errorf("%v", err)
	}
}

// TestWrong refuses a GPU that computes something else than the processor: here
// nothing at all.
func TestWrong(t *testing.T) {
	if _, err := sinter.Open(sabotaged(t, &cutest.Fake{})); err == nil || !strings.Contains(err.Error(), "was compared with the processor and is not used") {
		t.Error(err)
	}
}

// TestDeviceLost loses the device in the middle of a run that assigns a
// variable: that is an error, not a run on another device, what the host has
// stays, and the device can be opened anew.
func TestDeviceLost(t *testing.T) {
	for _, code := range []cu.Code{cu.LaunchFailed, cu.UncorrectableECC} {
		t.Run(code.String(), func(t *testing.T) { lose(t, code) })
	}
}

func lose(t *testing.T, code cu.Code) {
	f := &cutest.Fake{LoseAfter: 2, LoseWith: code, Compute: true}
	kind := sabotaged(t, f)
	d := open(t, kind)
	ctx := sinter.WithDevice(t.Context(), d)
	if err := sums(t, d, 1<<10); err != nil {
		t.Fatal(err)
	}
	if n := f.Started(); n != 1 {
		t.Fatalf("%d kernels started, and one was to be: the second loses the device", n)
	}
	x := sinter.Of([]float32{1, 2, 3}, 3)
	v := sinter.NewVariable("v", x)
	_, err := sinter.Eval(ctx, v.Assign(v.Tensor().Mul(x)))
	if !errors.Is(err, code) || !strings.Contains(err.Error(), "the device failed") {
		t.Errorf("the run: %v", err)
	}
	if err := sums(t, d, 1<<10); !errors.Is(err, code) {
		t.Errorf("the next run: %v", err)
	}
	again := open(t, kind)
	got, err := sinter.Values[float32](sinter.WithDevice(t.Context(), again), v.Tensor().Add(x))
	if err != nil || got[0] != 2 || got[2] != 6 {
		t.Errorf("on the device, opened anew: %v, %v", got, err)
	}
}
