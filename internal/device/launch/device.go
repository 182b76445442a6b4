package launch

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Options describe a device to New.
type Options struct {
	Kind      string // begins errors: "opencl"
	Shape     entry.Shape
	Units     int // compute units; 0: one
	MaxGroups int // in one launch; 0: no bound that matters
	// Kept has compiled programs, where the Backend is a Keeper; nil: none are
	// kept.
	Kept *diskcache.Cache
}

// Device runs programs on one device of a driver.
type Device struct {
	backend Backend
	Options
	nothing Memory // stands in for memory without elements
	shelf   *keep.Shelf
	uses    device.Uses // of the backend, by what is under way

	tuned  atomic.Pointer[tune.Store]
	clocks clocks

	mu      sync.Mutex
	memory  accounts
	modules map[*module]bool // that are open
}

// defaultGroups are those of a launch where a device has no bound.
const defaultGroups = 1 << 20

// New makes a device, which owns b.
func New(b Backend, o Options) (*Device, error) {
	o.Units = max(o.Units, 1)
	o.Shape.Units = o.Units
	if o.MaxGroups == 0 {
		o.MaxGroups = defaultGroups
	}
	nothing, err := b.Alloc(leastBytes)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	d := &Device{backend: b, Options: o, nothing: nothing, shelf: keep.NewShelf()}
	return d, nil
}

// Backend is what the device runs on, for tests of single kernels.
func (d *Device) Backend() Backend { return d.backend }

// KeepTuning says where choices for kernels are kept.
func (d *Device) KeepTuning(s *tune.Store) { d.tuned.Store(s) }

// Tuned is for how many kernels there is a choice.
func (d *Device) Tuned() (int, error) { return d.tuned.Load().Len() }

// Close lets nothing begin, and gives the driver back when what is under way has
// ended. Modules and buffers that are left keep their memory until they are closed.
func (d *Device) Close() error {
	if !d.uses.Close() {
		return device.ErrClosed
	}
	return d.ended()
}

// ended ends a use of the backend, which the last gives back.
func (d *Device) ended() error {
	if !d.uses.End() {
		return nil
	}
	d.shelf.DropAll()
	return errors.Join(d.nothing.Close(), d.backend.Close())
}
