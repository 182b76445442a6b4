package device

import (
	"slices"
	"sync"
)

// Driver opens the devices of one kind.
type Driver struct {
	Name string // before the colon in "opencl:1"
	Open func(index int) (Device, error)
	List func() []string // describes each device; nil: there is one
}

var registry struct {
	sync.Mutex
	drivers []Driver
}

// Register adds a driver, for packages that are imported for that effect. A
// driver registered later is preferred.
func Register(d Driver) {
	registry.Lock()
	defer registry.Unlock()
	registry.drivers = slices.Insert(registry.drivers, 0, d)
}

// Registered lists what Register was given, the preferred first.
func Registered() []Driver {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.drivers)
}
