package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDeviceBatch(t *testing.T) {
	model := tiny(t, nil)
	var r batchReport
	if err := json.Unmarshal([]byte(ok(t, "", "device", "batch", model, "--device", "cpu", "--json", "--most", "3", "--again")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Device != "cpu" || r.Model != model || r.DType != "f32" || r.Tokens < 1 || r.Ended != "most" || r.Kept || len(r.Tried) != 2 || r.Used != 1024 || r.Memory <= 0 {
		t.Errorf("%+v", r)
	}
	if one, two := r.Tried[0], r.Tried[1]; one.Batch != 1 || two.Batch != 2 || two.Bytes <= one.Bytes || two.Seconds <= 0 || two.Rate <= 0 {
		t.Errorf("%+v", r)
	}
	text := ok(t, "", "device", "batch", "--model", model, "--device", "cpu", "--most", "3")
	for _, want := range []string{"TEXTS A SECOND", " at a time; no more were to be tried", "1024 tokens at a time"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var short batchReport
	if err := json.Unmarshal([]byte(ok(t, "", "device", "batch", model, "--device", "cpu", "--json", "--budget", "1e-12", "--again")), &short); err != nil {
		t.Fatal(err)
	}
	if short.Ended != "time" || len(short.Tried) != 1 {
		t.Errorf("almost no time: %+v", short)
	}
	if status, _, stderr := runCommand(t, nil, "", "device", "batch", model, "--budget", "1e10"); status != statusUsage || !strings.Contains(stderr, "at most 2147483647") {
		t.Errorf("too much time: status %d: %s", status, stderr)
	}
	for what, args := range map[string][]string{
		"two models":    {"a", "b"},
		"model twice":   {model, "--model", "x"},
		"no batch":      {model, "--most", "0"},
		"no time":       {model, "--budget", "0"},
		"no time, NaN":  {model, "--budget", "NaN"},
		"no such model": {"--device", "tpu", model},
	} {
		if status, _, stderr := runCommand(t, nil, "", append([]string{"device", "batch"}, args...)...); status != statusUsage {
			t.Errorf("%s: status %d: %s", what, status, stderr)
		}
	}
}
