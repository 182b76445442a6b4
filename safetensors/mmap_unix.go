//go:build unix

package safetensors

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile gives a file's bytes and the function that gives them back.
func mapFile(path string) ([]byte, func() error, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // a mapping outlives its descriptor
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return readFile(path) // pipes and empty files cannot be mapped
	}
	if info.Size() > math.MaxInt {
		return nil, nil, fmt.Errorf("%d bytes do not fit the address space: use a 64-bit build", info.Size())
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping the file into memory: %w", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
