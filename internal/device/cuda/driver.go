package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch"
)

// Driver opens the GPUs that NVIDIA's driver shows, in its order, which is that
// of every program: CUDA_VISIBLE_DEVICES leaves some out and changes it.
func Driver() device.Driver {
	return device.Driver{
		Name: "cuda", External: true, List: list, Open: openAt, Watch: watch(), Environment: environment,
	}
}

// list describes what can be used. A GPU that cannot is left out, with the
// reason in the error.
func list() ([]device.Properties, error) {
	api, err := cu.Load()
	if err != nil {
		return nil, thisSystem.missing(err)
	}
	found, err := usable(api, thisSystem)
	var all []device.Properties
	for _, d := range found {
		all = append(all, properties(api, d))
	}
	return all, err
}

// openAt opens a GPU by its place in the list.
func openAt(index int) (device.Device, error) {
	api, err := cu.Load()
	if err != nil {
		return nil, thisSystem.missing(err)
	}
	found, err := usable(api, thisSystem)
	if index >= len(found) {
		if err == nil {
			err = fmt.Errorf("CUDA has %d devices", len(found))
		}
		return nil, err
	}
	return New(api, found[index], launch.Programs())
}

// usable lists the GPUs that can run programs.
func usable(api *cu.API, s system) ([]*cu.Device, error) {
	found, err := api.Devices()
	if err != nil {
		err = s.refused(err)
	} else if len(found) == 0 {
		err = s.refused(&cu.Error{Call: "cuDeviceGetCount", Code: cu.NoDevice})
	}
	var good []*cu.Device
	for _, d := range found {
		if reason, remedy := lacks(d); reason != "" {
			err = errors.Join(err, &device.MissingError{Reason: d.Name + " " + reason, Remedy: remedy})
			continue
		}
		good = append(good, d)
	}
	return good, err
}

// lacks says what keeps a GPU from being used, or nothing.
func lacks(d *cu.Device) (reason, remedy string) {
	switch {
	case d.Capability() < oldest:
		return fmt.Sprintf("has compute capability %d.%d, and 7.5 is the oldest that is supported", d.Major, d.Minor), "use it by opencl or vulkan"
	case d.Prohibited:
		return "is closed to programs", "sudo nvidia-smi -c DEFAULT"
	}
	return "", ""
}

// oldest is the compute capability of the oldest GPUs that programs are written
// for, times 10.
const oldest = 75

func properties(api *cu.API, d *cu.Device) device.Properties {
	return device.Properties{
		Description: d.Name,
		Vendor:      "NVIDIA Corporation",
		Driver:      api.DriverText(),
		UUID:        d.UUID,
		PCI:         d.PCI,
		Memory:      d.Memory,
		Free:        api.Free(d),
		Features:    features(d),
	}
}

// features are the abilities and the numeric rules of a GPU.
func features(d *cu.Device) []string {
	names := []string{fmt.Sprintf("sm_%d", d.Capability()), "fp64", "fp16", "bf16", "int8-dot", "mma"}
	if d.Capability() < 80 {
		names = []string{fmt.Sprintf("sm_%d", d.Capability()), "fp64", "fp16", "int8-dot", "mma"}
	}
	if d.Capability() == 90 {
		names = append(names, "wgmma")
	}
	names = append(names, "subnormals", "fma", "exact-division", "local-memory")
	if d.Integrated {
		names = append(names, "shared-memory")
	}
	return append(names, fmt.Sprintf("subgroup-%d", d.Warp))
}

// environment are the variables that the driver obeys in what it offers.
var environment = []string{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_PIPE_DIRECTORY", "LD_LIBRARY_PATH", "LD_PRELOAD"}

// watch are what is changed by installing a driver, or by a GPU that comes or
// goes.
func watch() []string {
	switch runtime.GOOS {
	case "linux":
		paths := []string{"/etc/ld.so.cache", "/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia/gpus", "/usr/lib/wsl/lib/libcuda.so.1"}
		for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
			paths = append(paths, filepath.Join(dir, "libcuda.so.1"))
		}
		return paths
	case "windows":
		return []string{filepath.Join(os.Getenv("SystemRoot"), "System32", "nvcuda.dll")}
	}
	return nil
}
