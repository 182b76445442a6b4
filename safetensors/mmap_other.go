//go:build !unix

package safetensors

import (
	"fmt"
	"io"
	"math"
	"os"
)

// mapped tells that files are mapped, not read.
const mapped = false

func openFile(path string) (*os.File, error) { return os.Open(path) }

// mapFile reads the bytes of a file: this system, or our use of it, has no
// mapping.
func mapFile(file *os.File, size int64) ([]byte, func() error, error) {
	if size > math.MaxInt {
		return nil, nil, fmt.Errorf("%d bytes do not fit the address space: use a 64-bit build", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, size), data); err != nil {
		return nil, nil, err
	}
	return data, nil, nil
}
