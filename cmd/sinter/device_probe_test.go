//go:build linux && !static

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/internal/effort"
)

// listed runs sinter device.
func listed(t *testing.T, args ...string) deviceList {
	t.Helper()
	var list deviceList
	if err := json.Unmarshal([]byte(ok(t, "", append([]string{"device", "--json"}, args...)...)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBrokenDrivers has drivers that go wrong when they are opened: the command
// lists them with the reason, runs on the processor where none is asked for,
// and otherwise says what there is.
func TestBrokenDrivers(t *testing.T) {
	for way, reason := range map[string]string{
		"CRASH_AT_LOAD": "crashes: SIGSEGV",
		"NO_DEVICES":    "no driver of a device",
	} {
		t.Run(way, func(t *testing.T) {
			t.Setenv("LD_LIBRARY_PATH", cltest.Library(t, way))
			t.Setenv("VK_DRIVER_FILES", "/none") // no device of Vulkan beside it
			t.Setenv("VK_ICD_FILENAMES", "/none")
			list := listed(t)
			if d := list.find("opencl"); list.Best != "cpu" || d.Available || !strings.Contains(d.Reason, reason) || d.Remedy == "" || !list.find("cpu").Verified {
				t.Errorf("%+v", list)
			}
			if out := ok(t, "", "embed", "--json", "--quiet", "--model", tiny(t, nil), "x"); !strings.Contains(out, "embedding") {
				t.Errorf("%s", out)
			}
			status, _, stderr := runCommand(t, nil, "", "embed", "--device", "opencl", "--model", tiny(t, nil), "x")
			if status != statusFailed || !strings.Contains(stderr, reason) || !strings.Contains(stderr, "there are auto, cpu, interp") {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

// TestSoftwareIsNotBest has OpenCL on the processor, which is listed, works, and
// is not taken by "auto".
func TestSoftwareIsNotBest(t *testing.T) {
	list := listed(t)
	d := list.find("opencl:0")
	if !d.Software {
		effort.Missing(t, fmt.Sprintf("no OpenCL on the processor: %+v", list.find("opencl")))
	}
	if list.Best != "cpu" || !d.Available || !d.Verified || d.Memory == 0 || d.Driver == "" || len(d.Features) == 0 || !slices.Contains(d.DTypes, "f32") || !slices.Contains(d.Rules, "nan") {
		t.Errorf("best %s, %+v", list.Best, d)
	}
	if got := listed(t, "--device", "opencl").Best; got != "opencl:0" {
		t.Errorf("asked for opencl: %s", got)
	}
	status, _, stderr := runCommand(t, nil, "", "embed", "--device", "opencl:7", "--model", tiny(t, nil), "x")
	if status != statusFailed || !strings.Contains(stderr, `no device "opencl:7": there are auto, `) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestNoSuchKind is about kinds that need no driver to be told apart.
func TestNoSuchKind(t *testing.T) {
	for name, want := range map[string]string{
		"tpu":   `no device "tpu": there are auto, `,
		"cpu:x": `"x" is not a number`,
	} {
		status, _, stderr := runCommand(t, nil, "", "embed", "--device", name, "x")
		if status != statusUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
	}
}

// TestProbeIsHidden keeps the command's own command out of people's way.
func TestProbeIsHidden(t *testing.T) {
	if help := ok(t, "", "help"); strings.Contains(help, probeName) {
		t.Error(help)
	}
	if status, _, stderr := runCommand(t, nil, "", probeName, "tpu"); status != statusUsage || !strings.Contains(stderr, `no drivers of "tpu"`) {
		t.Errorf("status %d: %s", status, stderr)
	}
}
