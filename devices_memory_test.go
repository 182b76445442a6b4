package sinter_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/toy"
)

// A device with a limit: results that nobody has any more make way for others,
// and what does not fit is an error that says how much there is.
func TestMemoryLimit(t *testing.T) {
	const size = 8 << 20
	d, err := sinter.OpenWith("cpu", sinter.DeviceOptions{MemoryLimit: 3*size + size/2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx := sinter.WithDevice(t.Context(), d)
	ones := func(bytes int) sinter.Tensor { return sinter.Ones(sinter.F32, sinter.N(bytes/4)) }
	for i := range 10 { // each result is garbage once the next is asked for
		if _, err := sinter.Eval(ctx, ones(size).Mul(sinter.Scalar(float64(i)))); err != nil {
			t.Fatalf("result %d: %v", i, err)
		}
	}
	if s := d.Stats(); s.Peak < size || s.Peak > 3*size+size/2 {
		t.Errorf("%+v", s)
	}
	_, err = sinter.Eval(ctx, ones(4*size).Exp())
	var full *sinter.OutOfMemoryError
	if !errors.As(err, &full) || full.Size < 4*size || full.Limit != 3*size+size/2 || !strings.Contains(err.Error(), "32.0 MiB on cpu") {
		t.Errorf("%v", err)
	}
	if err := d.TrimMemory(); err != nil || d.Stats().Cached != 0 {
		t.Errorf("%v, %+v", err, d.Stats())
	}
	for _, o := range []sinter.DeviceOptions{{MemoryLimit: -1}} {
		if _, err := sinter.OpenWith("cpu", o); err == nil {
			t.Errorf("%+v", o)
		}
	}
	if _, err := sinter.OpenWith("interp", sinter.DeviceOptions{MemoryLimit: 1}); err == nil || !strings.Contains(err.Error(), "cannot limit") {
		t.Errorf("the referee: %v", err)
	}
}

// Results that nobody has any more make way for what a run works in, too: a
// device whose idle memory made way for the run's results has none left.
func TestRunsMakeRoom(t *testing.T) {
	device.Register(device.Driver{
		Name: "limited", External: true,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: t.Name()}}, nil },
		Open: func(int) (device.Device, error) { return launch.New(toy.Backend(0), toy.Options()) },
	})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each worker has memory of its own
	const n, size = 64, 4 * 64 * 64
	for _, name := range []string{"cpu", "limited"} {
		d, err := sinter.OpenWith(name, sinter.DeviceOptions{MemoryLimit: 5*size + size/2, Unchecked: true})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x := sinter.Input("x", sinter.F32, sinter.N(n), sinter.N(n))
		y := x.MatMul(x)
		p, err := sinter.Compile(sinter.Capture(y.MatMul(y)), sinter.Options{Device: d})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		in := map[string]sinter.Tensor{"x": sinter.Of(make([]float32, n*n), n, n)}
		for i := range 10 {
			if _, err := p.Run(t.Context(), in); err != nil {
				t.Fatalf("%s: run %d: %v", name, i, err)
			}
		}
	}
}

// What closed programs have kept with a weight stays within bounds, though the
// device remembers the programs and the weight lives; a program that is open has
// what it needs.
func TestWhatIsKeptIsBounded(t *testing.T) {
	const n, size, programs, bound = 512, 4 * 512 * 512, 100, 64 << 20
	d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	w := sinter.Of(slices.Repeat([]float32{1}, n*n), n, n)
	x := sinter.Input("x", sinter.F32, sinter.N(1), sinter.N(n))
	in := map[string]sinter.Tensor{"x": sinter.Of(slices.Repeat([]float32{1}, n), 1, n)}
	run := func(factor int) *sinter.Program {
		t.Helper()
		p, err := sinter.Compile(sinter.Capture(x.MatMul(w.Mul(sinter.Scalar(float64(factor))))), sinter.Options{Device: d})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sinter.Values[float32](t.Context(), out[0]); err != nil || got[n-1] != float32(n*factor) {
			t.Fatalf("factor %d: %v, %v", factor, got[n-1], err)
		}
		return p
	}
	open := run(programs + 1)
	for i := range programs {
		if err := run(i + 1).Close(); err != nil {
			t.Fatal(err)
		}
	}
	compiled := d.Stats().Compiled
	for i := range programs { // remembered, and packed again
		if err := run(i + 1).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.Stats().Compiled - compiled; n != 0 {
		t.Errorf("%d programs were compiled again", n)
	}
	for range 50 { // what is packed goes with the garbage
		runtime.GC()
		if d.Stats().Allocated <= bound+2*size {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if s := d.Stats(); s.Allocated > bound+2*size || s.Allocated < bound/2 {
		t.Errorf("%d closed programs: %+v, want %d bytes and what an open one needs", programs, s, bound)
	}
	before := d.Stats()
	if _, err := open.Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if s := d.Stats(); s.Allocated > before.Allocated+size/2 {
		t.Errorf("a program that is open packs its weight again: %+v, then %+v", before, s)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(w)
}

// What programs have kept with a weight makes way for others, and goes with
// TrimMemory: the weight may outlive them by far.
func TestWhatIsKeptMakesRoom(t *testing.T) {
	const n, size = 128, 4 * 128 * 128
	d, err := sinter.OpenWith("cpu", sinter.DeviceOptions{MemoryLimit: 8 * size})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	w := sinter.Of(slices.Repeat([]float32{1}, n*n), n, n)
	x := sinter.Input("x", sinter.F32, sinter.N(1), sinter.N(n))
	in := map[string]sinter.Tensor{"x": sinter.Of(slices.Repeat([]float32{1}, n), 1, n)}
	for i := range 16 { // each keeps a softmax of the weight, or that packed, or both
		p, err := sinter.Compile(sinter.Capture(x.MatMul(w.Mul(sinter.Scalar(float64(i))).Softmax(-1))), sinter.Options{Device: d})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context(), in)
		if err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
		if got, err := sinter.Values[float32](t.Context(), out[0]); err != nil || !(math.Abs(float64(got[n-1])-1) <= 1e-5) {
			t.Fatalf("program %d: %v, %v", i, got[n-1], err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 { // what is packed goes with the garbage
		if err := d.TrimMemory(); err != nil {
			t.Fatal(err)
		}
		if d.Stats().Allocated < size {
			break
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if s := d.Stats(); s.Allocated >= size {
		t.Errorf("trimmed, %+v", s)
	}
	runtime.KeepAlive(w)
}

// A device that is dropped with its programs and results is found by the garbage
// collector, without Close.
func TestDeviceDropped(t *testing.T) {
	use := func() weak.Pointer[sinter.Device] {
		d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		const n = 256
		x := sinter.Input("x", sinter.F32, sinter.N(n), sinter.N(n))
		p, err := sinter.Compile(sinter.Capture(x.MatMul(x).MatMul(x)), sinter.Options{Device: d})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), map[string]sinter.Tensor{"x": sinter.Of(make([]float32, n*n), n, n)}); err != nil {
			t.Fatal(err)
		}
		return weak.Make(d)
	}
	d := use()
	for range 200 {
		if runtime.GC(); d.Value() == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("a dropped device is still there")
}
