package main

import (
	"strings"
	"testing"
)

// TestTuneRefuses says what is wrong before anything is measured.
func TestTuneRefuses(t *testing.T) {
	model := tiny(t, nil)
	for _, c := range []struct {
		args   []string
		env    environment
		status int
		says   string
	}{
		{[]string{"tune", "--budget", "0"}, nil, 2, "--budget 0"},
		{[]string{"tune", "--budget", "NaN"}, nil, 2, "--budget NaN"},
		{[]string{"tune", "--batch", "0"}, nil, 2, "--batch 0"},
		{[]string{"tune", "a", "b"}, nil, 2, "give one model"},
		{[]string{"tune"}, environment{envNoOpt: "tuning"}, 2, envNoOpt + " has tuning"},
		{[]string{"tune", "--device", "cpu", model}, nil, 1, "chosen by a model"},
	} {
		status, stdout, stderr := runCommand(t, c.env, "", c.args...)
		if status != c.status || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
}

// TestTuneTable is what people and scripts get of a tuning.
func TestTuneTable(t *testing.T) {
	var b strings.Builder
	a := &app{stdout: &b}
	r := tuneReport{Model: "m", Device: "opencl:0", Batch: 2, Tokens: 8, Before: 0.2, After: 0.1, Speedup: 2, Kernels: []tunedKernel{
		{Name: "matmul", Runs: 6, Before: 2e-3, After: 1e-3, Share: 0.5, Tried: 40, Refused: 1, Same: 57, Changed: true},
		{Name: "attention", Runs: 1, Before: 2e-5, After: 2e-5, Tried: 3},
	}}
	if err := a.printTuning(r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2.00 ms", "1.00 ms", "2.00x", "50 %", "SAME", "57", "matmul", "20 us", "attention", "200.00 ms before, 100.00 ms after, 2.00x"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	a.settings.json = true
	if err := a.printTuning(r); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{`"speedup": 2`, `"before_seconds": 0.002`, `"bound_share": 0.5`, `"refused": 1`, `"same": 57`, `"changed": true`, `"device": "opencl:0"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
