package device

import (
	"slices"
	"sync"
)

// Driver opens the devices of one kind.
type Driver struct {
	Name string // the kind: before the colon in "opencl:1"
	// List describes the devices, the first of which has number 0 and is the best.
	// Where some could not be asked it returns the others and an error; a
	// MissingError says what to do. Nil: there is one, of which nothing is known.
	List func() ([]Properties, error)
	Open func(index int) (Device, error)
	// External drivers run code that is not sinter's, which may hang or crash.
	External bool
	// Watch and Environment name files, folders and variables on which it
	// depends what List finds.
	Watch, Environment []string
}

// Properties describe the devices.
func (d Driver) Properties() ([]Properties, error) {
	if d.List == nil {
		return make([]Properties, 1), nil
	}
	return d.List()
}

// Properties describe a device. What is not known is empty.
type Properties struct {
	Description string `json:",omitempty"` // of the hardware
	Vendor      string `json:",omitempty"`
	Driver      string `json:",omitempty"` // name and version of what runs it
	UUID        string `json:",omitempty"` // the same under every kind of driver
	PCI         string `json:",omitempty"` // address: 0000:01:00.0
	Memory      uint64 `json:",omitempty"` // bytes in all
	Free        uint64 `json:",omitempty"` // bytes that can be had
	// Software is a device that computes on the processor. Nobody gets it who
	// does not ask for it.
	Software bool     `json:",omitempty"`
	Features []string `json:",omitempty"`
	DTypes   []string `json:",omitempty"` // number formats that products compute in, as far as that was tried
	Rules    []string `json:",omitempty"` // of arithmetic, that it keeps, as far as that was tried
}

// MissingError says why a kind of device, or one of them, is not there.
type MissingError struct {
	Reason string
	Remedy string
	Empty  bool // the driver works, and shows no device of the kind at all
}

func (e *MissingError) Error() string {
	if e.Remedy == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Remedy
}

var registry struct {
	sync.Mutex
	drivers []Driver
}

// Register adds a driver, for packages that are imported for that effect. It
// replaces an earlier one of the same name.
func Register(d Driver) {
	registry.Lock()
	defer registry.Unlock()
	registry.drivers = slices.DeleteFunc(registry.drivers, func(o Driver) bool { return o.Name == d.Name })
	registry.drivers = append(registry.drivers, d)
}

// Registered lists what Register was given.
func Registered() []Driver {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.drivers)
}
