package jit

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// libSystem is in every process: its functions are found without opening it.
var libSystem = sync.OnceValues(func() (f struct{ protect, invalidate uintptr }, err error) {
	if f.protect, err = purego.Dlsym(purego.RTLD_DEFAULT, "pthread_jit_write_protect_np"); err != nil {
		return f, err
	}
	f.invalidate, err = purego.Dlsym(purego.RTLD_DEFAULT, "sys_icache_invalidate")
	return f, err
})

// mapSealed serves a program under the hardened runtime: it may not make memory
// executable later, but has, with the entitlement allow-jit, memory of MAP_JIT.
// That is writable for a thread that says so and executable for all others.
func mapSealed(code []byte) ([]byte, error) {
	lib, err := libSystem()
	if err != nil {
		return nil, fmt.Errorf("libSystem: %w", err)
	}
	mem, err := unix.Mmap(-1, 0, roundToPage(len(code)), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_JIT)
	if err != nil {
		return nil, fmt.Errorf("mmap with MAP_JIT: %w", err)
	}
	runtime.LockOSThread() // the permission belongs to the thread
	defer runtime.UnlockOSThread()
	purego.SyscallN(lib.protect, 0)
	copy(mem, code)
	purego.SyscallN(lib.protect, 1)
	return mem, nil
}

// syncInstructions makes code just written visible to instruction fetch on all
// cores.
func syncInstructions(mem []byte) {
	if lib, err := libSystem(); err == nil {
		purego.SyscallN(lib.invalidate, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)))
	}
}
