package sinter

import (
	"context"
	"runtime"
	"testing"
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
