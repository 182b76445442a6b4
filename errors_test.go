package sinter_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
)

// An error names the function that was called and the line of the call, also
// when it is found by another function that it calls, or in a closure.
func TestErrorsNameTheCall(t *testing.T) {
	x, half := sinter.Of([]float32{1, 2}, 2), sinter.Of([]sinter.Float16{0, 0}, 2)
	three, none := sinter.Of([]float32{1, 2, 3}, 3), sinter.Tensor{}
	_, file, first, _ := runtime.Caller(0)
	calls := []struct {
		op string
		x  sinter.Tensor
	}{
		{"Softmax", x.Softmax(5)},
		{"LogSoftmax", x.LogSoftmax(5)},
		{"Softmax", half.Softmax(5)},
		{"Mean", x.Mean(5)},
		{"Var", x.Var(0, 5)},
		{"Std", x.Std(0, 5)},
		{"LogSumExp", x.LogSumExp(5)},
		{"SegmentMean", sinter.SegmentMean(x, x)},
		{"OneHot", sinter.OneHot(sinter.Of([]uint8{1}, 1), 257)},
		{"LayerNorm", sinter.LayerNorm(x, three, none, 0)},
		{"RMSNorm", sinter.RMSNorm(x, three, 0)},
		{"GroupNorm", sinter.GroupNorm(x.Reshape(1, 2), 1, three, none, 0)},
		{"Einsum", sinter.Einsum("ij->i", x)},
		{"MSE", sinter.MSE(x, three)},
		{"Dot", x.Dot(three)},
		{"Conv", sinter.Conv(x, x, sinter.ConvOptions{})},
		{"TopK", first2(x.TopK(3, 0))},
	}
	for i, c := range calls {
		var e *sinter.ShapeError
		want := filepath.Base(file) + ":" + strconv.Itoa(first+5+i)
		if err := c.x.Err(); !errors.As(err, &e) || e.Op != c.op || filepath.Base(e.Caller) != want {
			t.Fatalf("%v: want the error of %s at %s", err, c.op, want)
		}
		if strings.Contains(e.Error(), "none") || strings.Contains(e.Error(), "rank 0") {
			t.Errorf("%v: not the first fault", e)
		}
	}
}

// A precision is of the type of dtypes, and none of tensors.
func TestPrecisionIsNoDType(t *testing.T) {
	x, two := sinter.Of([]float32{1}, 1), sinter.N(2)
	for _, p := range []sinter.Precision{sinter.Int8, sinter.Int4, sinter.TF32} {
		for name, y := range map[string]sinter.Tensor{
			"Cast": x.Cast(p), "Bitcast": x.Bitcast(p), "Input": sinter.Input("x", p), "Weight": sinter.Weight("w", p, nil, 0),
			"Zeros": sinter.Zeros(p, two), "Iota": sinter.Iota(p, 0, two), "Arange": sinter.Arange(p, 0, 2, 1), "Eye": sinter.Eye(p, two),
		} {
			if err := y.Err(); err == nil || !strings.Contains(err.Error(), "is a precision of programs") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Offsets of an attention that are wrong are said to be so once, and those that
// lack are named.
func TestAttentionOffsets(t *testing.T) {
	x := sinter.Ones(sinter.F32, sinter.Dims(3, 1, 4)...)
	off := sinter.Of([]int32{0, 3}, 2)
	for want, o := range map[string]sinter.AttentionOptions{
		"offsets are computed":                {QOffsets: off.Add(sinter.Scalar(0))},
		"KOffsets are given, and no QOffsets": {KOffsets: off},
	} {
		out, _ := sinter.Attention(x, x, x, o)
		if err := out.Err(); err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func first2(x, _ sinter.Tensor) sinter.Tensor { return x }

// Functions that look at some operands before others.
var inTurn = map[string]bool{".BatchNorm": true, ".BatchNormTrain": true, ".GroupNorm": true}

// What is made from a tensor with an error has that error, and no other.
func TestErrorsPassThrough(t *testing.T) {
	bad := sinter.Of([]float32{1}, 2)
	calls := map[string]reflect.Value{}
	for name, f := range functions {
		calls[name] = reflect.ValueOf(f)
	}
	addMethods(calls, "bad", reflect.ValueOf(bad))
	good := sinter.Of([]float32{1, 2, 3, 4}, 2, 2)
	addMethods(calls, "good", reflect.ValueOf(good))
	tensor := reflect.TypeFor[sinter.Tensor]()
	for name, f := range calls {
		typ := f.Type()
		var given []int // the operands
		args := make([]reflect.Value, typ.NumIn())
		for i := range args {
			args[i] = reflect.Zero(typ.In(i))
			if typ.In(i) == tensor {
				args[i], given = reflect.ValueOf(good), append(given, i)
			}
		}
		if typ.NumOut() == 0 || typ.Out(0) != tensor {
			continue
		}
		check := func(args []reflect.Value, what string) {
			call := f.Call
			if typ.IsVariadic() {
				call = f.CallSlice
			}
			if y := call(args)[0].Interface().(sinter.Tensor); y.Err() != bad.Err() {
				t.Errorf("%s, %s: the result has the error %v", name, what, y.Err())
			}
		}
		if strings.HasPrefix(name, "bad.") {
			check(args, "receiver")
		}
		for _, i := range given {
			if inTurn[name] && i > 0 {
				break
			}
			changed := slices.Clone(args)
			changed[i] = reflect.ValueOf(bad)
			check(changed, "operand "+strconv.Itoa(i))
		}
	}
}
