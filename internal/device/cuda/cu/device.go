package cu

import (
	"bytes"
	"fmt"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Device describes a GPU, or a part of one that is offered as a GPU. Sizes are
// in bytes; what the driver does not tell is zero.
type Device struct {
	ID           DeviceID
	Name         string
	UUID         string // the same under every API
	PCI          string // address on the bus: 0000:01:00.0
	Major, Minor int    // compute capability

	Memory      uint64
	Cache       int // L2
	BusBits     int // to the memory
	MemoryMHz   int
	Units       int // multiprocessors
	MHz         int
	MaxGroup    int // threads of a block
	UnitThreads int // threads on a multiprocessor at a time
	Warp        int
	Registers   int // of a block, 32 bits each
	Shared      int // memory of a block that a kernel may declare
	SharedMost  int // and that it may have when it is launched with more
	Integrated  bool
	ECC         bool
	Pools       bool // memory comes from pools
	Prohibited  bool // an administrator has forbidden contexts
}

// Capability is the compute capability as targets are named: 90 for 9.0.
func (d *Device) Capability() int { return 10*d.Major + d.Minor }

// Attributes, of cuda.h.
const (
	attrMaxThreads        = 1
	attrSharedPerBlock    = 8
	attrWarpSize          = 10
	attrRegisters         = 12
	attrClockRate         = 13
	attrMultiprocessors   = 16
	attrIntegrated        = 18
	attrComputeMode       = 20
	attrECC               = 32
	attrPCIBus            = 33
	attrPCIDevice         = 34
	attrMemoryClockRate   = 36
	attrMemoryBusWidth    = 37
	attrL2                = 38
	attrThreadsPerUnit    = 39
	attrPCIDomain         = 50
	attrMajor             = 75
	attrMinor             = 76
	attrSharedOptin       = 97
	attrMemoryPools       = 115
	computeModeProhibited = 2
	maxDevices            = 1 << 10 // far beyond any machine: a larger number is a broken driver's
	oldestDriver          = 11040   // the first with all functions of the table
)

// Version is CUDA's version of the driver: 12040 is 12.4.
func (a *API) Version() (int, error) {
	v := new(int32)
	if err := check(a.DriverGetVersion(v), "cuDriverGetVersion"); err != nil {
		return 0, err
	}
	return int(*v), nil
}

// VersionError is a driver that is too old.
type VersionError struct{ Has int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the driver is of CUDA %s, and %s is the oldest that will do", versionText(e.Has), versionText(oldestDriver))
}

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// DriverText names what runs the devices: "CUDA 12.4, driver 550.54.14".
func (a *API) DriverText() string {
	v, err := a.Version()
	if err != nil {
		return ""
	}
	text := "CUDA " + versionText(v)
	if a.NVML != nil && a.NVML.Driver != "" {
		text += ", driver " + a.NVML.Driver
	}
	return text
}

// Devices lists the GPUs that the driver shows, in its order, which
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER may change.
func (a *API) Devices() ([]*Device, error) {
	defer dynlib.KeepSignals()()
	v, err := a.Version() // it may be asked before all else
	if err != nil {
		return nil, err
	}
	if v < oldestDriver {
		return nil, &VersionError{v}
	}
	if err := check(a.Init(0), "cuInit"); err != nil {
		return nil, err
	}
	n := new(int32)
	if err := check(a.DeviceGetCount(n), "cuDeviceGetCount"); err != nil {
		return nil, err
	}
	if *n < 0 || *n > maxDevices {
		return nil, fmt.Errorf("cuDeviceGetCount: the driver tells of %d devices", *n)
	}
	var all []*Device
	for i := range int(*n) {
		d := &Device{}
		if err := check(a.DeviceGet(&d.ID, i), "cuDeviceGet"); err != nil {
			return all, err
		}
		if err := a.describe(d); err != nil {
			return all, err
		}
		all = append(all, d)
	}
	return all, nil
}

// describe fills in what the driver tells. A name and the capability are
// required of it.
func (a *API) describe(d *Device) error {
	name := make([]byte, 256)
	if err := check(a.DeviceGetName(&name[0], len(name), d.ID), "cuDeviceGetName"); err != nil {
		return err
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	d.Name = string(bytes.TrimSpace(name))
	var failed error
	value := func(attribute int) int {
		v := new(int32)
		if c := a.DeviceGetAttribute(v, attribute, d.ID); c != 0 {
			failed = check(c, fmt.Sprintf("cuDeviceGetAttribute %d of %s", attribute, d.Name))
			return 0
		}
		return int(*v)
	}
	d.Major, d.Minor, d.MaxGroup = value(attrMajor), value(attrMinor), value(attrMaxThreads)
	if failed != nil {
		return failed
	}
	d.Units, d.Warp, d.Registers, d.UnitThreads = value(attrMultiprocessors), value(attrWarpSize), value(attrRegisters), value(attrThreadsPerUnit)
	d.Shared, d.SharedMost = value(attrSharedPerBlock), value(attrSharedOptin)
	d.MHz, d.MemoryMHz, d.BusBits, d.Cache = value(attrClockRate)/1000, value(attrMemoryClockRate)/1000, value(attrMemoryBusWidth), value(attrL2)
	d.Integrated, d.ECC = value(attrIntegrated) != 0, value(attrECC) != 0
	d.Pools = a.PoolCreate != nil && value(attrMemoryPools) != 0
	d.Prohibited = value(attrComputeMode) == computeModeProhibited
	d.PCI = fmt.Sprintf("%04x:%02x:%02x.0", value(attrPCIDomain), value(attrPCIBus), value(attrPCIDevice))
	total, id := new(uint64), new([16]byte)
	if a.DeviceTotalMem(total, d.ID) == 0 {
		d.Memory = *total
	}
	if a.DeviceGetUUID(id, d.ID) == 0 && *id != [16]byte{} {
		d.UUID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	return nil
}

// Free is how many bytes of the device's memory nobody uses; 0 where that
// cannot be told without opening the device.
func (a *API) Free(d *Device) uint64 {
	if a.NVML == nil {
		return 0
	}
	return a.NVML.Free(d.UUID)
}
