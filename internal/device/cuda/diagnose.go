package cuda

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/dynlib"
)

// system is what can be seen of a machine without its driver, to tell why that
// does not work.
type system struct {
	linux  bool
	root   string // of its files: "/"
	getenv func(string) (string, bool)
}

var thisSystem = system{linux: runtime.GOOS == "linux", root: "/", getenv: os.LookupEnv}

func (s system) has(path string) bool {
	_, err := os.Stat(filepath.Join(s.root, path))
	return err == nil
}

// container tells whether the program runs in one.
func (s system) container() bool {
	_, told := s.getenv("container")
	return told || s.has(".dockerenv") || s.has("run/.containerenv")
}

// running tells whether the driver's part in the kernel works.
func (s system) running() bool { return s.has("proc/driver/nvidia/version") }

// hasGPU tells whether the system shows a GPU of NVIDIA's, whatever the driver
// says.
func (s system) hasGPU() bool {
	const nvidia = "0x10de"
	vendors, _ := filepath.Glob(filepath.Join(s.root, "sys/bus/pci/devices/*/vendor"))
	for _, file := range vendors {
		vendor, err := os.ReadFile(file)
		if err != nil || string(bytes.TrimSpace(vendor)) != nvidia {
			continue
		}
		class, err := os.ReadFile(filepath.Join(filepath.Dir(file), "class"))
		if err == nil && bytes.HasPrefix(class, []byte("0x03")) { // it displays, or could
			return true
		}
	}
	return false
}

// closed tells whether the GPU's files are there and this user may not open
// them.
func (s system) closed() bool {
	f, err := os.OpenFile(filepath.Join(s.root, "dev/nvidiactl"), os.O_RDWR, 0)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, os.ErrPermission)
}

const passGPU = "start the container with its GPUs: docker run --gpus all, or podman run --device nvidia.com/gpu=all, with NVIDIA's container toolkit on the host"

// missing says what to do where the driver's library cannot be opened.
func (s system) missing(err error) error {
	var none *dynlib.NotFoundError
	if !errors.As(err, &none) {
		return &device.MissingError{Reason: err.Error(), Remedy: updateDriver}
	}
	bare := *none
	bare.Remedy = ""
	e := &device.MissingError{Reason: bare.Error(), Remedy: "install NVIDIA's driver, if there is a GPU of theirs"}
	switch {
	case !s.linux:
	case s.container() && (s.running() || s.hasGPU()):
		e.Remedy = passGPU
	case s.running():
		e.Remedy = "install the part of NVIDIA's driver that programs use: libcuda1 (Debian), libnvidia-compute-* (Ubuntu), in the version of the rest"
	case s.hasGPU():
		e.Remedy = "install NVIDIA's driver: nvidia-driver (Debian), ubuntu-drivers install (Ubuntu)"
	case s.has("dev/dxg"):
		e.Remedy = "install NVIDIA's driver in Windows, which brings it to WSL"
	}
	return e
}

const (
	updateDriver = "update NVIDIA's driver to version 470 or later"
	restart      = "start the machine again"
)

// remedies are for what the driver says that needs no look at the system.
var remedies = map[cu.Code]string{
	cu.StubLibrary:          "remove the stubs of the CUDA toolkit from LD_LIBRARY_PATH: that libcuda.so is for linking only",
	cu.SystemDriverMismatch: "the driver was updated while it ran: " + restart + "; in a container, use the driver's files of the host",
	cu.CompatNotSupported:   "remove the package cuda-compat: this GPU does not run it",
	cu.SystemNotReady:       "start nvidia-fabricmanager, which GPUs with NVSwitch need",
	cu.MPSConnectionFailed:  "start nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY",
	cu.OperatingSystem:      "give this user access to /dev/nvidia*: that is often the group video",
	cu.Unknown:              "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm, or " + restart,
}

// refused says what to do where the driver is there and shows no GPU.
func (s system) refused(err error) error {
	var old *cu.VersionError
	if errors.As(err, &old) {
		return &device.MissingError{Reason: err.Error(), Remedy: updateDriver}
	}
	var e *cu.Error
	if !errors.As(err, &e) {
		return &device.MissingError{Reason: err.Error(), Remedy: "update or remove that driver"}
	}
	visible, hidden := s.getenv("CUDA_VISIBLE_DEVICES")
	switch remedy := remedies[e.Code]; {
	case e.Code == cu.NoDevice && hidden:
		return &device.MissingError{Reason: "CUDA_VISIBLE_DEVICES=" + visible + " leaves no GPU", Remedy: "unset it, or name a GPU that is there", Empty: true}
	case s.linux && s.closed():
		return &device.MissingError{Reason: err.Error(), Remedy: remedies[cu.OperatingSystem]}
	case remedy != "":
		return &device.MissingError{Reason: err.Error(), Remedy: remedy}
	case s.linux && s.container() && !s.has("dev/nvidiactl"):
		return &device.MissingError{Reason: "the driver is here, but no GPU was passed to this container", Remedy: passGPU}
	case e.Code == cu.NoDevice && s.linux && s.hasGPU() && !s.running():
		return &device.MissingError{Reason: "the driver's part in the kernel is not loaded", Remedy: "sudo modprobe nvidia; sudo dmesg says why that fails"}
	case e.Code == cu.NoDevice:
		return &device.MissingError{Reason: "NVIDIA's driver is here, but finds no GPU", Remedy: "nvidia-smi shows what it has"}
	}
	return &device.MissingError{Reason: err.Error(), Remedy: "update NVIDIA's driver, or " + restart}
}
