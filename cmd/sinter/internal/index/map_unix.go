//go:build unix

package index

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapped is a file in memory.
type mapped struct{ data []byte }

// mapFile maps the first bytes of a file, or all where size is negative, but no
// more than it has.
func mapFile(name string, size int64) (mapped, error) {
	f, err := os.Open(name)
	if err != nil {
		return mapped{}, err
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return mapped{}, err
	}
	if size < 0 || size > info.Size() {
		size = info.Size()
	}
	if size == 0 {
		return mapped{}, nil
	}
	if size > math.MaxInt {
		return mapped{}, &os.PathError{Op: "map", Path: name, Err: errors.New("too large for the address space")}
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return mapped{}, &os.PathError{Op: "map", Path: name, Err: err}
	}
	return mapped{data}, nil
}

func (m mapped) close() {
	if m.data != nil {
		_ = unix.Munmap(m.data)
	}
}
