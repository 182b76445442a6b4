//go:build unix

package safetensors

import (
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapped tells that files are mapped, not read.
const mapped = true

// openFile opens a file for reading. It does not wait for the other end of a
// pipe, which OpenFile refuses.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// mapFile gives the bytes of a file, which is not empty, and the function that
// gives them back.
func mapFile(file *os.File, size int64) ([]byte, func() error, error) {
	if size > math.MaxInt {
		return nil, nil, fmt.Errorf("%d bytes do not fit the address space: use a 64-bit build", size)
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping the file into memory: %w", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
