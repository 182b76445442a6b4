package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/safetensors"
)

// Tolerances of the reference data, absolute.
const (
	embeddingTolerance = 1e-6
	hiddenTolerance    = 2e-5
)

// devices are the referee and every instruction set of the processor.
func devices(t *testing.T) map[string]*sinter.Device {
	all := map[string]*sinter.Device{}
	add := func(name string, d *sinter.Device, err error) {
		if err != nil {
			t.Logf("%s: %v", name, err)
			return
		}
		t.Cleanup(func() { _ = d.Close() })
		all[name] = d
	}
	d, err := sinter.Open("interp")
	add("interp", d, err)
	for _, isa := range []string{"amx", "avx512", "avx2", "neon", "generic"} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
		add(isa, d, err)
	}
	return all
}

// program runs an encoder with every hidden state among its results.
func program(t *testing.T, e *Encoder, o sinter.Options) *sinter.Program {
	t.Helper()
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, 1<<20))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, 1<<20).Plus(1))
	out := e.Forward(Inputs{IDs: ids, Offsets: offsets})
	p, err := sinter.Compile(sinter.Capture(append([]sinter.Tensor{out.Embedding}, out.Hidden...)...), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// run gives the values of every result for a batch of texts.
func run(t *testing.T, p *sinter.Program, texts ...[]int32) [][]float32 {
	t.Helper()
	var flat []int32
	offsets := []int32{0}
	for _, ids := range texts {
		flat = append(flat, ids...)
		offsets = append(offsets, int32(len(flat)))
	}
	ctx := context.Background()
	out, err := p.Run(ctx, map[string]sinter.Tensor{"ids": sinter.Of(flat, len(flat)), "offsets": sinter.Of(offsets, len(offsets))})
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float32, len(out))
	for i, o := range out {
		if values[i], err = sinter.Values[float32](ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// far is the largest distance between got and want; NaN counts as infinite.
func far(got []float32, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range got {
		d := math.Abs(float64(got[i]) - want[i])
		if !(d <= worst) {
			worst = d
		}
		if math.IsNaN(d) {
			return math.Inf(1)
		}
	}
	return worst
}

// reference is a file of reference tensors.
type reference struct {
	t *testing.T
	f *safetensors.File
}

func openReference(t *testing.T, file string) reference {
	f, err := safetensors.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return reference{t, f}
}

func (r reference) floats(name string) ([]float64, []int) {
	v, ok := r.f.Tensor(name)
	if !ok {
		r.t.Fatalf("no tensor %q in the reference", name)
	}
	out, err := sinter.Values[float64](context.Background(), sinter.Weight(name, v.DType, v.Data, v.Shape...).Cast(sinter.F64))
	if err != nil {
		r.t.Fatal(err)
	}
	return out, v.Shape
}

func (r reference) ids(name string) []int32 {
	v, ok := r.f.Tensor(name)
	if !ok {
		return nil
	}
	out, err := sinter.Values[int32](context.Background(), sinter.Weight(name, v.DType, v.Data, v.Shape...).Cast(sinter.I32))
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// same compares two results bit for bit.
func same(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// TestReferenceBERT runs the small encoders of odd shapes, each text alone and
// all in one ragged batch, which must agree bit for bit.
func TestReferenceBERT(t *testing.T) {
	root := reftest.Dir(t, "bert")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range devices(t) {
		for _, dir := range dirs {
			if !dir.IsDir() {
				continue
			}
			t.Run(name+"/"+dir.Name(), func(t *testing.T) { referenceBERT(t, filepath.Join(root, dir.Name()), d) })
		}
	}
}

func referenceBERT(t *testing.T, dir string, d *sinter.Device) {
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, noOpt := range [][]string{nil, {"all"}} {
		p := program(t, e, sinter.Options{Device: d, NoOpt: noOpt, Check: true})
		ref := openReference(t, filepath.Join(dir, "reference.safetensors"))
		var texts [][]int32
		var alone [][][]float32
		for i := 0; ; i++ {
			ids := ref.ids(fmt.Sprintf("ids.%d", i))
			if ids == nil {
				break
			}
			got := run(t, p, ids)
			want, _ := ref.floats(fmt.Sprintf("embedding.%d", i))
			if err := far(got[0], want); err > embeddingTolerance {
				t.Errorf("text %d: embedding is %g from the reference", i, err)
			}
			want, _ = ref.floats(fmt.Sprintf("hidden.%d", i))
			if err := far(got[len(got)-1], want); err > hiddenTolerance {
				t.Errorf("text %d: hidden state is %g from the reference", i, err)
			}
			texts, alone = append(texts, ids), append(alone, got)
		}
		if len(texts) == 0 {
			t.Fatal("the reference holds no texts")
		}
		batchEqualsAlone(t, p, texts, alone)
	}
}

// batchEqualsAlone runs all texts as one batch and compares the embeddings.
func batchEqualsAlone(t *testing.T, p *sinter.Program, texts [][]int32, alone [][][]float32) {
	t.Helper()
	batch := run(t, p, texts...)[0]
	width := len(batch) / len(texts)
	for i := range texts {
		if !same(batch[i*width:(i+1)*width], alone[i][0]) {
			t.Errorf("text %d: the embedding in a batch differs from the one alone", i)
		}
	}
}

// miniLM opens the real model and gives the reference texts, as ids, and their
// embeddings.
func miniLM(t *testing.T) (e *Encoder, ids [][]int32, want []float64, width int, ref reference) {
	t.Helper()
	dir := reftest.Dir(t, "minilm")
	e, err := Open(reftest.Model(t, "minilm"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	var texts []string
	data, err := os.ReadFile(filepath.Join(dir, "embeddings.json"))
	if err == nil {
		err = json.Unmarshal(data, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		ids = append(ids, e.Tokenizer.EncodeMax(text, e.MaxTokens).IDs)
	}
	ref = openReference(t, filepath.Join(dir, "embeddings.safetensors"))
	want, shape := ref.floats("embeddings")
	if shape[0] != len(texts) {
		t.Fatalf("%d texts, %d embeddings", len(texts), shape[0])
	}
	return e, ids, want, shape[1], ref
}

// TestReferenceMiniLM runs the real model over the reference texts.
func TestReferenceMiniLM(t *testing.T) {
	for name, d := range devices(t) {
		t.Run(name, func(t *testing.T) { referenceMiniLM(t, name, d) })
	}
}

func referenceMiniLM(t *testing.T, name string, d *sinter.Device) {
	e, ids, want, width, ref := miniLM(t)
	p := program(t, e, sinter.Options{Device: d})
	near := func(text int, got []float32) {
		if err := far(got, want[text*width:(text+1)*width]); err > embeddingTolerance {
			t.Errorf("text %d: embedding is %g from the reference", text, err)
		}
	}
	texts := shortest(ids, testable(name, len(ids)))
	alone := map[int][]float32{}
	for _, i := range texts {
		alone[i] = run(t, p, ids[i])[0]
		near(i, alone[i])
	}
	if name != "interp" && name != "generic" && !testing.Short() {
		step := 1
		if strings.HasPrefix(name, "vulkan") { // on the processor
			step = effort.Of(8, 8, 8, 3)
		}
		all, first := shortest(ids, len(ids)), len(texts)
		for at := len(all) - 1; at >= first; at -= step { // the longest whatever the step
			texts = append(texts, all[at])
		}
	}
	var batch [][]int32
	for _, i := range texts {
		batch = append(batch, ids[i])
	}
	together := run(t, p, batch...)[0]
	for n, i := range texts {
		got := together[n*width : (n+1)*width]
		near(i, got)
		if alone[i] != nil && !same(got, alone[i]) {
			t.Errorf("text %d: the embedding in a batch differs from the one alone", i)
		}
	}
	if name != "interp" {
		hiddenStates(t, p, ref)
	}
}

// hiddenStates compares the state after every block.
func hiddenStates(t *testing.T, p *sinter.Program, ref reference) {
	got := run(t, p, ref.ids("hidden.ids"))
	for i, h := range got[1:] {
		want, _ := ref.floats(fmt.Sprintf("hidden.%d", i))
		if err := far(h, want); err > hiddenTolerance {
			t.Errorf("hidden state %d is %g from the reference", i, err)
		}
	}
}

// testable is how many texts a device embeds in seconds, of n.
func testable(device string, n int) int {
	switch {
	case device == "interp", testing.Short():
		return 3
	case device == "generic":
		return 10
	case strings.HasPrefix(device, "vulkan"): // on the processor
		return effort.Of(4, 4, 4, 10)
	}
	return n
}

// shortest gives the places of the n shortest texts.
func shortest(ids [][]int32, n int) []int {
	var chosen []int
	for limit := 0; len(chosen) < min(n, len(ids)); limit++ {
		for i, t := range ids {
			if len(t) == limit && len(chosen) < n {
				chosen = append(chosen, i)
			}
		}
	}
	return chosen
}

// TestMissing opens folders without what a model needs.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type":"gpt2"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `"gpt2"`) {
		t.Errorf("another architecture: %v", err)
	}
}
