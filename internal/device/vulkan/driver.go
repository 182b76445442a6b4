package vulkan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Driver opens the devices that the system's Vulkan drivers offer, hardware
// before software.
func Driver() device.Driver { return driver("vulkan", system) }

// Validated is Driver under the name "vulkan-validated", with the validation
// layer at work: it is told of what that finds wrong.
func Validated(messages func(text string)) device.Driver {
	return driver("vulkan-validated", sync.OnceValues(func() (*vk.Instance, error) {
		api, err := vk.Load()
		if err != nil {
			return nil, err
		}
		return api.NewInstance(vk.Options{Messages: messages})
	}))
}

func driver(name string, instance func() (*vk.Instance, error)) device.Driver {
	return device.Driver{
		Name: name, External: true, Watch: watch(), Environment: environment,
		List: func() ([]device.Properties, error) {
			found, err := devices(instance)
			var all []device.Properties
			for _, p := range found {
				all = append(all, properties(p))
			}
			return all, err
		},
		Open: func(index int) (device.Device, error) {
			found, err := devices(instance)
			if index >= len(found) {
				if err == nil {
					err = fmt.Errorf("there are %d devices of Vulkan", len(found))
				}
				return nil, err
			}
			return New(found[index], launch.Programs())
		},
	}
}

// system opens the system's drivers once. They stay open: some leave threads
// behind.
var system = sync.OnceValues(func() (*vk.Instance, error) {
	api, err := vk.Load()
	if err != nil {
		return nil, err
	}
	return api.NewInstance(vk.Options{})
})

// drivers is what there is to install, when there is a loader and nothing to
// load.
const drivers = "install your GPU's driver with its Vulkan part: nvidia-driver, or mesa-vulkan-drivers, which runs programs on the processor too"

func devices(instance func() (*vk.Instance, error)) ([]*vk.Physical, error) {
	i, err := instance()
	if err != nil {
		return nil, missing(err)
	}
	return usable(i)
}

// missing says what is wrong with a library that cannot be opened, or that
// opens no driver.
func missing(err error) error {
	var none *dynlib.NotFoundError
	switch {
	case errors.As(err, &none):
		bare := *none
		bare.Remedy = ""
		return &device.MissingError{Reason: bare.Error(), Remedy: none.Remedy}
	case errors.Is(err, vk.IncompatibleDriver):
		return &device.MissingError{Reason: noDriver, Remedy: drivers}
	}
	return &device.MissingError{Reason: err.Error(), Remedy: "update it"}
}

const noDriver = "Vulkan's loader is here, but no driver of a device"

// usable lists the devices that can run programs, the best first: its order is
// that of their numbers, so it changes only when the devices do.
func usable(i *vk.Instance) ([]*vk.Physical, error) {
	found, err := i.Physicals()
	if err == nil && len(found) == 0 {
		return nil, &device.MissingError{Reason: noDriver, Remedy: drivers}
	}
	if err != nil {
		err = &device.MissingError{Reason: err.Error(), Remedy: "update or remove that driver"}
	}
	var good []*vk.Physical
	for _, p := range found {
		if lack := lacks(p); lack != "" {
			err = errors.Join(err, &device.MissingError{Reason: p.Name + " " + lack, Remedy: "update its driver"})
			continue
		}
		good = append(good, p)
	}
	slices.SortStableFunc(good, func(a, b *vk.Physical) int { return class(a) - class(b) })
	return good, err
}

// class orders devices: GPUs with memory of their own, other GPUs, software.
func class(p *vk.Physical) int {
	switch p.Kind {
	case vk.Discrete:
		return 0
	case vk.Integrated:
		return 1
	case vk.CPU:
		return 3
	}
	return 2
}

// lacks says what a device cannot do that every program needs, or nothing.
func lacks(p *vk.Physical) string {
	switch {
	case p.API < vk.Version12:
		return "has a driver of a version below 1.2"
	case !p.Address:
		return "has no memory by its address (bufferDeviceAddress)"
	case !p.Timeline:
		return "has no semaphores with values (timelineSemaphore)"
	case !p.Int64:
		return "has no 64-bit integers (shaderInt64)"
	case !p.Int8 || !p.Storage8:
		return "has no memory of bytes (storageBuffer8BitAccess)"
	case !p.Int16 || !p.Storage16:
		return "has no memory of 16-bit integers (storageBuffer16BitAccess)"
	case p.MaxGroup < leastGroup:
		return fmt.Sprintf("has groups of %d work-items, and programs need %d", p.MaxGroup, leastGroup)
	}
	return ""
}

func properties(p *vk.Physical) device.Properties {
	return device.Properties{
		Description: p.Name,
		Vendor:      p.Vendor,
		Driver:      p.Driver,
		UUID:        p.UUID,
		PCI:         p.PCI,
		Memory:      p.Memory,
		Free:        p.Free,
		Software:    p.Software(),
		Features:    features(p),
	}
}

// features are the abilities and the numeric rules of a device.
func features(p *vk.Physical) []string {
	names := []string{fmt.Sprintf("vulkan %d.%d", p.API>>22&0x7f, p.API>>12&0x3ff)}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"fp64", p.F64.Supported},
		{"fp16", p.F16.Supported},
		{"int8-dot", p.Dot},
		{"subnormals", p.F32.Subnormals},
		{"shared-memory", p.Unified},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	if p.Subgroup > 0 {
		names = append(names, fmt.Sprintf("subgroup-%d", p.Subgroup))
	}
	return names
}

// environment are the variables that the loader and drivers obey in what they
// offer.
var environment = []string{
	"VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
	"VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "XDG_DATA_DIRS", "MESA_VK_DEVICE_SELECT", "DRI_PRIME", "LD_LIBRARY_PATH", "LD_PRELOAD",
}

// watch are what is changed by installing a driver, or by plugging a device in.
func watch() []string {
	switch runtime.GOOS {
	case "linux":
		paths := []string{"/etc/ld.so.cache", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/dev/dri", "/dev/nvidiactl"}
		for _, name := range []string{"VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES"} {
			for _, file := range filepath.SplitList(os.Getenv(name)) {
				if filepath.IsAbs(file) {
					paths = append(paths, file)
				}
			}
		}
		for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
			paths = append(paths, filepath.Join(dir, "libvulkan.so.1"))
		}
		return paths
	case "windows":
		return []string{filepath.Join(os.Getenv("SystemRoot"), "System32", "vulkan-1.dll")}
	}
	return []string{"/usr/local/lib/libvulkan.1.dylib"}
}
