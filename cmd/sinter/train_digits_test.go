package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/safetensors"
)

// TestTrainDigits runs the task with an epoch a net: what it says, not how good
// it is, which package digits tests.
func TestTrainDigits(t *testing.T) {
	dir := t.TempDir()
	all := jsonLines(t, ok(t, "", "train", "digits", "--epochs", "1", "--json", "--out", dir))
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
	f, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.Tensor("blocks.0.norm.running_var"); !ok {
		t.Errorf("the file has %v", f.Names())
	}

	if status, _, errs := runCommand(t, nil, "", "train", "digits", "--epochs", "0"); status != statusUsage || !strings.Contains(errs, "at least 1") {
		t.Errorf("no epochs: status %d, %q", status, errs)
	}
}
