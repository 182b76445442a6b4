package jit

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"
)

func TestCallComputes(t *testing.T) {
	c := load(t, "fma")
	y, x, a := []float32{1, 2, 3, 4, 5, 6, 7, 8}, make([]float32, 8), make([]float32, 8)
	want := make([]float32, 8)
	for i := range x {
		x[i], a[i] = float32(i)/3, 1.1-float32(i)
		want[i] = float32(math.FMA(float64(x[i]), float64(a[i]), float64(y[i])))
	}
	Call(c.Entry(0), unsafe.Pointer(&fmaArgs{unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&a[0]), 8}))
	for i := range y {
		if y[i] != want[i] {
			t.Errorf("y[%d] = %v, want %v", i, y[i], want[i])
		}
	}
}

// Go keeps zero in X15 and its goroutine in R14: the code may spoil both.
func TestRegistersComeBack(t *testing.T) {
	c := load(t, "clobber")
	for range 1000 {
		Call(c.Entry(0), nil)
		var zeroed [8]uint64 // cleared with X15
		blackHole = &zeroed
		if *blackHole != ([8]uint64{}) {
			t.Fatal("memory cleared after the call is not zero")
		}
		runtime.Gosched() // needs the goroutine
	}
}

var blackHole *[8]uint64

func TestEntryAndClose(t *testing.T) {
	c := load(t, "load")
	if c.Size() != len(kernels[runtime.GOARCH]["load"].code()) || c.Entry(0) == 0 || c.Entry(4) != c.Entry(0)+4 {
		t.Errorf("size %d, entries %#x %#x", c.Size(), c.Entry(0), c.Entry(4))
	}
	if c.Entry(-1) != 0 || c.Entry(c.Size()) != 0 {
		t.Error("an entry outside the code")
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if c.Entry(0) != 0 {
		t.Error("an entry into closed code")
	}
	if _, err := Map(nil); err == nil {
		t.Error("no code was mapped")
	}
}

// One entry is the machine code of another offset in the same slab.
func TestTwoKernelsInASlab(t *testing.T) {
	load(t, "load") // skips
	first := kernels[runtime.GOARCH]["ret"].code()
	for len(first)%64 != 0 {
		first = append(first, 0)
	}
	c, err := Map(append(first, kernels[runtime.GOARCH]["load"].code()...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	word := uintptr(42)
	args := loadArgs{address: uintptr(unsafe.Pointer(&word))}
	Call(c.Entry(64), unsafe.Pointer(&args))
	runtime.KeepAlive(&word)
	if args.result != 42 {
		t.Errorf("loaded %d", args.result)
	}
}

// No mapping of this process is ever writable and executable, whether code is
// mapped or not.
func TestNeverWritableAndExecutable(t *testing.T) {
	c := load(t, "ret")
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("no /proc/self/maps")
	}
	found := false
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if strings.Contains(f[1], "w") && strings.Contains(f[1], "x") {
			t.Errorf("writable and executable: %s", line)
		}
		if strings.HasPrefix(f[0], hexAddress(c.Entry(0))+"-") {
			found = true
			if f[1] != "r-xp" {
				t.Errorf("the code is mapped %s", f[1])
			}
		}
	}
	if !found {
		t.Error("the code is not in /proc/self/maps")
	}
}

func hexAddress(p uintptr) string {
	const digits = "0123456789abcdef"
	var s []byte
	for ; p > 0; p /= 16 {
		s = append([]byte{digits[p%16]}, s...)
	}
	return string(s)
}

// A fault in the code becomes an error, and leaves the setting of the goroutine
// as it was.
func TestFaultsBecomeErrors(t *testing.T) {
	c := load(t, "load")
	guarded, err := AllocGuarded(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer guarded.Close()
	beyond := uintptr(guarded.Pointer()) + 1
	call := func(address uintptr) error {
		args := loadArgs{address: address}
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(false))
		err := Protect(func() error { Call(c.Entry(0), unsafe.Pointer(&args)); return nil })
		if debug.SetPanicOnFault(false) {
			t.Error("SetPanicOnFault was left on")
		}
		return err
	}
	var fault *FaultError
	if err := call(beyond); !errors.As(err, &fault) || fault.Addr != beyond {
		t.Errorf("load from %#x: %v", beyond, err)
	}
	var invalid *PanicError
	if err := call(8); !errors.As(err, &invalid) || !strings.Contains(string(invalid.Stack), "jit.Call") {
		t.Errorf("load from 8: %v", err)
	}
	var p Pool
	defer p.Close()
	withProcs(t, 2)
	err = p.Run(t.Context(), 20, 2, func(worker, task int) error { return rawLoad(c, beyond) })
	if !errors.As(err, &fault) || fault.Addr != beyond {
		t.Errorf("load from %#x in a pool: %v", beyond, err)
	}
}

func rawLoad(c *Code, address uintptr) error {
	Call(c.Entry(0), unsafe.Pointer(&loadArgs{address: address}))
	return nil
}

func BenchmarkCall(b *testing.B) {
	entry := load(b, "ret").Entry(0)
	for b.Loop() {
		Call(entry, nil)
	}
}
