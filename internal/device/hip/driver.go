package hip

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Driver opens AMD's GPUs by ROCm.
func Driver() device.Driver {
	return device.Driver{Name: "hip", External: true, List: list, Open: openAt, Watch: watch(), Environment: environment}
}

// list describes what can be used. A device that cannot is left out, with the
// reason in the error.
func list() ([]device.Properties, error) {
	_, found, err := devices()
	var all []device.Properties
	for _, d := range found {
		all = append(all, properties(d))
	}
	return all, err
}

func devices() (*hiprt.API, []*hiprt.Device, error) {
	api, err := hiprt.Load()
	if err != nil {
		return nil, nil, missing(err)
	}
	found, err := usable(api)
	return api, found, err
}

// openAt opens a device by its place in the list.
func openAt(index int) (device.Device, error) {
	api, found, err := devices()
	if index >= len(found) {
		if err == nil {
			err = fmt.Errorf("HIP has %d devices", len(found))
		}
		return nil, err
	}
	return New(api, found[index], launch.Programs())
}

// missing says what is wrong with a library that cannot be opened.
func missing(err error) error {
	var none *dynlib.NotFoundError
	if !errors.As(err, &none) {
		return &device.MissingError{Reason: err.Error(), Remedy: "update ROCm"}
	}
	bare := *none
	bare.Remedy = ""
	if len(none.Tried) == 0 { // there is none for this system
		return &device.MissingError{Reason: bare.Error()}
	}
	return &device.MissingError{Reason: bare.Error(), Remedy: none.Remedy}
}

// usable lists the devices that can run programs, in the driver's order.
func usable(api *hiprt.API) ([]*hiprt.Device, error) {
	found, err := api.Devices()
	switch {
	case err != nil:
		err = &device.MissingError{Reason: err.Error(), Remedy: "update AMD's driver, and ROCm with it"}
	case len(found) == 0:
		return nil, &device.MissingError{Reason: "ROCm is here, but finds no AMD GPU", Remedy: remedy()}
	}
	var good []*hiprt.Device
	for _, d := range found {
		if lack := d.Lacks(); lack != "" {
			err = errors.Join(err, &device.MissingError{Reason: d.Name + " " + lack, Remedy: "use it under vulkan or opencl, or update ROCm"})
			continue
		}
		good = append(good, d)
	}
	return good, err
}

// remedy is what to do where ROCm finds nothing.
func remedy() string {
	for _, name := range []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} {
		if value, set := os.LookupEnv(name); set {
			return fmt.Sprintf("%s=%s chooses among them", name, value)
		}
	}
	if _, err := os.Stat("/dev/kfd"); err != nil {
		return "load the kernel's module amdgpu; in a container pass /dev/kfd and /dev/dri in"
	}
	return "let the user open /dev/kfd and /dev/dri/renderD*: that is often the group render"
}

func properties(d *hiprt.Device) device.Properties {
	arch, _, _ := strings.Cut(d.Arch, ":")
	return device.Properties{
		Description: d.Name,
		Vendor:      "Advanced Micro Devices, Inc.",
		Driver:      "HIP " + d.Driver + ", hiprtc " + d.Compiler,
		PCI:         d.PCI,
		Memory:      d.Memory,
		Free:        d.Free,
		Features:    []string{arch, fmt.Sprintf("wave-%d", d.Wave), "fp64", "subnormals", "fma", "exact-division", "local-memory", "untested"},
	}
}

// environment are the variables that ROCm obeys in what it offers.
var environment = []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION", "LD_LIBRARY_PATH", "LD_PRELOAD", "ROCM_PATH", "HIP_PATH"}

// watch are what is changed by installing ROCm, or by plugging a device in.
func watch() []string {
	paths := []string{"/etc/ld.so.cache", "/opt/rocm", "/dev/kfd", "/dev/dri"}
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		paths = append(paths, filepath.Join(dir, "libamdhip64.so"))
	}
	return paths
}
