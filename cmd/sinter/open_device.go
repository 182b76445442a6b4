package main

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter"
)

// checkDevice refuses a name that no device can have.
func checkDevice(name string) error {
	kind, _, _ := strings.Cut(name, ":")
	names := []string{"auto"}
	for _, d := range sinter.Devices() {
		if k, _, _ := strings.Cut(d.Name, ":"); k == kind {
			return nil
		}
		names = append(names, d.Name)
	}
	if name == "auto" {
		return nil
	}
	return fmt.Errorf("no device %q: there are %s", name, strings.Join(names, ", "))
}

// bestDevice is the name that "auto" stands for.
func bestDevice() string { return sinter.Devices()[0].Name }

// openDevice opens the device of the settings.
func (a *app) openDevice() (*sinter.Device, error) {
	name := a.settings.device
	if name == "auto" {
		name = bestDevice()
	}
	if name != "cpu" {
		return sinter.Open(name)
	}
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: a.settings.isa, Threads: a.settings.threads})
	if err != nil && a.settings.isa != "" {
		return nil, usagef("%s=%s: %w", envCPU, a.settings.isa, err)
	}
	return d, err
}
