package launchtest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
)

// Fault is how a driver is to go wrong.
type Fault struct {
	Refuse    func(bytes int) bool // memory; nil: none
	Build     bool                 // every program of the test is refused
	LoseAfter int                  // runs of one kernel, in the last of which the device is lost; 0: never
	Lost      error                // what the driver says then
}

// Fake is a driver that goes wrong, with a device called "Fake GPU".
type Fake struct {
	Open func() (device.Device, error)
	// Started is how many kernels were started since.
	Started func() int
	// Live lists what was not given back, and wrong calls.
	Live func() []string
	// Close, if not nil, gives back the rest.
	Close func()
}

// Sabotage has sinter use a driver that goes wrong.
type Sabotage struct {
	Driver func(t *testing.T, f Fault) Fake
	// Size and Build are targets of errors.As for memory and programs that are
	// refused: new(*SizeError).
	Size, Build any
	Complaint   string  // of the compiler
	Lost        []error // in what ways a device is lost
	Reopens     bool    // a device that was lost can be opened anew
	Readable    bool    // its memory is the host's, and can be read still
}

// Run tests that what goes wrong is an error that says what, and what to do, that
// what can go on does, and that nothing is left of the driver at the end.
func (s Sabotage) Run(t *testing.T) {
	t.Run("memory refused", s.memoryRefused)
	t.Run("memory makes way", s.memoryMakesWay)
	t.Run("program refused", s.programRefused)
	for _, lost := range s.Lost {
		t.Run("lost by "+lost.Error(), func(t *testing.T) { s.lost(t, lost) })
		t.Run("lost later by "+lost.Error(), func(t *testing.T) { s.lostLater(t, lost) })
	}
}

// open makes a driver known under a name, and opens its device. At the end that
// is closed, and nothing of the driver may be left.
func (s Sabotage) open(t *testing.T, f Fault) (d *sinter.Device, fake Fake, kind string) {
	t.Helper()
	fake, kind = s.Driver(t, f), "fake-"+t.Name()
	device.Register(device.Driver{
		Name: kind,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: "Fake GPU"}}, nil },
		Open: func(int) (device.Device, error) { return fake.Open() },
	})
	t.Cleanup(func() {
		if fake.Close != nil {
			fake.Close()
		}
		// What tensors brought to the device goes with them.
		for i := 0; len(fake.Live()) > 0 && i < 100; i++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if left := fake.Live(); len(left) > 0 {
			t.Errorf("not given back: %v", left)
		}
	})
	return opened(t, kind, f.Lost), fake, kind
}

// opened opens a device until the end of the test. One that was lost may say so
// when it is closed.
func opened(t *testing.T, kind string, lost error) *sinter.Device {
	t.Helper()
	d, err := sinter.Open(kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && (lost == nil || !errors.Is(err, lost)) {
			t.Error(err)
		}
	})
	return d
}

// sums has the device compute a vector in one kernel.
func sums(t *testing.T, d *sinter.Device, n int) error {
	x := sinter.Of(make([]float32, n), n)
	_, err := sinter.Values[float32](sinter.WithDevice(t.Context(), d), x.Add(x).Exp())
	return err
}

// Elements of a vector, and bytes that are refused: less than those take, and
// more than a driver's package asks for to hand out in parts.
const (
	many    = 4 << 20
	fewer   = 1 << 10
	refused = 8 << 20
)

func (s Sabotage) memoryRefused(t *testing.T) {
	d, _, _ := s.open(t, Fault{Refuse: func(n int) bool { return n > refused }})
	err := sums(t, d, many)
	var full *sinter.OutOfMemoryError
	if !errors.As(err, s.Size) || !errors.As(err, &full) || full.Size != 4*many || full.Err == nil || !strings.Contains(err.Error(), "Fake GPU") {
		t.Fatalf("%v", err)
	}
	if text := err.Error(); strings.Count(text, "use smaller") != 1 || !strings.Contains(text, "no room for 16.0 MiB") {
		t.Errorf("not one hint, or not the size: %v", err)
	}
	if err := sums(t, d, fewer); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// memoryMakesWay has the driver refuse memory once: what is held for later runs
// is given back, and it is asked again.
func (s Sabotage) memoryMakesWay(t *testing.T) {
	var armed atomic.Bool
	d, _, _ := s.open(t, Fault{Refuse: func(n int) bool { return n > refused && armed.Swap(false) }})
	x := sinter.Of(make([]float32, 64*64), 64, 64)
	if _, err := sinter.Values[float32](sinter.WithDevice(t.Context(), d), x.MatMul(x).MatMul(x)); err != nil {
		t.Fatal(err)
	}
	if held := d.Stats().Cached; held == 0 {
		t.Fatal("nothing is held for later runs")
	}
	armed.Store(true)
	if err := sums(t, d, many); err != nil || armed.Load() {
		t.Errorf("refused: %v, %v", !armed.Load(), err)
	}
}

func (s Sabotage) programRefused(t *testing.T) {
	d, _, _ := s.open(t, Fault{Build: true})
	if err := sums(t, d, fewer); !errors.As(err, s.Build) || !strings.Contains(err.Error(), s.Complaint) || !strings.Contains(err.Error(), "Fake GPU") {
		t.Errorf("%v", err)
	}
}

// lost loses the device in the middle of a run that assigns a variable: that is
// an error, not a run on another device, and what the host has stays.
func (s Sabotage) lost(t *testing.T, lost error) {
	d, fake, kind := s.open(t, Fault{LoseAfter: 2, Lost: lost})
	if err := sums(t, d, fewer); err != nil {
		t.Fatal(err)
	}
	if n := fake.Started(); n != 1 {
		t.Fatalf("%d kernels started, and one was to be: the second loses the device", n)
	}
	x := sinter.Of([]float32{1, 2, 3}, 3)
	v := sinter.NewVariable("v", x)
	_, err := sinter.Eval(sinter.WithDevice(t.Context(), d), v.Assign(v.Tensor().Mul(x)))
	if !errors.Is(err, lost) || !strings.Contains(err.Error(), "the device failed") {
		t.Errorf("the run: %v", err)
	}
	if err := sums(t, d, fewer); !errors.Is(err, lost) {
		t.Errorf("the next run: %v", err)
	}
	on := []string{"cpu"}
	if s.Reopens {
		on = append(on, kind)
	}
	for _, name := range on {
		got, err := sinter.Values[float32](sinter.WithDevice(t.Context(), opened(t, name, nil)), v.Tensor().Add(x))
		if err != nil || fmt.Sprint(got) != "[2 4 6]" {
			t.Errorf("afterwards on %s: %v, %v", name, got, err)
		}
	}
}

// lostLater loses the device after a run has assigned variables. What was read
// from it meanwhile stays; the variable of which it has the only values is lost
// with it, and can be loaded again.
func (s Sabotage) lostLater(t *testing.T, lost error) {
	d, fake, _ := s.open(t, Fault{LoseAfter: 4, Lost: lost})
	on := sinter.WithDevice(t.Context(), d)
	x := sinter.Of([]float32{1, 2, 3}, 3)
	v, read := sinter.NewVariable("v", x), sinter.NewVariable("read", x)
	for _, of := range []*sinter.Variable{v, read} {
		if _, err := sinter.Eval(on, of.Assign(of.Tensor().Mul(x))); err != nil {
			t.Fatal(err)
		}
	}
	before, err := sinter.Values[float32](on, read.Tensor())
	if err != nil {
		t.Fatal(err)
	}
	for sums(t, d, fewer) == nil {
		if n := fake.Started(); n > 4 {
			t.Fatalf("%d kernels started, and the device is there", n)
		}
	}
	cpu := sinter.WithDevice(t.Context(), opened(t, "cpu", nil))
	if after, err := sinter.Values[float32](cpu, read.Tensor().Neg().Neg()); err != nil || !slices.Equal(before, after) {
		t.Errorf("the variable that was read before: %v, %v, not %v", after, err, before)
	}
	_, whole := sinter.Values[float32](cpu, v.Tensor())
	_, inRun := sinter.Values[float32](cpu, v.Tensor().Add(x))
	for _, err := range []error{whole, inRun} {
		if s.Readable {
			if err != nil {
				t.Errorf("the host reaches the memory: %v", err)
			}
		} else if err == nil || !strings.Contains(err.Error(), `variable "v"`) || !strings.Contains(err.Error(), "load them from a checkpoint") {
			t.Errorf("the variable that only the device had: %v", err)
		}
	}
	if _, err := sinter.Eval(cpu, v.Assign(x)); err != nil {
		t.Errorf("loading it: %v", err)
	}
	if got, err := sinter.Values[float32](cpu, v.Tensor()); err != nil || fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("loaded: %v, %v", got, err)
	}
}
