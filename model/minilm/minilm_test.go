package minilm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
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

// Digest changes with every byte of the model.
func TestDigest(t *testing.T) {
	h := sha256.New()
	err := fs.WalkDir(FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(FS, name)
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != digest {
		t.Errorf("the model has changed: digest must be %q", got)
	}
}

// reference gives the texts of the reference data and the embeddings of the
// publisher's weights in float64.
func reference(t *testing.T) (texts []string, embeddings []float32) {
	t.Helper()
	dir := reftest.Dir(t, "minilm")
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
	embeddings, err = sinter.Values[float32](context.Background(), sinter.Weight("ref", ref.DType, ref.Data, ref.Shape...).Cast(sinter.F32))
	if err != nil {
		t.Fatal(err)
	}
	return texts, embeddings
}

// TestReferenceCosine compares the embeddings of 8-bit weights, in each number
// format, with those of the publisher's in float64.
func TestReferenceCosine(t *testing.T) {
	texts, want := reference(t)
	for _, c := range []struct {
		name        string
		precision   sinter.Precision
		mean, least float64
	}{
		{"as the model asks", 0, 0.997, 0.99},
		{"f32", sinter.F32, 0.999, 0.995},
		{"bf16", sinter.BF16, 0.999, 0.995},
		{"f16", sinter.F16, 0.999, 0.995},
		{"int8", sinter.Int8, 0.997, 0.99},
		{"int4", sinter.Int4, 0.95, 0.85},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			e, err := embed.New(ctx, embed.Options{FS: FS, Precision: c.precision})
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
			if !(mean >= c.mean && least >= c.least) {
				t.Errorf("cosine to the reference: mean %.5f, least %.5f, want %v and %v", mean, least, c.mean, c.least)
			}
		})
	}
}
