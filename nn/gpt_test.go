package nn_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/nn/gpt/gpttest"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

// newGPT is the net of gpt/gpttest/gpt.py.
func newGPT(t *testing.T) *gpt.Net {
	t.Helper()
	g, err := gpt.New(gpt.Sizes{Vocabulary: 20, Block: 8, Layers: 2, Heads: 4, Width: 16}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var firstIDs = sinter.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7}, 1, 8)

// TestPyTorchGoesOnHere loads what PyTorch has trained: the logits are the
// same, and so are the losses of ten more steps.
func TestPyTorchGoesOnHere(t *testing.T) {
	f, err := safetensors.Open("testdata/gpt.safetensors") // made by gpt/gpttest/gpt.py
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := newGPT(t)
	pytorchCase{net: g}.loadAs(t, f, "", sinter.F32)
	logits, _ := f.Tensor("logits")
	near(t, "logits", g.Logits(firstIDs), weight(logits), 1e-6)

	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(g), Method: optim.AdamW{Beta2: 0.99, WeightDecay: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	batch := sinter.Input("batch", sinter.I64, sinter.Dims(3, 9)...)
	loss := sinter.CrossEntropy(g.Logits(batch.Slice(sinter.Range{}, sinter.Range{Stop: 8})), batch.Slice(sinter.Range{}, sinter.Range{Start: 1}), sinter.CrossEntropyOptions{})
	updates, err := opt.Update(loss, sinter.Scalar(3e-3))
	if err != nil {
		t.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(append(updates, loss)...), sinter.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	batches, _ := f.Tensor("batches")
	losses, _ := f.Tensor("losses")
	want := values(t, weight(losses))
	for i := range want {
		outs, err := step.Run(context.Background(), map[string]sinter.Tensor{"batch": weight(batches).Index(0, i)})
		if err != nil {
			t.Fatal(err)
		}
		if got := values(t, outs[len(outs)-1])[0]; !(math.Abs(got-want[i]) <= 1e-5*want[i]) {
			t.Errorf("loss of step %d is %v, PyTorch's %v", i, got, want[i])
		}
	}
}

// TestPyTorchLoadsIt has PyTorch load what Save wrote, with strict=True, where
// SINTER_PYTHON names a Python that has torch.
func TestPyTorchLoadsIt(t *testing.T) {
	g := newGPT(t)
	if err := nn.Init(g, nn.Options{Seed: 4}); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model.safetensors")
	f, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(nn.Save(context.Background(), f, g, map[string]string{"format": "pt"}), f.Close()); err != nil {
		t.Fatal(err)
	}
	gpttest.PyTorchLoads(t, model, g, 4)
}
