//go:build !static

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// TestGraphProfileOnDevice is on OpenCL where the system has it.
func TestGraphProfileOnDevice(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("the driver's compiler takes a while: set SINTER_CI")
	}
	model, dir := tiny(t, nil), t.TempDir()
	timeline, page := filepath.Join(dir, "timeline.json"), filepath.Join(dir, "page.html")
	out := ok(t, "", "graph", model, "--profile", "--device", "opencl", "--batch", "2", "--tokens", "5", "--json", "--timeline", timeline)
	var got struct {
		Device  string
		Seconds float64
		Kernels []profiled
	}
	var trace struct {
		Events []struct{ Dur float64 } `json:"traceEvents"`
	}
	data, err := os.ReadFile(timeline)
	if err := errors.Join(err, json.Unmarshal([]byte(out), &got), json.Unmarshal(data, &trace)); err != nil {
		t.Fatal(err)
	}
	shares := 0
	for _, k := range got.Kernels {
		if k.Share > 0 {
			shares++
		}
		if k.Apart {
			t.Errorf("PoCL has a clock: %+v", k)
		}
	}
	if !strings.HasPrefix(got.Device, "opencl") || len(got.Kernels) == 0 || shares == 0 || len(trace.Events) != profileRuns*len(got.Kernels) {
		t.Errorf("on %s %d kernels, %d with shares, %d events", got.Device, len(got.Kernels), shares, len(trace.Events))
	}
	if out := ok(t, "", "bench", "train", "--net", "mlp", "--profile", "--device", "opencl"); !strings.Contains(out, "matmul") || !strings.Contains(out, "a run takes") {
		t.Errorf("a step is\n%s", out)
	}
	ok(t, "", "graph", model, "--profile", "--device", "opencl", "--batch", "1", "--tokens", "3", "--html", page)
	if data, err := os.ReadFile(page); err != nil || !strings.Contains(string(data), `"timeline"`) {
		t.Errorf("a page of %d bytes: %v", len(data), err)
	}
}
