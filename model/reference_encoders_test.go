package model

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
)

// referenceText is an entry of texts.json in the folder of a model: what
// testdata/gen/encoders.py has computed for it stands in reference.safetensors.
type referenceText struct {
	Text    string  `json:"text"`
	Prompt  *string `json:"prompt"`
	Query   string  `json:"query"`
	IDs     []int32 `json:"ids"`
	TypeIDs []int32 `json:"type_ids"`
}

func readTexts(t *testing.T, dir string) (texts []referenceText) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "texts.json"))
	if err == nil {
		err = json.Unmarshal(data, &texts)
	}
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("no texts")
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// modelDirs are the folders of reference models of a kind.
func modelDirs(t *testing.T, kind string) (dirs []string) {
	t.Helper()
	root := reftest.Dir(t, kind)
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(root, e.Name()))
		}
	}
	if len(dirs) == 0 {
		t.Fatal("no models in ", root)
	}
	return dirs
}

// TestReferenceEncoders runs a small model of every architecture and pipeline,
// each text alone and all in one ragged batch, which must agree bit for bit.
func TestReferenceEncoders(t *testing.T) {
	for name, d := range devices(t) {
		for _, dir := range modelDirs(t, "encoders") {
			t.Run(name+"/"+filepath.Base(dir), func(t *testing.T) { referenceEncoder(t, dir, sinter.Options{Device: d}) })
		}
	}
	for _, dir := range modelDirs(t, "encoders") {
		t.Run("no passes/"+filepath.Base(dir), func(t *testing.T) {
			referenceEncoder(t, dir, sinter.Options{NoOpt: []string{"all"}, Check: true})
		})
	}
}

func referenceEncoder(t *testing.T, dir string, o sinter.Options) {
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, ref := program(t, e, o), openReference(t, filepath.Join(dir, "reference.safetensors"))
	var texts [][]int32
	var alone [][][]float32
	for i, c := range readTexts(t, dir) {
		if e.Tokenizer != nil && c.Prompt == nil && e.DefaultPrompt == "" {
			if ids := e.Tokenizer.EncodeMax(c.Text, e.MaxTokens).IDs; !slices.Equal(ids, c.IDs) {
				t.Errorf("text %d: tokens %v, want %v", i, ids, c.IDs)
			}
		}
		got := run(t, p, c.IDs)
		want, _ := ref.floats(fmt.Sprintf("embedding.%d", i))
		if err := far(got[0], want); err > embeddingTolerance {
			t.Errorf("text %d: embedding is %g from the reference", i, err)
		}
		want, _ = ref.floats(fmt.Sprintf("hidden.%d", i))
		if err := far(got[len(got)-1], want); err > hiddenTolerance {
			t.Errorf("text %d: hidden state is %g from the reference", i, err)
		}
		texts, alone = append(texts, c.IDs), append(alone, got)
	}
	batchEqualsAlone(t, p, texts, alone)
}

// scores runs a cross-encoder over pairs as one batch.
func scores(t *testing.T, p *sinter.Program, types bool, pairs ...referenceText) []float32 {
	t.Helper()
	var ids, typeIDs []int32
	offsets := []int32{0}
	for _, c := range pairs {
		ids, typeIDs = append(ids, c.IDs...), append(typeIDs, c.TypeIDs...)
		offsets = append(offsets, int32(len(ids)))
	}
	in := map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}
	if types {
		in["types"] = sinter.Of(typeIDs, len(typeIDs))
	}
	out, err := p.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	values, err := sinter.Values[float32](context.Background(), out[0])
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// pairProgram runs a cross-encoder.
func pairProgram(t *testing.T, c *CrossEncoder, o sinter.Options) *sinter.Program {
	t.Helper()
	tokens := sinter.Sym("tokens", 0, 1<<20)
	in := Inputs{IDs: sinter.Input("ids", sinter.I32, tokens), Offsets: sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, 1<<20).Plus(1))}
	if c.UsesTypes() {
		in.TypeIDs = sinter.Input("types", sinter.I32, tokens)
	}
	p, err := sinter.Compile(sinter.Capture(c.Forward(in)), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestReferenceCrossEncoders does the same for scores of pairs.
func TestReferenceCrossEncoders(t *testing.T) {
	for name, d := range devices(t) {
		for _, dir := range modelDirs(t, "crossencoders") {
			t.Run(name+"/"+filepath.Base(dir), func(t *testing.T) { referenceCrossEncoder(t, dir, d) })
		}
	}
}

func referenceCrossEncoder(t *testing.T, dir string, d *sinter.Device) {
	c, err := OpenCrossEncoder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, ref := pairProgram(t, c, sinter.Options{Device: d}), openReference(t, filepath.Join(dir, "reference.safetensors"))
	pairs := readTexts(t, dir)
	batch := scores(t, p, c.UsesTypes(), pairs...)
	for i, pair := range pairs {
		if e := c.Tokenizer.EncodePairMax(pair.Query, pair.Text, c.MaxTokens); c.Tokenizer != nil && !(slices.Equal(e.IDs, pair.IDs) && (!c.UsesTypes() || slices.Equal(e.TypeIDs, pair.TypeIDs))) {
			t.Errorf("pair %d: tokens %v of types %v, want %v of %v", i, e.IDs, e.TypeIDs, pair.IDs, pair.TypeIDs)
		}
		want, _ := ref.floats(fmt.Sprintf("score.%d", i))
		got := scores(t, p, c.UsesTypes(), pair)
		if err := far(got, want); err > embeddingTolerance {
			t.Errorf("pair %d: the score is %v, %g from the reference", i, got, err)
		}
		if !same(got, batch[i:i+1]) {
			t.Errorf("pair %d: the score in a batch, %v, differs from the one alone, %v", i, batch[i], got)
		}
	}
}
