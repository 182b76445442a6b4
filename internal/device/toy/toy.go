// Package toy is an accelerator that exists in Go alone, and the example of
// docs/new-device.md: its memory is not the host's, its programs are text that
// its driver compiles, its kernels run in work-groups. It passes the same suite
// as every device.
package toy

import (
	"errors"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Driver makes the device known. A real driver says in List what it found, or
// returns a device.MissingError with what to install.
func Driver() device.Driver {
	return device.Driver{
		Name: "toy",
		List: func() ([]device.Properties, error) {
			return []device.Properties{{Description: "accelerator of Go", Vendor: "sinter", Driver: "toy 1", Software: true}}, nil
		},
		Open: func(int) (device.Device, error) { return New() },
	}
}

// New opens a device. Its shape says that a group is one work-item, and that no
// memory is close to it.
func New() (*launch.Device, error) { return launch.New(Backend(0), Options()) }

// Options are what package launch has to know of the device.
func Options() launch.Options {
	return launch.Options{Kind: "toy", Shape: entry.Shape{Items: 1, Flat: 1}}
}

// Backend is a device with so many bytes of memory; 0: no bound.
func Backend(bytes int) launch.Backend { return &backend{room: bytes} }

// backend is the device by way of its driver.
type backend struct {
	mu   sync.Mutex
	room int // bytes in all; 0: no bound
	used int
}

// memory is a block on the device.
type memory struct {
	backend *backend
	data    []byte
}

// fullError is what the driver says when there is no room. Its method tells
// package launch to give back what it holds, and try again.
type fullError struct{}

func (fullError) Error() string     { return "toy: out of memory" }
func (fullError) OutOfMemory() bool { return true }

func (b *backend) Alloc(n int) (launch.Memory, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const most = 1 << 40
	if n > most || b.room > 0 && n > b.room-b.used {
		return nil, fullError{}
	}
	b.used += n
	return &memory{b, make([]byte, n)}, nil
}

func (m *memory) Close() error {
	m.backend.mu.Lock()
	defer m.backend.mu.Unlock()
	m.backend.used -= len(m.data)
	m.data = nil
	return nil
}

// Import would let kernels read the host's memory. This device cannot: nil has
// it copied.
func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	copy(to.(*memory).data[offset:], p)
	return nil
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	copy(p, from.(*memory).data[offset:])
	return nil
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	copy(to.(*memory).data[:n], from.(*memory).data)
	return nil
}

func (b *backend) Zero(m launch.Memory, n int) error {
	clear(m.(*memory).data[:n])
	return nil
}

func (b *backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used < 0 {
		return errors.New("toy: memory was freed twice")
	}
	return nil
}
