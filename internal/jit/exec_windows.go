//go:build amd64 || arm64

package jit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var flushInstructionCache = windows.NewLazySystemDLL("kernel32.dll").NewProc("FlushInstructionCache")

// mapExec fills read-write pages and then turns them read-execute. A process
// with Arbitrary Code Guard is refused the second step.
func mapExec(code []byte) ([]byte, error) {
	mem, err := mapPages(roundToPage(len(code)))
	if err != nil {
		return nil, noExec(err)
	}
	copy(mem, code)
	addr, n := uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem))
	var old uint32
	if err := windows.VirtualProtect(addr, n, windows.PAGE_EXECUTE_READ, &old); err != nil {
		_ = unmapPages(mem)
		return nil, noExec(fmt.Errorf("VirtualProtect: %w", err))
	}
	if ok, _, err := flushInstructionCache.Call(uintptr(windows.CurrentProcess()), addr, n); ok == 0 {
		_ = unmapPages(mem)
		return nil, noExec(fmt.Errorf("FlushInstructionCache: %w", err))
	}
	return mem, nil
}

func unmapExec(mem []byte) error { return unmapPages(mem) }
