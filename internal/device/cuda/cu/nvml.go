package cu

import (
	"runtime"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// NVML is the library of NVIDIA's system management, which comes with the driver
// and tells without a context what libcuda tells only of one.
type NVML struct {
	Driver string // version, as the driver is named by: "550.54.14"
	// Free is how many bytes of a GPU's memory nobody uses; 0 where it is not
	// known.
	Free func(uuid string) uint64
}

var management = dynlib.Spec{
	API:     "NVML",
	Linux:   []string{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"},
	Windows: []string{"nvml.dll"},
}

// loadNVML is nil where the library is not there or refuses: containers often
// are given libcuda alone.
func loadNVML() *NVML {
	lib, err := dynlib.Open(management)
	if err != nil {
		return nil
	}
	s := &symbols{lib: lib}
	start, version := s.get("nvmlInit_v2"), s.get("nvmlSystemGetDriverVersion")
	find, memory := s.get("nvmlDeviceGetHandleByUUID"), s.get("nvmlDeviceGetMemoryInfo")
	if s.err != nil || int32(dynlib.CallHeld(start)) != 0 {
		return nil
	}
	n := &NVML{}
	text := make([]byte, 96)
	if int32(dynlib.CallHeld(version, ptr(&text[0]), uintptr(len(text)))) == 0 {
		n.Driver = dynlib.GoString(&text[0])
	}
	n.Free = func(uuid string) uint64 {
		for _, kind := range []string{"GPU-", "MIG-"} {
			device, name := new(uintptr), dynlib.CString(kind+uuid)
			r := int32(dynlib.CallHeld(find, ptr(name), ptr(device)))
			runtime.KeepAlive(name)
			if r != 0 {
				continue
			}
			bytes := new([3]uint64) // in all, free, used
			r = int32(dynlib.CallHeld(memory, *device, uintptr(unsafe.Pointer(bytes))))
			runtime.KeepAlive(bytes)
			if r == 0 {
				return bytes[1]
			}
		}
		return 0
	}
	return n
}
