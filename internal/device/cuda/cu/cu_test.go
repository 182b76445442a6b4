package cu_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
)

// open opens the first device of a driver that is made for the test. At the end
// nothing may be left of it, and no call may have been wrong.
func open(t *testing.T, f *cutest.Fake) *cu.Context {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.NewContext(all[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		clean(t, f)
	})
	return c
}

func clean(t *testing.T, f *cutest.Fake) {
	t.Helper()
	if left := f.Live(); len(left) > 0 {
		t.Errorf("not given back: %v", left)
	}
	for _, fault := range f.Faults() {
		t.Error(fault)
	}
}

// must is what cannot fail, to be closed at the end.
func must[T interface{ Close() error }](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil && !errors.Is(err, cu.ErrClosed) {
			t.Errorf("%T: %v", v, err)
		}
	})
	return v
}

func stream(t *testing.T, c *cu.Context) *cu.Stream {
	t.Helper()
	s, err := c.NewStream()
	return must(t, s, err)
}

func memory(t *testing.T, c *cu.Context, n int) *cu.Memory {
	t.Helper()
	m, err := c.Alloc(n)
	return must(t, m, err)
}

// The driver reads these structures as cuda.h lays them out.
func TestLayout(t *testing.T) {
	var n cu.NodeParams
	var p cu.PoolProps
	for name, c := range map[string][2]uintptr{
		"func": {unsafe.Offsetof(n.Function), 0}, "gridDimX": {unsafe.Offsetof(n.Grid), 8}, "blockDimX": {unsafe.Offsetof(n.Block), 20},
		"sharedMemBytes": {unsafe.Offsetof(n.Shared), 32}, "kernelParams": {unsafe.Offsetof(n.Params), 40}, "extra": {unsafe.Offsetof(n.Extra), 48},
		"CUDA_KERNEL_NODE_PARAMS": {unsafe.Sizeof(n), 56},
		"location.id":             {unsafe.Offsetof(p.Device), 12}, "maxSize": {unsafe.Offsetof(p.MaxSize), 24}, "usage": {unsafe.Offsetof(p.Usage), 32},
		"CUmemPoolProps": {unsafe.Sizeof(p), 88},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, not %d", name, c[0], c[1])
		}
	}
}

func TestDevices(t *testing.T) {
	f := &cutest.Fake{Devices: 2, Names: []string{"First"}}
	api := f.API()
	all, err := api.Devices()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d devices, %v", len(all), err)
	}
	a, b := all[0], all[1]
	if a.Name != "First" || b.Name != "Fake GPU" || a.UUID == b.UUID || a.Capability() != 90 || a.Memory == 0 || a.Units == 0 || a.Warp != 32 ||
		a.Shared != 48<<10 || a.SharedMost != 227<<10 || !a.Pools || a.MaxGroup != 1024 {
		t.Errorf("%+v", *a)
	}
	if want := "face0000-0000-0000-0000-000000000001"; b.UUID != want || b.PCI != "0000:02:00.0" {
		t.Errorf("UUID %s, PCI %s", b.UUID, b.PCI)
	}
	if got := api.DriverText(); got != "CUDA 12.4" {
		t.Errorf("driver %q", got)
	}
	api.NVML = &cu.NVML{Driver: "550.54.14", Free: func(string) uint64 { return 7 }}
	if got := api.DriverText(); got != "CUDA 12.4, driver 550.54.14" || api.Free(a) != 7 {
		t.Errorf("driver %q", got)
	}
}

func TestNoDevices(t *testing.T) {
	_, err := (&cutest.Fake{Init: cu.NoDevice}).API().Devices()
	if !errors.Is(err, cu.NoDevice) || err.Error() != "cuInit: CUDA_ERROR_NO_DEVICE" {
		t.Error(err)
	}
	_, err = (&cutest.Fake{Version: 10020, Init: cu.NoDevice}).API().Devices()
	var version *cu.VersionError
	if !errors.As(err, &version) || !strings.Contains(err.Error(), "CUDA 10.2, and 11.4") {
		t.Error(err)
	}
	a := (&cutest.Fake{}).API()
	a.DeviceGetCount = func(n *int32) cu.Code {
		*n = 1 << 30
		return 0
	}
	if _, err := a.Devices(); err == nil || !strings.Contains(err.Error(), "1073741824 devices") {
		t.Error(err)
	}
}

// TestTransfers moves bytes of sizes below and above that of a stage, whole and
// in parts.
func TestTransfers(t *testing.T) {
	for name, f := range map[string]*cutest.Fake{"pool": {}, "old": {NoPools: true}} {
		t.Run(name, func(t *testing.T) {
			c := open(t, f)
			s := stream(t, c)
			for _, n := range []int{1, 1000, 1 << 20, 4<<20 - 1, 8 << 20, 21<<20 + 5} {
				data := make([]byte, n)
				r := rand.New(rand.NewPCG(uint64(n), 1))
				for i := range data {
					data[i] = byte(r.Uint32())
				}
				m, other := memory(t, c, n+3), memory(t, c, n)
				if err := errors.Join(s.Write(m, 3, data), s.Copy(other, 0, m, 3, n), s.Zero(m, 3, n)); err != nil {
					t.Fatal(err)
				}
				got, zero := make([]byte, n), make([]byte, n)
				if err := errors.Join(s.Read(got, other, 0), s.Read(zero, m, 3)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, data) {
					t.Errorf("%d bytes differ", n)
				}
				if !bytes.Equal(zero, make([]byte, n)) {
					t.Errorf("%d bytes are not 0", n)
				}
				for what, err := range map[string]error{"write": s.Write(m, 4, data), "read": s.Read(got, other, 1), "copy": s.Copy(other, 1, m, 0, n), "zero": s.Zero(m, -1, 1)} {
					if err == nil || !strings.Contains(err.Error(), "outside the buffer") {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		})
	}
}

const module = ".visible .entry first(\n.visible .entry second("

func kernel(t *testing.T, c *cu.Context) *cu.Function {
	t.Helper()
	m, err := c.Load(module)
	must(t, m, err)
	k, err := m.Function("second")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestGraph(t *testing.T) {
	f := &cutest.Fake{}
	c := open(t, f)
	k := kernel(t, c)
	if k.Registers != 32 || k.MaxGroup != 1024 {
		t.Errorf("%+v", k)
	}
	var launches []*cu.Launch
	for range 3 {
		l, err := cu.NewLaunch(k, 7, 256, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		launches = append(launches, l)
	}
	if !launches[1].Set(1, 5) || launches[1].Set(1, 5) {
		t.Error("Set does not tell whether the value is another")
	}
	g, err := c.NewGraph(launches)
	must(t, g, err)
	s := stream(t, c)
	if err := errors.Join(g.Update(2), g.Run(s, nil), s.Start(launches[0]), s.Wait()); err != nil {
		t.Fatal(err)
	}
	if n := f.Started(); n != 4 {
		t.Errorf("%d kernels started", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := errors.Join(g.Update(1), g.Run(s, nil)); err != nil {
			t.Fatal(err)
		}
	}); n > 4 { // those of the fake
		t.Errorf("a run allocates %v times", n)
	}
}

func TestLaunchRefused(t *testing.T) {
	c := open(t, &cutest.Fake{})
	k := kernel(t, c)
	for what, err := range map[string]error{
		"1025 threads": second(cu.NewLaunch(k, 1, 1025, 0, 0)), "on 0 blocks": second(cu.NewLaunch(k, 0, 1, 0, 0)),
		"needs 262144 bytes of shared memory": second(cu.NewLaunch(k, 1, 1, 256<<10, 0)),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := cu.NewLaunch(k, 1, 1, 100<<10, 0); err != nil {
		t.Error(err)
	}
	m, err := c.Load(module)
	must(t, m, err)
	if _, err := m.Function("third"); !errors.Is(err, cu.NotFound) || !strings.Contains(err.Error(), "third") {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestEvents(t *testing.T) {
	c := open(t, &cutest.Fake{})
	s, k := stream(t, c), kernel(t, c)
	var es [2]*cu.Event
	for i := range es {
		e, err := c.NewEvent(true)
		es[i] = must(t, e, err)
	}
	l, err := cu.NewLaunch(k, 1, 1, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Record(es[0]), s.Start(l), s.Record(es[1]), s.WaitFor(es[1]), es[1].Wait()); err != nil {
		t.Fatal(err)
	}
	if done, err := es[1].Done(); !done || err != nil {
		t.Error(done, err)
	}
	if d, err := es[1].Since(es[0]); d.Milliseconds() != 1 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
}

// TestThreads has goroutines use a context that move between threads. What was
// current on a thread before a call is so afterwards.
func TestThreads(t *testing.T) {
	f := &cutest.Fake{}
	c := open(t, f)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				m, err := c.Alloc(1000)
				if err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if f.Current() {
		t.Error("a context is still current somewhere")
	}
}

func TestRefusedMemory(t *testing.T) {
	c := open(t, &cutest.Fake{Refuse: func(n int) bool { return n > 1<<20 }})
	memory(t, c, 1<<20)
	for _, n := range []int{1<<20 + 1, 1 << 40} {
		_, err := c.Alloc(n)
		var size *cu.SizeError
		if !errors.As(err, &size) || size.Size != n || !errors.Is(err, cu.OutOfMemory) || !size.OutOfMemory() || !strings.Contains(err.Error(), "4294967296 in all") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := c.Alloc(0); err == nil {
		t.Error("a buffer of nothing")
	}
	if c.Cached() != 0 {
		t.Error("cached")
	}
	if err := c.Trim(); err != nil {
		t.Error(err)
	}
}

func TestRefusedProgram(t *testing.T) {
	for _, test := range []struct {
		code  cu.Code
		wants string
	}{{0, "line 3: unknown symbol"}, {cu.UnsupportedPTXVersion, "update NVIDIA's driver"}, {cu.NoJITCompiler, "libnvidia-ptxjitcompiler"}} {
		c := open(t, &cutest.Fake{Log: "line 3: unknown symbol", BuildCode: test.code})
		_, err := c.Load(module)
		var build *cu.BuildError
		if !errors.As(err, &build) || !strings.Contains(err.Error(), test.wants) || !strings.Contains(err.Error(), "Fake GPU") {
			t.Error(err)
		}
	}
}

// TestLost loses the device in the middle of a run: what is waited for fails,
// all that follows too, everything can still be closed, and the device be opened
// anew.
func TestLost(t *testing.T) {
	for _, code := range []cu.Code{cu.LaunchFailed, cu.UncorrectableECC, cu.IllegalAddress, cu.Unknown} {
		t.Run(code.String(), func(t *testing.T) { lose(t, &cutest.Fake{LoseAfter: 2, LoseWith: code}) })
	}
}

func lose(t *testing.T, f *cutest.Fake) {
	t.Cleanup(func() { clean(t, f) })
	api, code := f.API(), f.LoseWith
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.NewContext(all[0])
	must(t, c, err)
	other, err := api.NewContext(all[0])
	must(t, other, err)
	s, m, kept := stream(t, c), memory(t, c, 16), memory(t, other, 16)
	l, err := cu.NewLaunch(kernel(t, c), 1, 1, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Start(l), s.Wait(), s.Start(l)); err != nil {
		t.Fatal(err)
	}
	var lost *cu.LostError
	if err := s.Wait(); !errors.As(err, &lost) || !errors.Is(err, code) || !strings.Contains(err.Error(), "the device failed: Fake GPU") {
		t.Errorf("waiting: %v", err)
	}
	for name, err := range map[string]error{
		"start": s.Start(l), "read": s.Read(make([]byte, 16), m, 0), "write": s.Write(m, 0, make([]byte, 16)),
		"alloc": second(c.Alloc(1)), "build": second(c.Load(module)), "lost": c.Lost(),
	} {
		if !errors.Is(err, code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := api.NewContext(all[0])
	must(t, again, err)
	fresh := memory(t, again, 16)
	if !errors.Is(other.Lost(), code) {
		t.Error("another that was open is not lost")
	}
	if err := errors.Join(m.Close(), kept.Close(), s.Close(), c.Close(), other.Close()); err != nil {
		t.Errorf("closing what is lost: %v", err)
	}
	if err := errors.Join(fresh.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}

// TestBroken opens a device that fails whatever is done.
func TestBroken(t *testing.T) {
	f := &cutest.Fake{Broken: true}
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.NewContext(all[0]); !errors.Is(err, cu.UncorrectableECC) {
		t.Error(err)
	}
	clean(t, f)
}

// TestClosedEarly closes a context before what was made with it.
func TestClosedEarly(t *testing.T) {
	f := &cutest.Fake{}
	api := f.API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.NewContext(all[0])
	if err != nil {
		t.Fatal(err)
	}
	m, s := memory(t, c, 16), stream(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Alloc(1); !errors.Is(err, cu.ErrClosed) || !errors.Is(c.Close(), cu.ErrClosed) {
		t.Error(err)
	}
	if err := errors.Join(s.Write(m, 0, []byte{1}), m.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	clean(t, f)
}

// A driver that does not say when what it runs has ended is not used any more:
// memory of that stays until the device is given back, and can be had anew then.
func TestWaitFails(t *testing.T) {
	for _, code := range []cu.Code{cu.OutOfMemory, cu.OperatingSystem, cu.InvalidHandle} {
		fails := false
		f := &cutest.Fake{WaitFails: func() cu.Code {
			if fails {
				return code
			}
			return 0
		}}
		api := f.API()
		all, err := api.Devices()
		if err != nil {
			t.Fatal(err)
		}
		c, err := api.NewContext(all[0])
		must(t, c, err)
		s, from, to := stream(t, c), memory(t, c, 16), memory(t, c, 16)
		if err := s.Copy(to, 0, from, 0, 16); err != nil {
			t.Fatal(err)
		}
		fails = true
		var lost *cu.LostError
		if err := s.Wait(); !errors.As(err, &lost) || !errors.Is(err, code) || !strings.Contains(err.Error(), "the device failed: Fake GPU") {
			t.Errorf("waiting: %v", err)
		}
		fails = false
		for name, err := range map[string]error{
			"copy": s.Copy(from, 0, to, 0, 16), "wait": s.Wait(), "read": s.Read(make([]byte, 16), to, 0), "alloc": second(c.Alloc(1)), "lost": c.Lost(),
		} {
			if !errors.Is(err, code) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(to.Close(), from.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if left := f.Live(); !slices.Contains(left, "cuMemAlloc") {
			t.Errorf("memory that may be written was freed: %v", left)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		again, err := api.NewContext(all[0])
		must(t, again, err)
		if err := errors.Join(memory(t, again, 16).Close(), again.Lost(), again.Close()); err != nil {
			t.Error(err)
		}
		clean(t, f)
	}
}
