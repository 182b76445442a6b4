package hiprt

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Device describes a GPU. What a driver does not tell is zero.
type Device struct {
	Properties
	Index        int32
	PCI          string // address: 0000:03:00.0
	Memory, Free uint64
	Driver       string // "6.2.41134"
	Compiler     string // "6.2"
	major, minor int    // the compiler's version
}

// compilers says from which version on hiprtc knows an architecture. One that it
// does not know ends the process, so no other is asked for.
var compilers = map[string][2]int{
	"gfx900": {5, 0}, "gfx906": {5, 0}, "gfx908": {5, 0}, "gfx90a": {5, 0}, "gfx942": {6, 0}, "gfx950": {7, 0},
	"gfx1010": {5, 0}, "gfx1011": {5, 0}, "gfx1012": {5, 0},
	"gfx1030": {5, 0}, "gfx1031": {5, 0}, "gfx1032": {5, 0}, "gfx1034": {5, 2}, "gfx1035": {5, 2}, "gfx1036": {5, 4},
	"gfx1100": {5, 5}, "gfx1101": {5, 5}, "gfx1102": {5, 5}, "gfx1103": {5, 7},
	"gfx1150": {6, 2}, "gfx1151": {6, 2}, "gfx1152": {6, 4}, "gfx1153": {6, 4},
	"gfx1200": {6, 4}, "gfx1201": {6, 4},
}

// features may follow the name of an architecture.
var features = map[string]bool{"sramecc+": true, "sramecc-": true, "xnack+": true, "xnack-": true}

// Lacks says what keeps a device from running programs, or nothing.
func (d *Device) Lacks() string {
	parts := strings.Split(d.Arch, ":")
	since, known := compilers[parts[0]]
	for _, f := range parts[1:] {
		known = known && features[f]
	}
	switch {
	case !known:
		return fmt.Sprintf("is a %q, which sinter does not know", d.Arch)
	case d.major < since[0] || d.major == since[0] && d.minor < since[1]:
		return fmt.Sprintf("is a %s, which ROCm's compiler knows from version %d.%d on, and this is %s", parts[0], since[0], since[1], d.Compiler)
	}
	return ""
}

// maxDevices is far beyond any machine: a larger number is a broken driver's.
const maxDevices = 1 << 10

// Devices lists the GPUs. There may be none.
func (a *API) Devices() ([]*Device, error) {
	defer dynlib.KeepSignals()()
	n := new(int32)
	switch code := a.Init(0); code {
	case 0:
	case NoDevice, InvalidDevice:
		return nil, nil
	default:
		return nil, check(code, "hipInit")
	}
	switch code := a.DeviceCount(n); code {
	case 0:
	case NoDevice:
		return nil, nil
	default:
		return nil, check(code, "hipGetDeviceCount")
	}
	if *n < 0 || *n > maxDevices {
		return nil, fmt.Errorf("hipGetDeviceCount: the driver tells of %d devices", *n)
	}
	version, major, minor := new(int32), new(int32), new(int32)
	if err := check(a.DriverVersion(version), "hipDriverGetVersion"); err != nil {
		return nil, err
	}
	if err := checkCompiler(a.CompilerVersion(major, minor), "hiprtcVersion"); err != nil {
		return nil, err
	}
	var all []*Device
	for i := range *n {
		d := &Device{Index: i, Driver: versionText(*version), Compiler: fmt.Sprintf("%d.%d", *major, *minor), major: int(*major), minor: int(*minor)}
		if err := a.describe(d); err != nil {
			return all, err
		}
		all = append(all, d)
	}
	return all, nil
}

// versionText reads 60241134 as 6.2.41134.
func versionText(v int32) string {
	return fmt.Sprintf("%d.%d.%d", v/10_000_000, v/100_000%100, v%100_000)
}

// describe asks a device what it is.
func (a *API) describe(d *Device) error {
	if err := check(a.DeviceProperties(&d.Properties, d.Index), "hipGetDeviceProperties"); err != nil {
		return err
	}
	total, address := new(uint64), new([64]byte)
	if err := check(a.DeviceTotalMem(total, d.Index), "hipDeviceTotalMem"); err != nil {
		return err
	}
	d.Memory = *total
	d.Free = a.free(d)
	if a.DevicePCI(&address[0], int32(len(address)), d.Index) == 0 {
		d.PCI = strings.ToLower(text(address[:]))
	}
	return nil
}

// free is how many bytes a device has left, 0 where it does not tell.
func (a *API) free(d *Device) uint64 {
	leave, err := (&Context{Device: d, api: a}).enter()
	defer leave()
	left, total := new(uint64), new(uint64)
	if err != nil || a.MemGetInfo(left, total) != 0 {
		return 0
	}
	return *left
}
