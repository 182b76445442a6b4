package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/safetensors"
)

// TestTrainDigits runs the task with an epoch a net: what it says, not how good
// it is, which package digits tests. Then it goes on from checkpoints, some of
// nets that are done and one in the middle, and ends with the same bits.
func TestTrainDigits(t *testing.T) {
	dir := t.TempDir()
	args := []string{"train", "digits", "--epochs", "1", "--json", "--checkpoint-every", "10", "--out", dir}
	all := jsonLines(t, ok(t, "", args...))
	if len(all) != 12 {
		t.Fatalf("%d lines, want one for each of eleven nets and a last one", len(all))
	}
	if first := all[5]; first["folds"] != "contiguous" || first["part"] != 0.0 || first["loss"] == nil {
		t.Errorf("line 6: %v", first)
	}
	last := all[11]
	for name, least := range map[string]float64{"accuracy": 0.3, "accuracy_contiguous": 0.3, "neighbours": 0.98, "neighbours_contiguous": 0.96, "fold_seconds": 0} {
		if v, _ := last[name].(float64); !(v > least && (v < 1 || name == "fold_seconds")) {
			t.Errorf("%s is %v", name, last[name])
		}
	}
	if counts, _ := last["confusion"].([]any); last["done"] != true || len(counts) != 10 {
		t.Errorf("the last line: %v", last)
	}
	model := filepath.Join(dir, "model.safetensors")
	weights, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Parse(model, weights)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Tensor("blocks.0.norm.running_var"); !ok {
		t.Errorf("the file has %v", f.Names())
	}

	killInThirdNet(t, filepath.Join(dir, "checkpoints"))
	all = jsonLines(t, ok(t, "", append(args, "--resume")...))
	again, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	got := all[len(all)-1]
	for _, name := range []string{"accuracy", "accuracy_contiguous"} {
		if got[name] != last[name] {
			t.Errorf("%s is %v where the run goes on, and was %v", name, got[name], last[name])
		}
	}
	if !bytes.Equal(weights, again) {
		t.Error("the run that goes on ends with other weights")
	}
}

// killInThirdNet leaves checkpoints as if the run had ended at step 10 of 22 of
// its third net.
func killInThirdNet(t *testing.T, dir string) {
	t.Helper()
	remove := []string{}
	for _, net := range []string{"shuffled-3", "shuffled-4", "contiguous-*", "all"} {
		found, err := filepath.Glob(filepath.Join(dir, net))
		if err != nil || len(found) == 0 {
			t.Fatalf("checkpoints of %s: %v, %v", net, found, err)
		}
		remove = append(remove, found...)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "shuffled-2", "*"))
	if err != nil || len(kept) != 3 { // by name, which is by step
		t.Fatalf("checkpoints %v, %v", kept, err)
	}
	for _, path := range append(remove, kept[1:]...) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Without --out a run that ends early leaves nothing behind.
func TestTrainDigitsKeepsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	var errs bytes.Buffer
	read, write := io.Pipe()
	_ = read.Close()
	if status := run(t.Context(), []string{"train", "digits", "--epochs", "1", "--json"}, nil, write, &errs, environment{}.get); status != statusDone || errs.Len() > 0 {
		t.Errorf("status %d, %q", status, errs.String())
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestTrainDigitsRefuses(t *testing.T) {
	if status, _, errs := runCommand(t, nil, "", "train", "digits", "--epochs", "0"); status != statusUsage || !strings.Contains(errs, "at least 1") {
		t.Errorf("no epochs: status %d, %q", status, errs)
	}
}
