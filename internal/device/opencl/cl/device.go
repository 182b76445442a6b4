package cl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/dynlib"
)

// What a device is.
const (
	kindCPU = 1 << 1
	kindGPU = 1 << 2
	kindAll = 0xFFFFFFFF
)

// Device describes a device of a driver. Sizes are in bytes; what a driver does
// not tell is zero.
type Device struct {
	ID       DeviceID
	Platform string // the driver, as it calls itself
	Name     string
	Vendor   string
	Driver   string // version
	Version  string // of OpenCL: "OpenCL 3.0 ..."
	C        string // of the language: "OpenCL C 1.2 ..."
	UUID     string // the same under every API
	PCI      string // address on the bus: 0000:01:00.0
	CPU, GPU bool

	Memory     uint64
	Free       uint64 // AMD alone tells
	MaxAlloc   uint64 // of one buffer
	Cache      uint64
	CacheLine  int
	Local      int  // memory of a workgroup
	LocalReal  bool // and that it is memory of its own
	Unified    bool // the host and the device share memory
	Align      int  // of a part of a buffer that is a buffer too
	AddressBit int

	Units         int // compute units
	MHz           int
	MaxGroup      int    // work-items in a workgroup
	MaxItems      []int  // the same along each dimension
	SubgroupSizes []int  // that can be had; nil: there are no subgroups, or their size is not known
	VectorF32     int    // native width
	MaxParameters int    // bytes of a kernel's arguments
	TimerNanos    uint64 // resolution of profiling

	F32, F64, F16 Float
	// DotInt8 and DotInt8Packed are dot products of four bytes: by the
	// extension's functions for char4, and for bytes packed in a uint.
	DotInt8, DotInt8Packed bool
	HasCompiler            bool
	Extensions             []string

	platform PlatformID
}

// Float says what arithmetic of a format does. The zero value is a format that
// the device lacks.
type Float struct {
	Supported    bool
	Subnormals   bool
	InfNaN       bool
	Nearest      bool // rounds to nearest even
	FMA          bool // in hardware
	ExactDivSqrt bool // division and square root are correctly rounded, if asked for
}

func float(value []byte) Float {
	bits := number(value)
	has := func(bit uint64) bool { return bits&bit != 0 }
	return Float{Supported: bits != 0, Subnormals: has(1), InfNaN: has(2), Nearest: has(4), FMA: has(32), ExactDivSqrt: has(128)}
}

// Has tells whether the device has an extension.
func (d *Device) Has(extension string) bool { return slices.Contains(d.Extensions, extension) }

// Software tells that the "device" is the processor: it is for tests, and for
// those who ask for it.
func (d *Device) Software() bool {
	if d.CPU {
		return true
	}
	name := strings.ToLower(d.Name + " " + d.Platform)
	return strings.Contains(name, "llvmpipe") || strings.Contains(name, "softpipe") || strings.Contains(name, "portable computing language") && !d.GPU
}

// Devices lists what all drivers offer, in their order. One that fails hides
// none of the others: its error comes beside their devices. No devices and no
// error is a system whose drivers found none.
func (a *API) Devices() ([]*Device, error) {
	// The loader opens drivers here, and they their compilers.
	defer dynlib.KeepSignals()()
	platforms, err := a.platforms()
	if err != nil {
		return nil, err
	}
	var all []*Device
	var failed error
	for _, p := range platforms {
		name := a.platformText(p, platformName)
		ids, err := a.deviceIDs(p)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
		for _, id := range ids {
			d := &Device{ID: id, platform: p, Platform: name}
			if err := a.describe(d); err != nil {
				if failed == nil {
					failed = fmt.Errorf("%s: %w", name, err)
				}
				continue
			}
			all = append(all, d)
		}
	}
	return all, failed
}

const platformName = 0x0902

func (a *API) platformText(p PlatformID, param uint32) string {
	v, _ := query(func(param uint32, size int, value *byte, needed *int) Code {
		return a.GetPlatformInfo(p, param, size, value, needed)
	}, param)
	return text(v)
}

// maxDevices is far beyond any machine: a larger number is a broken driver's.
const maxDevices = 1 << 10

func (a *API) platforms() ([]PlatformID, error) {
	n := new(uint32)
	switch c := a.GetPlatformIDs(0, nil, n); {
	case c == PlatformNotFound || c == 0 && *n == 0:
		return nil, nil
	case c != 0:
		return nil, check(c, "clGetPlatformIDs")
	case *n > maxDevices:
		return nil, fmt.Errorf("clGetPlatformIDs: the driver tells of %d platforms", *n)
	}
	ids := make([]PlatformID, *n)
	if c := a.GetPlatformIDs(*n, &ids[0], nil); c != 0 {
		return nil, check(c, "clGetPlatformIDs")
	}
	return ids, nil
}

func (a *API) deviceIDs(p PlatformID) ([]DeviceID, error) {
	n := new(uint32)
	switch c := a.GetDeviceIDs(p, kindAll, 0, nil, n); {
	case c == DeviceNotFound || c == 0 && *n == 0:
		return nil, nil
	case c != 0:
		return nil, check(c, "clGetDeviceIDs")
	case *n > maxDevices:
		return nil, fmt.Errorf("clGetDeviceIDs: the driver tells of %d devices", *n)
	}
	ids := make([]DeviceID, *n)
	if c := a.GetDeviceIDs(p, kindAll, *n, &ids[0], nil); c != 0 {
		return nil, check(c, "clGetDeviceIDs")
	}
	return ids, nil
}

// describe fills in what the driver tells. Only a name is required of it:
// questions of newer versions and of extensions may stay without an answer.
func (a *API) describe(d *Device) error {
	value := func(param uint32) []byte {
		v, _ := query(func(param uint32, size int, value *byte, needed *int) Code {
			return a.GetDeviceInfo(d.ID, param, size, value, needed)
		}, param)
		return v
	}
	name, c := query(func(param uint32, size int, value *byte, needed *int) Code {
		return a.GetDeviceInfo(d.ID, param, size, value, needed)
	}, 0x102B)
	if c != 0 {
		return check(c, "clGetDeviceInfo CL_DEVICE_NAME")
	}
	size := func(param uint32) int { return int(number(value(param))) }
	truth := func(param uint32) bool { return uint32(number(value(param))) != 0 }
	d.Name, d.Vendor, d.Driver = text(name), text(value(0x102C)), text(value(0x102D))
	d.Version, d.C = text(value(0x102F)), text(value(0x103D))
	d.Extensions = strings.Fields(text(value(0x1030)))
	kind := number(value(0x1000))
	d.CPU, d.GPU = kind&kindCPU != 0, kind&kindGPU != 0
	d.HasCompiler = truth(0x1028)

	d.Memory, d.MaxAlloc = number(value(0x101F)), number(value(0x1010))
	d.Cache, d.CacheLine = number(value(0x101E)), size(0x101D)
	d.Local, d.LocalReal = size(0x1023), uint32(number(value(0x1022))) == 1
	d.Unified, d.Align, d.AddressBit = truth(0x1035), size(0x1019)/8, size(0x100D)
	d.Units, d.MHz, d.MaxGroup, d.MaxItems = size(0x1002), size(0x100C), size(0x1004), words(value(0x1005))
	d.VectorF32, d.MaxParameters, d.TimerNanos = size(0x103A), size(0x1017), number(value(0x1025))

	d.F32 = float(value(0x101B))
	if d.Has("cl_khr_fp64") {
		d.F64 = float(value(0x1032))
	}
	if d.Has("cl_khr_fp16") {
		d.F16 = float(value(0x1033))
	}
	if d.Has("cl_khr_integer_dot_product") {
		dots := number(value(0x1073))
		d.DotInt8Packed, d.DotInt8 = dots&1 != 0, dots&2 != 0
	}
	if d.Has("cl_khr_device_uuid") {
		d.UUID = uuid(value(0x106A))
	}
	if d.Has("cl_amd_device_attribute_query") {
		d.Free = number(value(0x4039)) << 10
	}
	d.SubgroupSizes = subgroups(d, value)
	d.PCI = address(d, value)
	return nil
}

// address is where the device is on the PCI bus, by the extension of each
// vendor.
func address(d *Device, value func(uint32) []byte) string {
	at := func(domain, bus, device, function uint64) string {
		return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function)
	}
	if d.Has("cl_khr_pci_bus_info") {
		if v := value(0x410F); len(v) == 16 {
			return at(number(v[:4]), number(v[4:8]), number(v[8:12]), number(v[12:]))
		}
	}
	if d.Has("cl_nv_device_attribute_query") {
		bus, slot, domain := value(0x4008), value(0x4009), value(0x400A)
		if len(bus) == 4 && len(slot) == 4 {
			return at(number(domain), number(bus), number(slot)>>3, number(slot)&7)
		}
	}
	if d.Has("cl_amd_device_attribute_query") {
		// A union: its type, 1 for PCIe, then bytes of which the last are these.
		if v := value(0x4037); len(v) == 24 && number(v[:4]) == 1 {
			return at(0, number(v[21:22]), number(v[22:23]), number(v[23:24]))
		}
	}
	return ""
}

// subgroups lists the sizes of subgroups, by the extension of each vendor.
func subgroups(d *Device, value func(uint32) []byte) []int {
	switch {
	case d.Has("cl_intel_required_subgroup_size"):
		return words(value(0x4108))
	case d.Has("cl_nv_device_attribute_query"):
		return one(value(0x4003))
	case d.Has("cl_amd_device_attribute_query"):
		return one(value(0x4043))
	}
	return nil
}

func one(value []byte) []int {
	if n := int(number(value)); n > 0 {
		return []int{n}
	}
	return nil
}
