package training_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// agreeing is how many losses can be compared. From the twelfth step on the net
// is chaotic: begun with weights that are off by 1e-7 of themselves, or in f64,
// the other framework is off from its own losses by up to 2e-2.
const agreeing = 12

// TestLosses compares the losses of gpt6 with those of another framework, from
// the file that SINTER_GPT6 names: tensors "weight.*", "ids", "targets" and
// "losses".
func TestLosses(t *testing.T) {
	file := os.Getenv("SINTER_GPT6")
	if file == "" {
		t.Skip("SINTER_GPT6 names no file with losses to compare with")
	}
	ctx := context.Background()
	want, err := training.Losses(file)
	if err != nil {
		t.Fatal(err)
	}
	net, err := training.Find("gpt6")
	if err != nil {
		t.Fatal(err)
	}
	step, err := net.Step(training.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := step.Load(ctx, file); err != nil {
		t.Fatal(err)
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	want = want[:min(len(want), agreeing)]
	losses, err := step.Losses(ctx, program, len(want))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		off := math.Abs(losses[i]-w) / w
		t.Logf("step %d: %.7f, want %.7f, off by %.1e", i, losses[i], w, off)
		if !(off <= 1e-4) {
			t.Errorf("the loss of step %d is %v, want %v", i, losses[i], w)
		}
	}
}

// A step that begins with another's weights and what its optimizer remembered goes on as
// that does; what is remembered in part is refused.
func TestLoadState(t *testing.T) {
	ctx := context.Background()
	net, err := training.Find("gpt")
	if err != nil {
		t.Fatal(err)
	}
	first, program := compiled(t, net)
	if _, err := first.Losses(ctx, program, 3); err != nil {
		t.Fatal(err)
	}
	weights, err := nn.State(first.Net)
	if err != nil {
		t.Fatal(err)
	}
	var params []nn.Param
	for _, w := range weights {
		params = append(params, nn.Param{Name: "weight." + w.Name, Variable: w.Variable})
	}
	for _, v := range first.State {
		params = append(params, nn.Param{Name: "state." + v.Name(), Variable: v})
	}
	tensors, err := nn.Snapshot(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	for name, input := range map[string]string{"ids": "ids", "targets": "next"} {
		ids, err := sinter.Values[int64](ctx, first.Inputs[input])
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		for _, id := range ids {
			data = binary.LittleEndian.AppendUint64(data, uint64(id))
		}
		tensors = append(tensors, safetensors.Tensor{Name: name, DType: sinter.I64, Shape: net.Shape(), Data: data})
	}
	want, err := first.Losses(ctx, program, 3)
	if err != nil {
		t.Fatal(err)
	}

	second, again := compiled(t, net)
	if err := second.Load(ctx, written(t, tensors)); err != nil {
		t.Fatal(err)
	}
	got, err := second.Losses(ctx, again, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("losses %v, want %v", got, want)
	}
	part := slices.DeleteFunc(tensors, func(x safetensors.Tensor) bool { return x.Name == "state.optim.count" })
	if err := second.Load(ctx, written(t, part)); err == nil || !strings.Contains(err.Error(), "optim.count") {
		t.Errorf("without the number of updates: %v", err)
	}
}

func compiled(t *testing.T, net training.Net) (*training.Step, *sinter.Program) {
	step, err := net.Step(training.Options{})
	if err != nil {
		t.Fatal(err)
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return step, program
}

// written is the name of a file with tensors.
func written(t *testing.T, tensors []safetensors.Tensor) string {
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "step.safetensors")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
