package jit

import (
	"fmt"
	"runtime/debug"
)

// FaultError is an access to memory that is not there: a file that shrank
// under its mapping, or a kernel that left its buffers.
type FaultError struct {
	Addr uintptr // where, as far as the operating system tells
	Err  error   // the runtime's error
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("jit: memory fault at %#x (was a mapped file truncated?): %v", e.Addr, e.Err)
}

func (e *FaultError) Unwrap() error { return e.Err }

// PanicError is a panic in a task, with the stack of the goroutine it hit.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("jit: panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the panic's value where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Protect calls f so that a memory fault in it, which would otherwise kill the
// process, and any panic come back as an error. It is for code that touches
// mapped files or runs kernels outside a Pool, which protects its tasks itself.
func Protect(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	return f()
}

// panicError is called while a panic is being recovered. The runtime's error
// for a fault has an address. That for the first page, a nil pointer, has none:
// it is a mistake of the program and keeps its stack.
func panicError(v any) error {
	if fault, ok := v.(interface {
		error
		Addr() uintptr
	}); ok {
		return &FaultError{Addr: fault.Addr(), Err: fault}
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}
