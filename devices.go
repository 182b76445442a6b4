package sinter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/interp"
)

// drivers are the kinds of device in this package, the best first. Importing
// others for their effect adds theirs.
var drivers = []device.Driver{
	{Name: "cpu", Open: func(int) (device.Device, error) { return cpu.New(cpu.Options{}) }},
	{Name: "interp", Open: func(int) (device.Device, error) { return interp.New(), nil }},
}

// Device runs programs. It may be used from many goroutines; the zero Device
// is an error when used.
type Device struct {
	name     string
	dev      device.Device
	compiler device.Compiler
	programs programs
}

// DeviceInfo describes a device that Open can open.
type DeviceInfo struct {
	Name        string // what Open takes
	Description string // of the hardware, where the driver tells
}

// Open opens a device by name: "cpu", "interp", the n-th of several as
// "opencl:1", or "auto" for the best there is.
func Open(name string) (*Device, error) {
	kind, number, numbered := strings.Cut(name, ":")
	index := 0
	if numbered {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("device %q: %q is not a number", name, number)
		}
		index = n
	}
	if kind == "auto" && !numbered {
		return openBest()
	}
	for _, d := range allDrivers() {
		if d.Name == kind {
			return openDriver(d, index, name)
		}
	}
	return nil, fmt.Errorf("no device %q: there are auto, %s", name, strings.Join(deviceNames(), ", "))
}

// CPUOptions configure a device on the processor.
type CPUOptions struct {
	// ISA is "avx512", "avx2" or "generic"; "" is the best that the processor
	// and the operating system have.
	ISA     string
	Threads int // a run uses at most so many; 0: GOMAXPROCS at the time
}

// OpenCPU opens the device "cpu" with options.
func OpenCPU(o CPUOptions) (*Device, error) {
	isa := cpu.Best
	if o.ISA != "" {
		var err error
		if isa, err = cpu.ParseISA(o.ISA); err != nil {
			return nil, fmt.Errorf("device \"cpu\": %w", err)
		}
	}
	dev, err := cpu.New(cpu.Options{ISA: isa, Threads: o.Threads})
	if err != nil {
		return nil, fmt.Errorf("device \"cpu\": %w", err)
	}
	return &Device{name: "cpu", dev: dev, compiler: dev}, nil
}

func openBest() (*Device, error) {
	var errs []error
	for _, d := range allDrivers() {
		dev, err := openDriver(d, 0, d.Name)
		if err == nil {
			return dev, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func openDriver(d device.Driver, index int, name string) (*Device, error) {
	if d.List == nil && index > 0 {
		return nil, fmt.Errorf("device %q: there is one %s only", name, d.Name)
	}
	dev, err := d.Open(index)
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", name, err)
	}
	c, ok := dev.(device.Compiler)
	if !ok {
		dev.Close()
		return nil, fmt.Errorf("device %q cannot compile", name)
	}
	return &Device{name: name, dev: dev, compiler: c}, nil
}

func allDrivers() []device.Driver { return append(device.Registered(), drivers...) }

func deviceNames() []string {
	var names []string
	for _, d := range Devices() {
		names = append(names, d.Name)
	}
	return names
}

// Devices lists what Open can open, the best first.
func Devices() []DeviceInfo {
	var all []DeviceInfo
	for _, d := range allDrivers() {
		if d.List == nil {
			all = append(all, DeviceInfo{Name: d.Name})
			continue
		}
		for i, description := range d.List() {
			name := d.Name
			if i > 0 {
				name += ":" + strconv.Itoa(i)
			}
			all = append(all, DeviceInfo{name, description})
		}
	}
	return all
}

// Name is what the device was opened as.
func (d *Device) Name() string {
	if d == nil {
		return ""
	}
	return d.name
}

func (d *Device) String() string { return d.Name() }

func (d *Device) check() error {
	if d == nil || d.dev == nil {
		return errors.New("the zero Device runs nothing: make one with Open")
	}
	return nil
}

// Close ends the device once what runs on it has ended. Values that lie in
// its memory alone are lost.
func (d *Device) Close() error {
	if err := d.check(); err != nil {
		return err
	}
	return errors.Join(d.programs.close(), d.dev.Close())
}

// Stats describes a device's memory and programs.
type Stats struct {
	Allocated int64 // bytes in use
	Cached    int64 // bytes held for reuse
	Peak      int64 // the most bytes that were in use
	Programs  int   // compiled and kept
	CodeBytes int   // of the kept programs
	Compiled  int64 // programs compiled so far
	Reused    int64 // times that a kept program served
	// Hint says how to compile less, where that seems worth it.
	Hint string
}

// Stats counts memory and programs.
func (d *Device) Stats() Stats {
	if d.check() != nil {
		return Stats{}
	}
	m := d.dev.Stats()
	s := d.programs.stats()
	s.Allocated, s.Cached, s.Peak = m.Allocated, m.Cached, m.Peak
	return s
}

// bestDevice is opened once, when it is first needed, and never closed.
var bestDevice = sync.OnceValues(func() (*Device, error) { return Open("auto") })

type deviceKey struct{}

// WithDevice makes Values and Eval under the context run on d.
func WithDevice(ctx context.Context, d *Device) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, deviceKey{}, d)
}

// deviceFrom is the device that WithDevice chose, or the best.
func deviceFrom(ctx context.Context) (*Device, error) {
	if d, ok := ctx.Value(deviceKey{}).(*Device); ok {
		return d, d.check()
	}
	return bestDevice()
}
