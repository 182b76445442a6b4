package sinter_test

import (
	"context"
	"testing"

	"github.com/sinterml/sinter"
)

// TestRelease gives results back at once: later use is an error, what was read
// before stays, and a variable keeps its value.
func TestRelease(t *testing.T) {
	ctx := context.Background()
	d, err := sinter.OpenCPU(sinter.CPUOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx = sinter.WithDevice(ctx, d)
	const n = 1 << 20
	x := sinter.Ones(sinter.F32, sinter.N(n))
	out, err := sinter.Eval(ctx, x.Add(x))
	if err != nil {
		t.Fatal(err)
	}
	values, err := sinter.Values[float32](ctx, out[0])
	if err != nil {
		t.Fatal(err)
	}
	before := d.Stats().Allocated
	out[0].Release()
	out[0].Release() // twice does nothing
	if after := d.Stats().Allocated; after > before-4*n {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if values[n-1] != 2 {
		t.Error("what was read has changed")
	}
	if _, err := sinter.Values[float32](ctx, out[0].Neg()); err == nil {
		t.Error("a released value was used")
	}
	v := sinter.NewVariable("v", sinter.Ones(sinter.F32, sinter.N(8)))
	assigned, err := sinter.Eval(ctx, v.Assign(v.Tensor().Add(sinter.Scalar(1))))
	if err != nil {
		t.Fatal(err)
	}
	assigned[0].Release()
	if got, err := sinter.Values[float32](ctx, v.Tensor()); err != nil || got[0] != 2 {
		t.Errorf("the variable is %v, %v", got, err)
	}
	sinter.Tensor{}.Release()
}
