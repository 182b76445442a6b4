// Package gpttest compares GPTs with PyTorch's, for tests.
package gpttest

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/safetensors"
)

//go:embed gpt.py
var script []byte

// PyTorchLoads has PyTorch load the file of a net's weights, with strict=True,
// and compare its logits of one whole block of ids 0, 1, ..., to 1e-5. It skips
// where SINTER_PYTHON does not name a Python that has torch.
func PyTorchLoads(t *testing.T, model string, net *gpt.Net, heads int) {
	t.Helper()
	python := os.Getenv("SINTER_PYTHON")
	if python == "" {
		t.Skip("SINTER_PYTHON does not name a Python that has torch")
	}
	ids := make([]int64, net.Places.Count)
	for i := range ids {
		ids[i] = int64(i % net.Words.Count)
	}
	logits := sinter.NewVariable("logits", net.Logits(sinter.Of(ids, 1, len(ids))))
	all, err := nn.Snapshot(context.Background(), []nn.Param{{Name: "logits", Variable: logits}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "logits.safetensors")
	f, err := os.Create(file)
	if err == nil {
		err = safetensors.Write(f, all, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gpt.py")
	if err := os.WriteFile(program, script, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, program, "check", model, file, strconv.Itoa(heads)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
