package cl_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/effort"
)

// device opens the first device of the system's drivers. Where everything has
// to be tested there must be one.
func device(t testing.TB) *cl.Context {
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
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func TestDevices(t *testing.T) {
	d := device(t).Device
	t.Logf("%+v", d)
	if d.Name == "" || d.Vendor == "" || d.Driver == "" || !strings.HasPrefix(d.Version, "OpenCL ") {
		t.Errorf("the device does not say what it is: %+v", d)
	}
	if d.Memory == 0 || d.MaxAlloc == 0 || d.Units == 0 || d.MaxGroup == 0 || len(d.MaxItems) < 3 || d.Align == 0 || d.AddressBit != 64 {
		t.Errorf("limits are missing: %+v", d)
	}
	if !d.F32.Supported || !d.F32.Nearest || !d.F32.InfNaN || !d.HasCompiler {
		t.Errorf("a device that sinter cannot use: %+v", d)
	}
	if d.CPU && !d.Software() {
		t.Error("a processor is software")
	}
}

const source = `
__kernel void axpy(__global const float *x, __global float *y, const float a, const uint n) {
	uint i = get_global_id(0);
	if (i < n) y[i] = fma(a, x[i], y[i]);
}`

// closing closes at the end of the test, and says what cannot be.
func closing(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	})
}

// TestRun computes something from the caller's memory and from the device's,
// with a program from source and with its binary.
func TestRun(t *testing.T) {
	c := device(t)
	program, err := c.Build(source, "-cl-std=CL1.2")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, program)
	b, err := program.Binary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.BuildBinary(b, "-cl-std=CL1.2")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, again)
	for _, p := range []*cl.Program{program, again} {
		axpy(t, c, p)
	}
}

func axpy(t *testing.T, c *cl.Context, p *cl.Program) {
	const n = 1000
	host := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(host[4*i:], math.Float32bits(float32(i)))
	}
	x, err := c.Use(host)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, x)
	y, err := c.Alloc(4*n, true)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, y)
	q, err := c.NewQueue(true)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, q)
	k, err := p.Kernel("axpy")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, k)
	limits, err := k.Limits()
	if err != nil || limits.MaxGroup < 1 || limits.Multiple < 1 {
		t.Errorf("%+v, %v", limits, err)
	}
	err = errors.Join(q.Zero(y, 0, y.Size), k.SetMemory(0, x), k.SetMemory(1, y), k.SetInt32(2, int32(math.Float32bits(3))), k.SetInt32(3, n))
	if err != nil {
		t.Fatal(err)
	}
	l, err := cl.NewLaunch(k, []int{1024}, []int{64})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Enqueue(l), l.SetRange([]int{n}, nil)); err != nil {
		t.Fatal(err)
	}
	e, err := q.EnqueueEvent(l)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, e)
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	if done, err := e.Done(); !done || err != nil {
		t.Error("not done after waiting", err)
	}
	if ran, err := e.Ran(); ran <= 0 || err != nil {
		t.Errorf("ran for %v, %v", ran, err)
	}
	got := make([]byte, 4*n)
	if err := q.Read(got, y, 0); err != nil {
		t.Fatal(err)
	}
	mapped, err := q.Map(y)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(mapped, got) {
		t.Error("what is mapped is not what was read")
	}
	if err := errors.Join(q.Unmap(y, mapped), q.Finish()); err != nil {
		t.Error(err)
	}
	for i, v := range floats(got) {
		if v != 6*float32(i) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

func TestTransfers(t *testing.T) {
	c := device(t)
	q, err := c.NewQueue(false)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, q)
	m, err := c.Alloc(8192, false)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, m)
	part, err := m.Part(4096, 4096)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, part)
	err = errors.Join(q.Zero(m, 0, 8192), q.Write(part, 1, []byte("sinter")), q.Copy(m, 5, m, 4097, 6), q.Flush())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 13)
	if err := q.Read(got, m, 0); err != nil || string(got) != "\x00\x00\x00\x00\x00sinter\x00\x00" {
		t.Errorf("%q, %v", got, err)
	}
	for _, err := range []error{q.Read(got, m, 8192-12), q.Write(m, -1, got), q.Copy(m, 0, part, 4090, 7), q.Zero(m, 1, math.MaxInt)} {
		if err == nil || !strings.Contains(err.Error(), "outside the buffer") {
			t.Errorf("outside a buffer: %v", err)
		}
	}
}

func TestErrors(t *testing.T) {
	c := device(t)
	_, err := c.Build("__kernel void f(__global float *x) { x[0] = undeclared; }", "")
	var build *cl.BuildError
	if !errors.As(err, &build) || !strings.Contains(err.Error(), "undeclared") || !errors.Is(err, cl.BuildProgramFailure) {
		t.Errorf("the log is not in the error: %v", err)
	}
	if _, err := c.BuildBinary([]byte("no binary"), ""); err == nil {
		t.Error("text was taken for a binary")
	}
	p, err := c.Build(source, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Kernel("nothing"); err == nil || !strings.Contains(err.Error(), "clCreateKernel nothing: CL_INVALID_KERNEL_NAME") {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); !errors.Is(err, cl.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	var size *cl.SizeError
	if _, err := c.Alloc(math.MaxInt/2, false); !errors.As(err, &size) {
		t.Errorf("a buffer beyond all memory: %v", err)
	}
}

// TestSignals has Go recover from a fault after drivers and their compilers have
// been at work, which may have taken its signals.
func TestSignals(t *testing.T) {
	c := device(t)
	p, err := c.Build(source, "")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, p)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var none *int
	*none = 1
}

// BenchmarkEnqueue is what starting a kernel costs on the host, with its
// driver.
func BenchmarkEnqueue(b *testing.B) {
	c := device(b)
	p, err := c.Build("__kernel void nothing(const int i) {}", "")
	if err != nil {
		b.Fatal(err)
	}
	closing(b, p)
	k, err := p.Kernel("nothing")
	if err != nil {
		b.Fatal(err)
	}
	closing(b, k)
	q, err := c.NewQueue(false)
	if err != nil {
		b.Fatal(err)
	}
	closing(b, q)
	l, err := cl.NewLaunch(k, []int{1}, []int{1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := errors.Join(k.SetInt32(0, 1), q.Enqueue(l), q.Finish()); err != nil {
			b.Fatal(err)
		}
	}
}
