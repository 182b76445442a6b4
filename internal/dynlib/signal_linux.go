//go:build !android && (amd64 || arm64)

package dynlib

import (
	"syscall"
	"unsafe"
)

// maxSignal is the last of Linux's signals, real-time ones included.
const maxSignal = 64

// action is the kernel's struct sigaction, which differs from that of the C
// library. The handler is 0 for the default and 1 for a signal that is ignored.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// getAction and setAction ask the kernel, not the C library, which keeps two
// signals to itself.
func getAction(s int, a *action) bool {
	_, _, err := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(a)), 8, 0, 0)
	return err == 0
}

func setAction(s int, a *action) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(a)), 0, 8, 0, 0)
}
