//go:build unix

package jit

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// offHeap says that mapPages takes memory from outside the Go heap.
const offHeap = true

// mapPages returns n bytes of zeroed read-write pages.
func mapPages(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", n, err)
	}
	return mem, nil
}

func unmapPages(mem []byte) error { return unix.Munmap(mem) }

// denyPages makes every access to whole pages fault.
func denyPages(mem []byte) error { return unix.Mprotect(mem, unix.PROT_NONE) }
