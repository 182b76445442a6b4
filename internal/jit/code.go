// Package jit runs machine code that the program generated: executable
// memory, the trampoline into it, a pool of workers, and memory outside the Go
// heap for the code to work on.
//
// The contract of the code that [Call] enters:
//
//   - It is a leaf: it never moves SP and never pushes, so that a fault inside
//     it finds the trampoline's return address and becomes a Go panic.
//   - It keeps the frame pointer (BP; on arm64 R29, and R18, R28, R30), which the
//     profiler and the tracer follow. All other registers are free.
//   - On amd64 it ends with VZEROUPPER if it touched ymm or zmm registers.
//   - It runs for at most about 100 microseconds, or the garbage collector's
//     stop-the-world waits for it.
//   - Scratch memory comes in through the argument struct.
//
// Neither bounds checks nor the race detector see its memory accesses: callers
// check shapes in Go, and tests use [AllocGuarded] and [AllocCanary].
package jit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// ErrNoExec says that this process cannot get executable memory: the platform
// has none, or the operating system refused every way of asking. Callers use
// the generic kernels instead.
var ErrNoExec = errors.New("jit: no executable memory")

// Code is one sealed slab of machine code. Its pages were writable before they
// became executable and are never both. The owner counts the users: Close
// unmaps the pages while nobody looks.
type Code struct {
	mu   sync.Mutex
	mem  []byte // whole pages; nil once closed
	size int
}

// Map copies code into fresh executable pages.
func Map(code []byte) (*Code, error) {
	if len(code) == 0 {
		return nil, errors.New("jit: no code to map")
	}
	mem, err := mapExec(code)
	if err != nil {
		return nil, err
	}
	return &Code{mem: mem, size: len(code)}, nil
}

// Size is the number of bytes of code, without the padding of the last page.
func (c *Code) Size() int { return c.size }

// Entry is the address of the instruction at offset, for Call. It is 0, which
// no code has, for a closed slab and for an offset outside it.
func (c *Code) Entry(offset int) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mem == nil || offset < 0 || offset >= c.size {
		return 0
	}
	return uintptr(unsafe.Pointer(&c.mem[offset]))
}

// Close unmaps the pages. A second Close does nothing.
func (c *Code) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mem == nil {
		return nil
	}
	mem := c.mem
	c.mem = nil
	if err := unmapExec(mem); err != nil {
		return fmt.Errorf("jit: unmap code: %w", err)
	}
	return nil
}

// roundToPage returns n rounded up to whole pages.
func roundToPage(n int) int {
	p := os.Getpagesize()
	return (n + p - 1) &^ (p - 1)
}

// noExec wraps the operating system's refusals in ErrNoExec.
func noExec(refusals ...error) error {
	return fmt.Errorf("%w: %w", ErrNoExec, errors.Join(refusals...))
}
