//go:build linux

package main

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// TestStaticBuild builds the command for systems without a C library: it has no
// dynamic section and no interpreter, and says why it has no GPUs.
func TestStaticBuild(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("builds the command: set SINTER_CI to have it tested")
	}
	exe := filepath.Join(t.TempDir(), "sinter")
	build := exec.Command("go", "build", "-tags", "static", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_INTERP {
			t.Errorf("it is linked dynamically: %v", p.Type)
		}
	}
	out, err := exec.Command(exe, "device", "--json").Output()
	var list deviceList
	if err != nil || json.Unmarshal(out, &list) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, d := range list.Devices {
		if d.ID == "opencl" && (d.Available || !strings.Contains(d.Reason, "static build")) || d.ID == "cpu" && !d.Verified {
			t.Errorf("%+v", d)
		}
	}
}
