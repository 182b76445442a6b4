package minilm

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/safetensors"
)

func TestFS(t *testing.T) {
	if err := fstest.TestFS(FS, weightsName, "config.json", "1_Pooling/config.json", "tokenizer.json", "LICENSE"); err != nil {
		t.Error(err)
	}
	total := len(weights)
	const limit = 25e6
	if total > limit {
		t.Errorf("%d bytes of weights, want at most %d", total, int(limit))
	}
}

// TestReferenceCosine compares the embeddings of 8-bit weights with those of
// the publisher's in float64.
func TestReferenceCosine(t *testing.T) {
	dir := reftest.Dir(t, "minilm")
	var texts []string
	data, err := os.ReadFile(filepath.Join(dir, "embeddings.json"))
	if err == nil {
		err = json.Unmarshal(data, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(filepath.Join(dir, "embeddings.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ref, ok := f.Tensor("embeddings")
	if !ok {
		t.Fatal("no embeddings in the reference")
	}
	ctx := context.Background()
	want, err := sinter.Values[float32](ctx, sinter.Weight("ref", ref.DType, ref.Data, ref.Shape...).Cast(sinter.F32))
	if err != nil {
		t.Fatal(err)
	}
	e, err := embed.New(ctx, embed.Options{FS: FS})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := e.Encode(ctx, texts)
	if err != nil {
		t.Fatal(err)
	}
	mean, least := 0.0, 1.0
	for i, v := range got {
		c := float64(embed.Cosine(v, want[i*len(v):(i+1)*len(v)]))
		mean += c / float64(len(got))
		least = math.Min(least, c)
	}
	t.Logf("cosine to the reference: mean %.5f, least %.5f", mean, least)
	if !(mean >= 0.997 && least >= 0.985) {
		t.Errorf("cosine to the reference: mean %.5f, least %.5f, want 0.997 and 0.985", mean, least)
	}
}
