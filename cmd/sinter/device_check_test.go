package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
)

func TestDeviceCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	var got, kept checkReport
	if err := json.Unmarshal([]byte(ok(t, "", "device", "check", "cpu", "--json", "--report", file)), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Passed || got.Cases < 90 || got.Late > 0 || len(got.Failed) > 0 || got.File != file || got.Device.ID != "cpu" || !got.Device.Verified {
		t.Errorf("%+v", got)
	}
	if strings.Join(got.Formats, " ") != "bf16 f16 f32 int4 int8" || len(got.Rules) != 6 || !got.Rules["subnormals are kept"] {
		t.Errorf("%v, %v", got.Formats, got.Rules)
	}
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &kept) != nil || !kept.Passed || kept.Sinter.Go == "" || kept.Device.Driver == "" {
		t.Errorf("%v\n%s", err, data)
	}
	text := ok(t, "", "device", "check", "interp")
	for _, want := range []string{"pointwise", "13 of 13", "subnormals are kept", "passed: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A device that is wrong leaves a report, and a status for scripts.
func TestDeviceCheckFails(t *testing.T) {
	t.Chdir(t.TempDir())
	device.Register(device.Driver{Name: "wrong", Open: func(int) (device.Device, error) { return wrongDevice{interp.New()}, nil }})
	status, stdout, stderr := runCommand(t, nil, "", "device", "check", "wrong")
	if status != statusFailed || !strings.Contains(stderr, "attach sinter-check-wrong.json") || !strings.Contains(stdout, "failed: ") || !strings.Contains(stdout, "elements are wrong") {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
	data, err := os.ReadFile("sinter-check-wrong.json")
	var r checkReport
	if err != nil || json.Unmarshal(data, &r) != nil || r.Passed || len(r.Failed) < 50 {
		t.Fatalf("%v, %d failed", err, len(r.Failed))
	}
	for _, f := range r.Failed {
		if f.Kind == "case" && f.Error == "no error" { // it was to fail, and the data was wrong before it could
			continue
		}
		if f.Kind == "case" && (f.Graph == "" || f.Error == "") {
			t.Errorf("%+v", f)
		}
	}
	home, err := os.UserHomeDir()
	if err == nil && len(home) > 1 && strings.Contains(string(data), home) {
		t.Errorf("the report names %s", home)
	}
	for name, args := range map[string][]string{
		"two":     {"device", "check", "cpu", "interp"},
		"unknown": {"device", "check", "tpu"},
	} {
		if status, _, stderr := runCommand(t, nil, "", args...); status != statusUsage {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
	}
}

// TestDeviceCheckInProcesses checks a GPU that is well, and one whose driver
// crashes at a case: that one is named, and all others are run.
func TestDeviceCheckInProcesses(t *testing.T) {
	t.Chdir(t.TempDir())
	for like, want := range map[string]string{"fast": "", "fragile": "sort f32"} {
		var r checkReport
		out, complaints, err := newGPUMachine(t, like).start("", "device", "check", "metal:0", "--json")
		if (err == nil) != (want == "") || json.Unmarshal(out, &r) != nil {
			t.Fatalf("%s: %v\n%s", like, err, complaints)
		}
		if r.Passed != (want == "") || r.Cases < 100 || r.Late > 0 || len(r.Formats) < 4 || len(r.Rules) != 6 {
			t.Errorf("%s: %+v", like, r)
		}
		switch {
		case want == "" && len(r.Failed) == 0 && r.Fault == "":
		case len(r.Failed) != 1 || r.Failed[0].Name != want || !strings.Contains(r.Failed[0].Error, "crashes") || !strings.Contains(r.Fault, "crashes"):
			t.Errorf("%s: %q, %+v", like, r.Fault, r.Failed)
		}
	}
}

// wrongDevice changes a bit of every result.
type wrongDevice struct{ *interp.Device }

func (d wrongDevice) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	e, err := d.Device.Submit(ctx, b)
	if err == nil && e.Wait(ctx) == nil {
		for _, o := range b.Outputs {
			if out := o.Bytes(); len(out) > 0 {
				out[len(out)-1] ^= 0x40
			}
		}
	}
	return e, err
}
