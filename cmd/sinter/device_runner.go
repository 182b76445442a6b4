package main

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/suite"
)

// runner opens a device below the library, to look at what it computes. The
// device may be one that the library refuses.
func (a *app) runner(name string) (suite.Runner, device.Properties, error) {
	kind, index, err := device.ParseName(name)
	if err != nil {
		return nil, device.Properties{}, err
	}
	for _, driver := range device.Registered() {
		if driver.Name != kind {
			continue
		}
		list, err := driver.Properties()
		if index >= len(list) {
			return nil, device.Properties{}, errors.Join(fmt.Errorf("no device %q", name), err)
		}
		d, err := a.openIndex(driver, index)
		if err != nil {
			return nil, list[index], err
		}
		r, ok := d.(suite.Runner)
		if !ok {
			return nil, list[index], errors.Join(fmt.Errorf("device %q cannot compile", name), d.Close())
		}
		return r, list[index], nil
	}
	return nil, device.Properties{}, fmt.Errorf("no device %q", name)
}

// openIndex opens a driver's device, the processor as the settings say.
func (a *app) openIndex(driver device.Driver, index int) (device.Device, error) {
	if driver.Name != "cpu" {
		return driver.Open(index)
	}
	isa := cpu.Best
	if a.settings.isa != "" {
		var err error
		if isa, err = cpu.ParseISA(a.settings.isa); err != nil {
			return nil, err
		}
	}
	return cpu.New(cpu.Options{ISA: isa, Threads: a.settings.threads})
}
