package sinter

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
)

// Values that are being read outlive their release: the memory is not given to
// the next result before the reader is done.
func TestReleaseWhileReading(t *testing.T) {
	const n = 1 << 16
	ctx, d := context.Background(), open(t, "cpu")
	ctx = WithDevice(ctx, d)
	eval := func(v float64) Tensor {
		out, err := Eval(ctx, Full(F32, v, N(n)).Neg())
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	x := eval(1)
	s := x.v.leaf().store
	held := d.Stats().Allocated
	var others []Tensor
	err := s.read(ctx, func(b []byte) error {
		x.Release()
		if _, err := Values[float32](ctx, x); err == nil {
			t.Error("a released value was read anew")
		}
		if _, err := Eval(ctx, x.Abs()); err == nil {
			t.Error("a released value was used anew")
		}
		for i := range 8 {
			others = append(others, eval(float64(i+2)))
		}
		if d.Stats().Allocated < held+8*4*n {
			t.Error("memory was given back under the reader")
		}
		values := make([]float32, n)
		copy(bytesOf(values), b)
		for _, v := range values {
			if v != -1 {
				t.Fatal("read", v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.buffers != nil || s.counted != 0 || d.Stats().Allocated >= held+8*4*n {
		t.Error("memory was not given back after the reader")
	}
	runtime.KeepAlive(others)
}

// Values that Of copied wait for the next batch when they are dropped, and not
// for ever.
func TestHostMemoryIsGivenBack(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("takes ten seconds")
	}
	t.Parallel()
	const n = 96 << 20
	of := func() { runtime.KeepAlive(Of(make([]byte, n), n)) }
	await := func(what string, limit time.Duration, done func() bool) {
		t.Helper()
		for begin := time.Now(); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begin) > limit {
				t.Fatalf("%s: %+v", what, hostMemory.Stats())
			}
		}
	}
	of()
	await("not freed", time.Minute, func() bool { runtime.GC(); return hostMemory.Stats().Cached >= n })
	await("kept for ever", 4*hostLinger, func() bool { runtime.GC(); return hostMemory.Stats().Cached < n })
}
