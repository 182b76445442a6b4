package embed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/safetensors"
)

// referenceModel is a folder with a tiny model and what the reference
// implementation computes for texts.
type referenceModel struct {
	dir   string
	texts []struct {
		Text, Query string
		Prompt      *string
	}
	file *safetensors.File
}

func referenceModels(t *testing.T, kind string) (all []referenceModel) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(reftest.Dir(t, kind), "*", "texts.json"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no models of kind ", kind, err)
	}
	for _, file := range dirs {
		m := referenceModel{dir: filepath.Dir(file)}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &m.texts)
		}
		if err == nil {
			m.file, err = safetensors.Open(filepath.Join(m.dir, "reference.safetensors"))
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.file.Close() })
		all = append(all, m)
	}
	return all
}

// near compares numbers with those of the reference.
func (m referenceModel) near(t *testing.T, name string, got []float32) {
	t.Helper()
	v, ok := m.file.Tensor(name)
	if !ok {
		t.Fatalf("no %s in the reference", name)
	}
	want, err := sinter.Values[float64](context.Background(), sinter.Weight(name, v.DType, v.Data, v.Shape...).Cast(sinter.F64))
	if err != nil || len(want) != len(got) {
		t.Fatalf("%s: %d numbers, want %d (%v)", name, len(got), len(want), err)
	}
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= 1e-6) {
			t.Errorf("%s: number %d is %v, want %v", name, i, got[i], want[i])
			return
		}
	}
}

// Texts give the vectors of the reference, prompts and all.
func TestReferenceTexts(t *testing.T) {
	for _, m := range referenceModels(t, "encoders") {
		t.Run(filepath.Base(m.dir), func(t *testing.T) {
			encoders := map[string]*embed.Encoder{}
			for i, c := range m.texts {
				prompt := ""
				if c.Prompt != nil {
					prompt = *c.Prompt
				}
				e := encoders[prompt]
				if e == nil {
					var err error
					if e, err = embed.New(context.Background(), embed.Options{Model: m.dir, Prompt: prompt}); err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					encoders[prompt] = e
				}
				name := fmt.Sprintf("embedding.%d", i)
				got := encode(t, e, []string{c.Text})[0]
				m.near(t, name, got)
				switch prompt {
				case "query":
					m.near(t, name, must(t)(encoders[""].EncodeQuery(context.Background(), []string{c.Text}))[0])
				case "passage", "document":
					m.near(t, name, must(t)(encoders[""].EncodePassage(context.Background(), []string{c.Text}))[0])
				}
			}
		})
	}
}

func must(t *testing.T) func([][]float32, error) [][]float32 {
	return func(v [][]float32, err error) [][]float32 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Pairs have the scores of the reference, from any number of goroutines.
func TestReferencePairs(t *testing.T) {
	ctx := context.Background()
	for _, m := range referenceModels(t, "crossencoders") {
		t.Run(filepath.Base(m.dir), func(t *testing.T) {
			r, err := embed.NewReranker(ctx, embed.Options{Model: m.dir, BatchTokens: 40})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var wait sync.WaitGroup
			for i, c := range m.texts {
				wait.Go(func() {
					texts := []string{"first", c.Text, strings.Repeat("a long text ", 40)}
					got, err := r.Scores(ctx, c.Query, texts)
					if err != nil || len(got) != len(texts) {
						t.Errorf("%d scores: %v", len(got), err)
						return
					}
					m.near(t, fmt.Sprintf("score.%d", i), got[1:2])
				})
			}
			wait.Wait()
		})
	}
}
