package hip_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/hip"
	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
)

// sabotaged opens a device of the library whose driver fails as told. At the
// end it is closed, and nothing of the driver may be left.
func sabotaged(t *testing.T, f *hiptest.Fake) *sinter.Device {
	t.Helper()
	kind := fmt.Sprintf("fake-%s", t.Name())
	api := f.API()
	found, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	device.Register(device.Driver{
		Name: kind,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: found[0].Name}}, nil },
		Open: func(int) (device.Device, error) { return hip.New(api, found[0], nil) },
	})
	d, err := sinter.Open(kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, hiprt.LaunchFailure) {
			t.Error(err)
		}
		// What tensors brought to the device goes with them.
		for i := 0; len(f.Live()) > 0 && i < 100; i++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if left := f.Live(); len(left) > 0 {
			t.Errorf("not given back: %v", left)
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
	d := sabotaged(t, &hiptest.Fake{Refuse: func(n int) bool { return n > 1<<20 }})
	err := sums(t, d, 1<<20)
	var size *hiprt.SizeError
	if !errors.As(err, &size) || !strings.Contains(err.Error(), "Fake GPU") || !strings.Contains(err.Error(), "use smaller") {
		t.Errorf("%v", err)
	}
	if err := sums(t, d, 1<<10); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestProgramRefused(t *testing.T) {
	d := sabotaged(t, &hiptest.Fake{BuildLog: "error: out of registers"})
	var build *hiprt.BuildError
	if err := sums(t, d, 1<<10); !errors.As(err, &build) || !strings.Contains(err.Error(), "out of registers") || !strings.Contains(err.Error(), "Fake GPU") {
		t.Errorf("%v", err)
	}
}

// TestDeviceLost loses the device in the middle of a run that assigns a
// variable: that is an error, not a run on another device, and what the host
// has stays.
func TestDeviceLost(t *testing.T) {
	f := &hiptest.Fake{LoseAfter: 2}
	d := sabotaged(t, f)
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
	if !errors.Is(err, hiprt.LaunchFailure) || !strings.Contains(err.Error(), "the device failed") {
		t.Errorf("the run: %v", err)
	}
	if err := sums(t, d, 1<<10); !errors.Is(err, hiprt.LaunchFailure) {
		t.Errorf("the next run: %v", err)
	}
	c, err := sinter.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := sinter.Values[float32](sinter.WithDevice(t.Context(), c), v.Tensor().Add(x))
	if err != nil || got[0] != 2 || got[2] != 6 {
		t.Errorf("on another device: %v, %v", got, err)
	}
}
