package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
)

// TestDoubts says what times and bounds leave open.
func TestDoubts(t *testing.T) {
	rates := sinter.Limits{Operations: map[string]float64{"f32": 1e12}}
	if got := doubts([]sinter.KernelProfile{{Products: 1, Format: "bf16"}}, sinter.Limits{}); len(got) > 0 {
		t.Errorf("where nothing is known: %q", got)
	}
	for _, c := range []struct {
		kernels []sinter.KernelProfile
		want    []string
	}{
		{[]sinter.KernelProfile{{Products: 1, Format: "f32"}, {Operations: 1}, {Format: "bf16"}}, nil},
		{[]sinter.KernelProfile{{Products: 1, Format: "bf16"}, {Products: 1, Format: "int8"}, {Products: 2, Format: "bf16"}}, []string{"in bf16, int8 is known"}},
		{[]sinter.KernelProfile{{Apart: true}, {Products: 1, Format: "tf32", Apart: true}}, []string{"started by itself", "in tf32 is known"}},
	} {
		got := doubts(c.kernels, rates)
		if len(got) != len(c.want) {
			t.Fatalf("%+v: %q", c.kernels, got)
		}
		for i, w := range c.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%q, want %q", got[i], w)
			}
		}
	}
}

// TestProfileOfNoTime has kernels that took no time that could be measured.
func TestProfileOfNoTime(t *testing.T) {
	rows := profileRows([]sinter.KernelProfile{{Name: "a", Runs: 2, Operations: 10, Read: 4}}, sinter.Limits{Bandwidth: 1}, 2)
	var b strings.Builder
	if err := (&app{stdout: &b}).printProfile(rows, 0.001); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("%v:\n%s", err, &b)
	}
	b.Reset()
	if err := (&app{stdout: &b}).printJSON(rows); err != nil {
		t.Error(err)
	}
}

func TestGraphProfile(t *testing.T) {
	model := tiny(t, nil)
	timeline := filepath.Join(t.TempDir(), "timeline.json")
	var got struct {
		Seconds float64
		Kernels []profiled
	}
	out := ok(t, "", "graph", model, "--profile", "--batch", "2", "--tokens", "5", "--json", "--timeline", timeline)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	parts, sum, products := 0.0, 0.0, 0
	for _, k := range got.Kernels {
		parts, sum = parts+k.Part, sum+k.Seconds
		if strings.HasPrefix(k.Name, "matmul") && k.Rate > 0 {
			products++
		}
	}
	// Runs and kernels are timed in turns: on a busy machine the kernels may seem to take longer.
	if parts < 0.999 || parts > 1.001 || sum <= 0 || got.Seconds <= 0 || products == 0 {
		t.Errorf("parts add up to %v, kernels take %v of %v seconds, %d products", parts, sum, got.Seconds, products)
	}
	data, err := os.ReadFile(timeline)
	if err != nil {
		t.Fatal(err)
	}
	if n, want := strings.Count(string(data), `"ph":"X"`), profileRuns*len(got.Kernels); n != want {
		t.Errorf("%d events in the timeline, want %d", n, want)
	}
	// A run of many texts is several of the program.
	out = ok(t, "", "graph", model, "--profile", "--batch", "300", "--tokens", "5", "--json", "--timeline", timeline)
	var trace struct {
		Events []struct {
			Ph  string
			Dur float64
		} `json:"traceEvents"`
	}
	data, err = os.ReadFile(timeline)
	if err := errors.Join(err, json.Unmarshal([]byte(out), &got), json.Unmarshal(data, &trace)); err != nil {
		t.Fatal(err)
	}
	sum, drawn, events := 0.0, 0.0, 0
	for _, k := range got.Kernels {
		sum += k.Seconds
	}
	for _, e := range trace.Events {
		if e.Ph == "X" {
			drawn, events = drawn+e.Dur/1e6/profileRuns, events+1
		}
	}
	if events != 2*profileRuns*len(got.Kernels) || !(math.Abs(drawn-sum) <= 0.01*sum) {
		t.Errorf("kernels take %v seconds of a run, %d events %v", sum, events, drawn)
	}
	table := ok(t, "", "graph", model, "--profile", "--batch", "1", "--tokens", "3")
	if !strings.Contains(table, "OF BOUND") || !strings.Contains(table, "attention") || !strings.Contains(table, "a run takes") {
		t.Errorf("the table is\n%s", table)
	}
}
