package sinter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// want fails unless x has exactly these values.
func want[T Elem](t *testing.T, x Tensor, values ...T) {
	t.Helper()
	got, err := Values[T](context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(values) {
		t.Fatalf("got %v, want %v", got, values)
	}
}

func TestBroadcastAndScalars(t *testing.T) {
	x := Of([]float32{1, 2, 3, 4}, 2, 2)
	want[float32](t, x.Mul(Scalar(2)).Add(Of([]float32{10, 20}, 2)), 12, 24, 16, 28)
	want[int64](t, Scalar(7).Sub(Of([]int64{1, 2}, 2)), 6, 5)
	want[float32](t, Scalar(7).Sub(Scalar(2)), 5)
	want[int32](t, Scalar(-1.5).Cast(I32), -1)
	want[float64](t, Scalar(0.1).Cast(F64), 0.1)
	want[float64](t, Scalar(0.1).Add(Of([]float64{0}, 1)), 0.1)
}

func TestErrorsStick(t *testing.T) {
	x := Of([]float32{1, 2, 3, 4}, 2, 2)
	bad := x.Add(Of([]int32{1}, 1))
	later := bad.Mul(x).Exp()
	var e *ShapeError
	if !errors.As(later.Err(), &e) {
		t.Fatalf("%v is no ShapeError", later.Err())
	}
	if e.Op != "Add" || !strings.HasPrefix(e.Caller[strings.LastIndex(e.Caller, "/")+1:], "trace_test.go:") {
		t.Errorf("op %q at %q", e.Op, e.Caller)
	}
	if !slices.Equal(e.DTypes, []DType{F32, I32}) || len(e.Shapes) != 2 {
		t.Errorf("dtypes %v, shapes %v", e.DTypes, e.Shapes)
	}
	if !strings.Contains(e.Error(), "Cast") {
		t.Errorf("%v does not name Cast", e)
	}
	if _, err := Values[float32](context.Background(), later); err != bad.Err() {
		t.Errorf("resolving gave %v", err)
	}
	if err := Scalar(1.5).Add(Of([]int32{1}, 1)).Err(); err == nil {
		t.Error("1.5 became an i32")
	}
}
