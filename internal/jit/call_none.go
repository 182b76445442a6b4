//go:build !amd64 && !arm64

package jit

import (
	"runtime"
	"unsafe"
)

// Call exists for the compiler alone: without a trampoline Map returns
// ErrNoExec, so there is no entry to call.
func Call(entry uintptr, args unsafe.Pointer) {
	panic("jit: no trampoline for " + runtime.GOARCH)
}

func pause(n uint32) {}
