//go:build !unix

package index

import (
	"io"
	"os"
)

// mapped is a file in memory: a copy, where we do not know how to map files.
type mapped struct{ data []byte }

// mapFile reads the first bytes of a file, or all where size is negative, but no
// more than it has.
func mapFile(name string, size int64) (mapped, error) {
	f, err := os.Open(name)
	if err != nil {
		return mapped{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return mapped{}, err
	}
	if size < 0 || size > info.Size() {
		size = info.Size()
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return mapped{data[:n]}, err
}

func (mapped) close() {}
