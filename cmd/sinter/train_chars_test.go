package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/nn/gpt/gpttest"
)

var smallChars = []string{"--layers", "2", "--heads", "2", "--width", "16", "--block", "8", "--batch", "4"}

// trainChars trains a small net on a text and gives the lines of output.
func trainChars(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("to be, or not to be: that is the question\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := runCommand(t, nil, "", append(append([]string{"train", "chars", file, "--json"}, smallChars...), args...)...)
	if status != statusDone {
		t.Fatal(status, errs)
	}
	return jsonLines(t, out)
}

// A run reports steps and samples, leaves weights that PyTorch loads, and those
// go on to learn.
func TestTrainChars(t *testing.T) {
	dir := t.TempDir()
	lines := trainChars(t, "--steps", "60", "--out", dir)
	samples := 0
	for _, l := range lines[:len(lines)-1] {
		if _, ok := l["sample"].(string); ok {
			samples++
		} else if l["loss"] == nil {
			t.Errorf("a line without a loss: %v", l)
		}
	}
	last := lines[len(lines)-1]
	loss, _ := last["validation_loss"].(float64)
	if samples != 4 || len(lines) != 65 || last["done"] != true || !(loss > 0 && loss < 2.9) {
		t.Fatalf("%d lines, %d samples, at last %v", len(lines), samples, last)
	}
	model := filepath.Join(dir, "model.safetensors")
	more := trainChars(t, "--steps", "10", "--from", model)
	if first, _ := more[0]["loss"].(float64); !(first < 2.8) {
		t.Errorf("a net that has learned begins with loss %v", first)
	}
	net, err := gpt.New(gpt.Sizes{Vocabulary: int(last["vocabulary"].(float64)), Block: 8, Layers: 2, Heads: 2, Width: 16}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := loadWeights(t.Context(), model, net); err != nil {
		t.Fatal(err)
	}
	gpttest.PyTorchLoads(t, model, net, 2)
}

// What is gone on from has to be the same text, in batches of the same size; it
// may be for longer.
func TestTrainCharsGoesOn(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "text"), filepath.Join(dir, "other")
	for name, text := range map[string]string{file: "to be, or not to be: that is the question\n", other: "to be, or not to be: that is no question\n"} {
		if err := os.WriteFile(name, []byte(strings.Repeat(text, 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(file string, more ...string) (int, string) {
		args := append(append([]string{"train", "chars", file, "--json", "--out", filepath.Join(dir, "run")}, smallChars...), more...)
		status, _, errs := runCommand(t, nil, "", args...)
		return status, errs
	}
	if status, errs := run(file, "--steps", "6"); status != statusDone {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		file, say string
		more      []string
	}{
		{file, "its batch is", []string{"--batch", "5"}},
		{file, "its dtype is", []string{"--dtype", "bf16"}},
		{other, "its data is", nil},
	} {
		if status, errs := run(c.file, append(c.more, "--steps", "9", "--resume")...); status != statusFailed || !strings.Contains(errs, c.say) {
			t.Errorf("%v: status %d, %q, want %q", c.more, status, errs, c.say)
		}
	}
	if status, errs := run(file, "--steps", "9", "--resume"); status != statusDone {
		t.Error(errs)
	}
}

func TestTrainCharsRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"give one file":     {},
		"too short":         {file},
		"does not divide":   {file, "--heads", "5"},
		"no such file":      {file + "x"},
		"at least 1":        {file, "--steps", "0"},
		"characters a step": {file, "--batch", "288230376151711744"},
		"use at most":       {file, "--block", "999999999999999999"},
		"there are 2 argum": {file, file},
	} {
		status, _, errs := runCommand(t, nil, "", append([]string{"train", "chars"}, args...)...)
		if status == statusDone || !strings.Contains(errs, want) {
			t.Errorf("%q: status %d, %q, want %q", args, status, errs, want)
		}
	}
}
