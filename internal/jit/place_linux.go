package jit

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mayPlace tells that threads may be moved. A service manager that filters system calls
// ends a process that makes a forbidden one, and its lists of them often have that by
// which a thread says where it runs; what containers filter has not.
var mayPlace = sync.OnceValue(func() bool {
	if os.Getenv("INVOCATION_ID") == "" { // systemd's
		return true
	}
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && !bytes.Contains(status, []byte("\nSeccomp:\t2"))
})

// thisCPU is the processor that the caller's thread runs on at this moment, or -1.
func thisCPU() int {
	if !mayPlace() {
		return -1
	}
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// yieldCPU lets threads run that wait for the caller's processor.
func yieldCPU() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// leaveCPU moves the caller's thread to another processor if it is on this one and may
// run on others.
func leaveCPU(cpu int) {
	if cpu < 0 || thisCPU() != cpu {
		return
	}
	// Threads made by one that is locked do not inherit where it may run.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	others.Clear(cpu)
	if others.Count() > 0 && unix.SchedSetaffinity(0, &others) == nil {
		_ = unix.SchedSetaffinity(0, &all) // as before
	}
}
