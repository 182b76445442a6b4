package sinter

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// ErrClosed is returned by a Device or Program that was closed before.
var ErrClosed = device.ErrClosed

// IndexError is an index outside a tensor, found while a program ran.
type IndexError = device.IndexError

// DivisionError is an integer division by zero, found while a program ran.
type DivisionError = device.DivisionError

// OutOfMemoryError is memory that a device has no room for, with how much was
// asked for and is in use.
type OutOfMemoryError = device.OutOfMemoryError

// ShapeError is an operation whose operands do not fit. It sticks to the
// tensors made from the result and is returned by what resolves them.
type ShapeError struct {
	Op     string  // the function or method called
	Shapes [][]Dim // of the operands
	DTypes []DType // of the operands
	Caller string  // file:line of the call
	Err    error   // what does not fit, and what to do
}

func (e *ShapeError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	for i, s := range e.Shapes {
		sep := " and "
		if i == 0 {
			sep = " of "
		}
		t := ir.Type{Shape: s}
		if i < len(e.DTypes) {
			t.DType = e.DTypes[i]
		}
		fmt.Fprintf(&b, "%s%v", sep, t)
	}
	if e.Caller != "" {
		b.WriteString(" at " + e.Caller)
	}
	if e.Err != nil { // the zero ShapeError has none
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *ShapeError) Unwrap() error { return e.Err }

var errZero = errors.New("the zero Tensor has no value: make one with Of, Input or an operation")

// fail makes the tensor of a failed operation.
func fail(err error, in ...Tensor) Tensor {
	e := &ShapeError{Err: err}
	for _, x := range in {
		if v := x.load(); v.err == nil {
			e.Shapes = append(e.Shapes, v.Shape)
			e.DTypes = append(e.DTypes, v.DType)
		}
	}
	e.Op, e.Caller = caller()
	return Tensor{&value{err: e}}
}

func failf(in []Tensor, format string, args ...any) Tensor {
	return fail(fmt.Errorf(format, args...), in...)
}

// Fail is a tensor whose error is err: for functions that make tensors of others
// and find what their caller got wrong. The error becomes a ShapeError with the
// operands and the place of the call, unless it wraps one already.
func Fail(err error, operands ...Tensor) Tensor {
	if err == nil {
		err = errors.New("it failed without an error")
	}
	var known *ShapeError
	if errors.As(err, &known) {
		return Tensor{&value{err: err}}
	}
	return fail(err, operands...)
}

// firstErr returns the operand that failed first, if any: errors pass through
// operations unchanged.
func firstErr(in ...Tensor) (Tensor, bool) {
	for _, x := range in {
		v := x.load()
		if v == zeroValue {
			return fail(errZero), true
		}
		if v.err != nil {
			return x, true
		}
	}
	return Tensor{}, false
}

const thisPackage = "github.com/sinterml/sinter."

// thisFolder is where the compiler found the files of this package.
var thisFolder = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(file)
}()

// callees are the folders whose code is not what a caller wants to hear of: this
// package and what is made of it, that makes graphs for others.
var callees = []string{thisFolder, thisFolder + "/nn", thisFolder + "/optim", thisFolder + "/train"}

// caller walks up the stack to the code that called this package, or one of those
// above it: what it called, and from where. Tests count as callers.
func caller() (op, at string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		// The file tells: a closure of this package bears the name of the
		// function that its surroundings were inlined into.
		if !slices.Contains(callees, path.Dir(f.File)) || strings.HasSuffix(f.File, "_test.go") {
			return op, fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		op = functionName(f.Function)
		if !more {
			return op, ""
		}
	}
}

// functionName is Softmax for github.com/sinterml/sinter.Tensor.Softmax and
// Of for github.com/sinterml/sinter.Of[...].
func functionName(f string) string {
	f = strings.TrimPrefix(f, thisPackage)
	f, _, _ = strings.Cut(f, "[")
	return f[strings.LastIndex(f, ".")+1:]
}

func axisError(axis, rank int) error {
	return fmt.Errorf("axis %d is outside rank %d", axis, rank)
}

func repeatedAxes(axes []int) error {
	return fmt.Errorf("an axis comes twice in %v", axes)
}
