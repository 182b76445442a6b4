package cl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
)

// fake opens the device of a driver that fails as told.
func fake(t *testing.T, f *cltest.Fake) *cl.Context {
	t.Helper()
	api := f.API()
	all, err := api.Devices()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d devices, %v", len(all), err)
	}
	c, err := api.NewContext(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNoDevices(t *testing.T) {
	all, err := (&cltest.Fake{NoDevices: true}).API().Devices()
	if len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// TestManyPlatforms has a driver that tells nonsense: nothing is allocated for
// it.
func TestManyPlatforms(t *testing.T) {
	a := (&cltest.Fake{}).API()
	a.GetPlatformIDs = func(n uint32, ids *cl.PlatformID, count *uint32) cl.Code {
		*count = 1 << 31
		return 0
	}
	if _, err := a.Devices(); err == nil || !strings.Contains(err.Error(), "2147483648 platforms") {
		t.Error(err)
	}
	a = (&cltest.Fake{}).API()
	a.GetDeviceIDs = func(_ cl.PlatformID, _ uint64, _ uint32, _ *cl.DeviceID, count *uint32) cl.Code {
		*count = 1 << 31
		return 0
	}
	if _, err := a.Devices(); err == nil || !strings.Contains(err.Error(), "2147483648 devices") {
		t.Error(err)
	}
}

// TestOneDriverFails beside another, whose device stays.
func TestOneDriverFails(t *testing.T) {
	a := (&cltest.Fake{}).API()
	ask := a.GetDeviceIDs
	a.GetPlatformIDs = func(n uint32, ids *cl.PlatformID, count *uint32) cl.Code {
		if count != nil {
			*count = 2
		}
		if ids != nil {
			*ids = 77 // the other stays 0
		}
		return 0
	}
	a.GetDeviceIDs = func(p cl.PlatformID, kind uint64, n uint32, ids *cl.DeviceID, count *uint32) cl.Code {
		if p == 77 {
			return cl.OutOfHostMemory
		}
		return ask(p, kind, n, ids, count)
	}
	all, err := a.Devices()
	if len(all) != 1 || !errors.Is(err, cl.OutOfHostMemory) || err.Error() != "Fake: clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestRefusedMemory(t *testing.T) {
	f := &cltest.Fake{Refuse: func(n int) bool { return n > 1<<20 }}
	c := fake(t, f)
	m, err := c.Alloc(1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1<<20 + 1, 1 << 40} {
		_, err = c.Alloc(n, false)
		var size *cl.SizeError
		if !errors.As(err, &size) || size.Size != n || !size.OutOfMemory() || !strings.Contains(err.Error(), "Fake GPU") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := errors.Join(m.Close(), c.Close()); err != nil || len(f.Live()) > 0 {
		t.Errorf("left open: %v, %v", f.Live(), err)
	}
}

func TestRefusedProgram(t *testing.T) {
	f := &cltest.Fake{BuildLog: "<kernel>:3: register allocation failed"}
	c := fake(t, f)
	_, err := c.Build("", "")
	if !errors.Is(err, cl.BuildProgramFailure) || !strings.Contains(err.Error(), "Fake GPU") || !strings.Contains(err.Error(), "register allocation failed") {
		t.Error(err)
	}
	if err := c.Close(); err != nil || len(f.Live()) > 0 {
		t.Errorf("left open: %v, %v", f.Live(), err)
	}
}

// TestLost loses the device in the middle of a run: what is waited for fails,
// all that follows too, and everything can still be closed.
func TestLost(t *testing.T) {
	f := &cltest.Fake{LoseAfter: 2}
	c := fake(t, f)
	q, err := c.NewQueue(false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Alloc(16, false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Build("", "")
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	l, err := cl.NewLaunch(k, []int{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Enqueue(l), q.Finish(), q.Read(make([]byte, 16), m, 0)); err != nil {
		t.Fatal(err)
	}
	e, err := q.EnqueueEvent(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(); !errors.Is(err, cl.OutOfResources) || !strings.Contains(err.Error(), "the device failed") {
		t.Errorf("waiting: %v", err)
	}
	for name, err := range map[string]error{"finish": q.Finish(), "read": q.Read(make([]byte, 16), m, 0), "write": q.Write(m, 0, make([]byte, 16)), "enqueue": q.Enqueue(l)} {
		if !errors.Is(err, cl.OutOfResources) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(e.Close(), k.Close(), p.Close(), m.Close(), q.Close(), c.Close()); err != nil || len(f.Live()) > 0 {
		t.Errorf("left open: %v, %v", f.Live(), err)
	}
}
