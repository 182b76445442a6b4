//go:build !static

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
)

// TestMain is the program too, with a GPU that the processor simulates.
func TestMain(m *testing.M) {
	device.Register(device.Driver{
		Name: "simulated",
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: "a simulated GPU"}}, nil },
		Open: func(int) (device.Device, error) {
			api := (&cutest.Fake{Compute: true}).API()
			all, err := api.Devices()
			if err != nil {
				return nil, err
			}
			return cuda.New(api, all[0], nil)
		},
	})
	if slices.Contains(os.Args, "-step") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSteps has the measurements run at tiny sizes, each in its own process: but
// for that of the encoder, which takes minutes here.
func TestSteps(t *testing.T) {
	s := &settings{device: "simulated", root: filepath.Join("..", ".."), small: true, out: filepath.Join(t.TempDir(), "gpu.json"), only: regexp.MustCompile("^(rates: [^e]|texts)")}
	if os.Getenv("SINTER_CI") == "" {
		s.only = regexp.MustCompile("^rates: (gemm|memory)")
	}
	var out bytes.Buffer
	if err := s.run(context.Background(), &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	var r report
	data, err := os.ReadFile(s.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil || len(r.Steps) < 2 || r.Device.Name != "simulated" {
		t.Fatalf("%d steps on %q, %v", len(r.Steps), r.Device.Name, err)
	}
	for _, step := range r.Steps {
		if len(step.Rows) == 0 || step.Error != "" {
			t.Errorf("%s: %d rows, %s\n%s", step.Name, len(step.Rows), step.Error, step.Output)
		}
		for _, row := range step.Rows {
			if row.Wrong != "" || row.Rate <= 0 || !strings.Contains(out.String(), row.Name) {
				t.Errorf("%+v", row)
			}
		}
	}
}

// TestRead tells tests that pass from those that fail and are skipped.
func TestRead(t *testing.T) {
	var d step
	d.read("=== RUN A\n--- FAIL: A (0.00s)\n    --- PASS: A/b (0.00s)\n    --- SKIP: A/c (0.1s)\nnoise" +
		"\n" + rowMark + `{"Name":"gemm","DType":"f32","Wrong":"far off"}` + "\n" + rowMark + "{\n")
	if d.Passed != 1 || d.Skipped != 1 || len(d.Rows) != 1 || !slices.Equal(d.Failed, []string{"A", "gemm f32: far off"}) {
		t.Errorf("%+v", d)
	}
}

// TestGoesOn has a step that ends by a signal, or cannot be started: the report
// says so.
func TestGoesOn(t *testing.T) {
	s := &settings{device: "simulated"}
	for name, command := range map[string][]string{"killed": {"sh", "-c", "echo last words; kill -9 $$"}, "missing": {filepath.Join(t.TempDir(), "none")}, "silent": {"true"}} {
		got := s.start(context.Background(), part{name: name, limit: limit, tests: true, command: func(ctx context.Context, _ *settings) *exec.Cmd {
			return exec.CommandContext(ctx, command[0], command[1:]...)
		}})
		if got.Error == "" || name == "killed" && !strings.Contains(got.Output, "last words") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestBounds compares what is computed with what NVIDIA says of H200.
func TestBounds(t *testing.T) {
	b := boundsFor(&cu.Device{Major: 9, Units: 132, MHz: 1830, MemoryMHz: 3201, BusBits: 6016})
	for name, want := range map[string]float64{"f32": 62, "bf16": 989, "int8": 1979} {
		if got := b.flops[name] / 1e12; got < 0.98*want || got > 1.02*want {
			t.Errorf("%s: %.0f TFLOP/s, not %.0f", name, got, want)
		}
	}
	if got := b.bytes / 1e12; got < 4.7 || got > 4.9 {
		t.Errorf("%.2f TB/s", got)
	}
}
