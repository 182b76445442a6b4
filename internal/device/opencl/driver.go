package opencl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Driver opens the devices that the system's OpenCL drivers offer, hardware
// before software.
func Driver() device.Driver {
	return device.Driver{Name: "opencl", External: true, List: list, Open: openAt, Watch: watch(), Environment: environment}
}

// drivers is what there is to install, when there is a loader and nothing to
// load.
const drivers = "install your GPU's driver with its OpenCL part: nvidia-driver, intel-opencl-icd, rocm-opencl-runtime or mesa-opencl-icd; pocl-opencl-icd runs programs on the processor"

// list describes what can be used. A device that cannot is left out, with the
// reason in the error.
func list() ([]device.Properties, error) {
	found, err := devices()
	var all []device.Properties
	for _, d := range found {
		all = append(all, properties(d))
	}
	return all, err
}

func devices() ([]*cl.Device, error) {
	api, err := cl.Load()
	if err != nil {
		return nil, missing(err)
	}
	return usable(api)
}

// openAt opens a device by its place in the list.
func openAt(index int) (device.Device, error) {
	found, err := devices()
	if index >= len(found) {
		if err == nil {
			err = fmt.Errorf("OpenCL has %d devices", len(found))
		}
		return nil, err
	}
	api, err := cl.Load()
	if err != nil {
		return nil, err
	}
	return New(api, found[index], launch.Programs())
}

// missing says what is wrong with a library that cannot be opened.
func missing(err error) error {
	var none *dynlib.NotFoundError
	if !errors.As(err, &none) {
		return &device.MissingError{Reason: err.Error(), Remedy: "update it"}
	}
	remedy := none.Remedy
	bare := *none
	bare.Remedy = ""
	return &device.MissingError{Reason: bare.Error(), Remedy: remedy}
}

// usable lists the devices that can run programs, the best first: its order is
// that of their numbers, so it changes only when the devices do.
func usable(api *cl.API) ([]*cl.Device, error) {
	found, err := api.Devices()
	if err == nil && len(found) == 0 {
		return nil, &device.MissingError{Reason: "OpenCL's loader is here, but no driver of a device", Remedy: drivers}
	}
	if err != nil {
		err = &device.MissingError{Reason: err.Error(), Remedy: "update or remove that driver"}
	}
	var good []*cl.Device
	for _, d := range found {
		if lack := lacks(d); lack != "" {
			err = errors.Join(err, &device.MissingError{Reason: d.Name + " " + lack, Remedy: "update its driver"})
			continue
		}
		good = append(good, d)
	}
	slices.SortStableFunc(good, func(a, b *cl.Device) int { return class(a) - class(b) })
	return good, err
}

// class orders devices: GPUs, other accelerators, software.
func class(d *cl.Device) int {
	switch {
	case d.Software():
		return 2
	case d.GPU:
		return 0
	}
	return 1
}

// lacks says what a device cannot do that every program needs, or nothing.
func lacks(d *cl.Device) string {
	switch {
	case !d.HasCompiler:
		return "has no compiler"
	case d.AddressBit != 64:
		return fmt.Sprintf("has addresses of %d bits, not 64", d.AddressBit)
	case !d.F32.Supported || !d.F32.Nearest || !d.F32.InfNaN:
		return "does not compute in f32 as IEEE 754 has it"
	}
	return ""
}

func properties(d *cl.Device) device.Properties {
	return device.Properties{
		Description: d.Name,
		Vendor:      d.Vendor,
		Driver:      strings.TrimSpace(d.Platform + " " + d.Driver),
		UUID:        d.UUID,
		PCI:         d.PCI,
		Memory:      d.Memory,
		Free:        d.Free,
		Software:    d.Software(),
		Features:    features(d),
	}
}

// features are the abilities and the numeric rules of a device.
func features(d *cl.Device) []string {
	names := []string{strings.ToLower(strings.Join(firstWords(d.Version, 2), " "))}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"fp64", d.F64.Supported},
		{"fp16", d.F16.Supported},
		{"int8-dot", d.DotInt8 || d.DotInt8Packed},
		{"subnormals", d.F32.Subnormals},
		{"fma", d.F32.FMA},
		{"exact-division", d.F32.ExactDivSqrt},
		{"local-memory", d.LocalReal},
		{"shared-memory", d.Unified},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	for _, n := range d.SubgroupSizes {
		names = append(names, fmt.Sprintf("subgroup-%d", n))
	}
	return names
}

func firstWords(s string, n int) []string {
	words := strings.Fields(s)
	return words[:min(n, len(words))]
}

// environment are the variables that drivers obey in what they offer.
var environment = []string{
	"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OCL_ICD_PLATFORM_SORT", "OPENCL_VENDOR_PATH", "LD_LIBRARY_PATH", "LD_PRELOAD",
	"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "POCL_DEVICES", "RUSTICL_ENABLE",
}

// watch are what is changed by installing a driver, or by plugging a device in.
func watch() []string {
	switch runtime.GOOS {
	case "linux":
		paths := []string{"/etc/ld.so.cache", "/etc/OpenCL/vendors", "/dev/dri", "/dev/kfd", "/dev/nvidiactl"}
		if dir := os.Getenv("OCL_ICD_VENDORS"); filepath.IsAbs(dir) {
			paths = append(paths, dir)
		}
		for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
			paths = append(paths, filepath.Join(dir, "libOpenCL.so.1"))
		}
		return paths
	case "windows":
		return []string{filepath.Join(os.Getenv("SystemRoot"), "System32", "OpenCL.dll")}
	}
	return []string{"/System/Library/Frameworks/OpenCL.framework"}
}
