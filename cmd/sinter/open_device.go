package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
)

// checkDevice refuses a name that no device can have. Whether there is one of
// the name is seen when it is opened.
func checkDevice(name string) error {
	if name == "auto" {
		return nil
	}
	kind, _, err := device.ParseName(name)
	if err != nil {
		return err
	}
	var known []device.Entry
	for _, d := range device.Registered() {
		if d.Name == kind {
			return nil
		}
		// Whether drivers of others have a GPU is not known, so none is recommended.
		known = append(known, device.Entry{Name: d.Name, Kind: d.Name, Properties: device.Properties{Software: d.External}})
	}
	_, err = device.Find(device.Arrange(append(known, lacking()...)), name)
	return err
}

// openDevice opens the device of the settings. One that nobody asked for and
// that cannot be opened gives way to the processor.
func (a *app) openDevice(ctx context.Context) (*sinter.Device, error) {
	return a.openDeviceFor(ctx, unknownTask)
}

// openDeviceFor is openDevice for a task.
func (a *app) openDeviceFor(ctx context.Context, work task) (*sinter.Device, error) {
	name, err := a.deviceName(ctx, work)
	if err != nil {
		return nil, err
	}
	if name != "cpu" {
		d, err := sinter.Open(name)
		if err == nil {
			a.warnTuning(d)
			return d, nil
		}
		if a.settings.device != "auto" {
			return nil, err
		}
		if !a.settings.quiet {
			fmt.Fprintf(a.stderr, "sinter: %v; using cpu\n", err)
		}
	}
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: a.settings.isa, Threads: a.settings.threads})
	if err != nil && a.settings.isa != "" {
		return nil, usagef("%s=%s: %w", envCPU, a.settings.isa, err)
	}
	return d, err
}

// deviceName is the name of the device of the settings, which is there. Drivers
// are asked only where it may be one of theirs.
func (a *app) deviceName(ctx context.Context, work task) (string, error) {
	name := a.settings.device
	if name == "auto" {
		c, err := a.autoDevice(ctx, work)
		return c.name, err
	}
	kind, _, err := device.ParseName(name)
	if err != nil {
		return "", err
	}
	how := asking{}
	if slices.ContainsFunc(device.Registered(), func(d device.Driver) bool { return d.External && d.Name == kind }) {
		how = asking{external: true, all: true}
	}
	all, err := a.devices(ctx, how)
	if err != nil {
		return "", err
	}
	e, err := device.Find(entriesOf(all), name)
	return e.Name, err
}

// autoDevice is what "auto" stands for. What any processor has ended before a GPU
// would have begun needs no driver to be asked.
func (a *app) autoDevice(ctx context.Context, work task) (choice, error) {
	if device.Short(work.all, device.StartTime) || device.Short(work.run, device.LaunchTime) || !slices.ContainsFunc(device.Registered(), func(d device.Driver) bool { return d.External }) {
		return choice{name: "cpu"}, nil
	}
	all, err := a.devices(ctx, asking{external: true})
	if err != nil {
		return choice{}, err
	}
	return choose(ctx, all, work)
}
