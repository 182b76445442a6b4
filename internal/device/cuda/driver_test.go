package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/dynlib"
)

// machine is a system of Linux with these files.
func machine(t *testing.T, env map[string]string, files ...string) system {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		name, contents, _ := strings.Cut(f, "=")
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return system{linux: true, root: root, getenv: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}}
}

const (
	gpuVendor = "sys/bus/pci/devices/0000:01:00.0/vendor=0x10de\n"
	gpuClass  = "sys/bus/pci/devices/0000:01:00.0/class=0x030200\n"
	audio     = "sys/bus/pci/devices/0000:01:00.0/class=0x040300\n"
	running   = "proc/driver/nvidia/version=NVRM"
	control   = "dev/nvidiactl"
	docker    = ".dockerenv"
)

// TestNoLibrary says what to do where there is no library of the driver.
func TestNoLibrary(t *testing.T) {
	absent := &dynlib.NotFoundError{API: "CUDA", Tried: []string{"libcuda.so.1"}, Reasons: []string{"libcuda.so.1: cannot open shared object file: No such file or directory"}, Remedy: "x"}
	for _, c := range []struct {
		what, wants string
		files       []string
	}{
		{"nothing", "if there is a GPU", nil},
		{"only the sound of a GPU", "if there is a GPU", []string{gpuVendor, audio}},
		{"a GPU", "install NVIDIA's driver: nvidia-driver", []string{gpuVendor, gpuClass}},
		{"half a driver", "libcuda1", []string{gpuVendor, gpuClass, running}},
		{"container", "--gpus all", []string{gpuVendor, gpuClass, docker}},
		{"WSL", "in Windows", []string{"dev/dxg"}},
	} {
		var m *device.MissingError
		if err := machine(t, nil, c.files...).missing(absent); !errors.As(err, &m) || !strings.Contains(m.Remedy, c.wants) || m.Reason != "CUDA: libcuda.so.1 not found" {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	var m *device.MissingError
	if err := thisSystem.missing(errors.New("libcuda.so.1 has no function cuGraphLaunch: its version is too old")); !errors.As(err, &m) || m.Remedy != updateDriver {
		t.Error(err)
	}
}

// TestNoGPU says what to do where the driver shows none.
func TestNoGPU(t *testing.T) {
	for _, c := range []struct {
		what   string
		fake   *cutest.Fake
		env    map[string]string
		files  []string
		reason string
		remedy string
	}{
		{what: "hidden", fake: &cutest.Fake{Init: cu.NoDevice}, env: map[string]string{"CUDA_VISIBLE_DEVICES": ""}, reason: "CUDA_VISIBLE_DEVICES= leaves no GPU", remedy: "unset it"},
		{what: "container", fake: &cutest.Fake{Init: cu.NoDevice}, files: []string{docker}, reason: "no GPU was passed to this container", remedy: "--gpus all"},
		{what: "not loaded", fake: &cutest.Fake{Init: cu.NoDevice}, files: []string{gpuVendor, gpuClass}, reason: "not loaded", remedy: "modprobe nvidia"},
		{what: "none", fake: &cutest.Fake{Init: cu.NoDevice}, reason: "finds no GPU", remedy: "nvidia-smi"},
		{what: "stub", fake: &cutest.Fake{Init: cu.StubLibrary}, reason: "CUDA_ERROR_STUB_LIBRARY", remedy: "LD_LIBRARY_PATH"},
		{what: "updated", fake: &cutest.Fake{Init: cu.SystemDriverMismatch}, files: []string{control}, reason: "SYSTEM_DRIVER_MISMATCH", remedy: "start the machine again"},
		{what: "switch", fake: &cutest.Fake{Init: cu.SystemNotReady}, reason: "SYSTEM_NOT_READY", remedy: "fabricmanager"},
		{what: "asleep", fake: &cutest.Fake{Init: cu.Unknown}, reason: "UNKNOWN", remedy: "nvidia_uvm"},
		{what: "other", fake: &cutest.Fake{Init: 3}, reason: "NOT_INITIALIZED", remedy: "update NVIDIA's driver"},
		{what: "old driver", fake: &cutest.Fake{Version: 11020}, reason: "CUDA 11.2, and 11.4 is the oldest", remedy: "470"},
		{what: "old GPU", fake: &cutest.Fake{Capability: 61}, reason: "Fake GPU has compute capability 6.1", remedy: "opencl"},
		{what: "prohibited", fake: &cutest.Fake{Prohibited: true}, reason: "Fake GPU is closed", remedy: "nvidia-smi -c DEFAULT"},
	} {
		t.Run(c.what, func(t *testing.T) {
			all, err := usable(c.fake.API(), machine(t, c.env, c.files...))
			var m *device.MissingError
			if len(all) > 0 || !errors.As(err, &m) || !strings.Contains(m.Reason, c.reason) || !strings.Contains(m.Remedy, c.remedy) || m.Empty != (c.env != nil) {
				t.Errorf("%d GPUs, %v", len(all), err)
			}
		})
	}
}

// A user who may not open the GPU's files is told so.
func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may open everything")
	}
	s := machine(t, nil, control)
	if err := os.Chmod(filepath.Join(s.root, control), 0); err != nil {
		t.Fatal(err)
	}
	_, err := usable((&cutest.Fake{Init: cu.NoDevice}).API(), s)
	if err == nil || !strings.Contains(err.Error(), "group video") {
		t.Error(err)
	}
}

func TestProperties(t *testing.T) {
	f := &cutest.Fake{Devices: 2, Names: []string{"NVIDIA One"}, Capability: 90}
	api := f.API()
	all, err := usable(api, machine(t, nil))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d GPUs, %v", len(all), err)
	}
	p := properties(api, all[0])
	if p.Description != "NVIDIA One" || p.UUID == "" || p.PCI != "0000:01:00.0" || p.Memory == 0 || p.Driver != "CUDA 12.4" || p.Software ||
		!strings.Contains(strings.Join(p.Features, " "), "sm_90 fp64 fp16 bf16 int8-dot mma wgmma") {
		t.Errorf("%+v", p)
	}
	all[1].Major = 7
	all[1].Minor = 5
	if got := strings.Join(features(all[1]), " "); !strings.Contains(got, "sm_75") || strings.Contains(got, "bf16") {
		t.Error(got)
	}
	d := Driver()
	if d.Name != "cuda" || !d.External || len(d.Environment) == 0 {
		t.Errorf("%+v", d)
	}
}
