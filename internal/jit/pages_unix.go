//go:build unix

package jit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// offHeap says that mapPages takes memory from outside the Go heap.
const offHeap = true

// mapPages returns n bytes of zeroed read-write pages.
func mapPages(n int) ([]byte, error) {
	at, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", n, err)
	}
	return unsafe.Slice((*byte)(at), n), nil
}

// unmapPages gives back whole pages, all or some of those that mapPages returned.
func unmapPages(mem []byte) error {
	if len(mem) == 0 {
		return nil
	}
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(len(mem)))
}

// denyPages makes every access to whole pages fault.
func denyPages(mem []byte) error { return unix.Mprotect(mem, unix.PROT_NONE) }
