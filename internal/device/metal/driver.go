package metal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/metal/mtl"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Driver opens the GPUs of Apple's computers.
func Driver() device.Driver {
	return device.Driver{Name: "metal", External: true, List: list, Open: openAt, Watch: []string{"/System/Library/Frameworks/Metal.framework", "/System/Library/CoreServices/SystemVersion.plist"}}
}

// list describes what can be used.
func list() ([]device.Properties, error) {
	api, found, err := devices()
	var all []device.Properties
	for _, d := range found {
		all = append(all, properties(api, d))
	}
	return all, err
}

func devices() (*mtl.API, []*mtl.Device, error) {
	api, err := mtl.Load()
	if err != nil {
		return nil, nil, missing(err)
	}
	found, err := usable(api)
	return api, found, err
}

// openAt opens a device by its place in the list.
func openAt(index int) (device.Device, error) {
	api, found, err := devices()
	if err != nil {
		return nil, err
	}
	if index >= len(found) {
		return nil, fmt.Errorf("metal: there are %d devices", len(found))
	}
	return New(api, found[index])
}

// missing says what is wrong where Metal cannot be opened.
func missing(err error) error {
	var none *dynlib.NotFoundError
	if errors.As(err, &none) && len(none.Tried) == 0 {
		return &device.MissingError{Reason: "Metal is a part of macOS"}
	}
	return &device.MissingError{Reason: err.Error(), Remedy: "update macOS"}
}

// usable lists the devices, the faster ones first.
func usable(api *mtl.API) ([]*mtl.Device, error) {
	found := api.Devices()
	if len(found) == 0 {
		return nil, &device.MissingError{Reason: "Metal finds no GPU", Remedy: "a virtual machine needs a graphics device that has Metal"}
	}
	slices.SortStableFunc(found, func(a, b *mtl.Device) int { return cmp.Compare(class(a), class(b)) })
	return found, nil
}

func class(d *mtl.Device) int {
	if d.LowPower {
		return 1
	}
	return 0
}

// properties describe a device. Its driver comes with the system, and changes with
// that.
func properties(api *mtl.API, d *mtl.Device) device.Properties {
	features := []string{"fma", "exact-division", "local-memory"}
	if d.Unified {
		features = append(features, "shared-memory")
	}
	return device.Properties{
		Description: d.Name,
		Vendor:      "Apple",
		Driver:      "Metal, " + api.System,
		Memory:      d.Memory,
		Free:        d.Memory - min(d.Memory, d.Used),
		Features:    append(features, "untested"),
	}
}
