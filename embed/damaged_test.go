package embed

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/modeltest"
	"github.com/sinterml/sinter/safetensors"
)

var someTexts = []string{"abc", "", "the quick brown fox", "a"}

func openFolder(t *testing.T, dir string, p sinter.Precision) *Encoder {
	t.Helper()
	e, err := New(t.Context(), Options{Model: dir, Precision: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// Weights that are no numbers never give vectors: the error names the file and
// the first such tensor. That holds for every tensor that is used, in each
// precision, and for infinities.
func TestWeightsThatAreNoNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, name := range modeltest.Tensors() {
			data := modeltest.BERTWeights(func(x *safetensors.Tensor) {
				if x.Name != name {
					return
				}
				for i := 0; i < len(x.Data); i += 4 * 5 {
					binary.LittleEndian.PutUint32(x.Data[i:], math.Float32bits(float32(bad)))
				}
			})
			dir := modeltest.BERT().With("model.safetensors", data).Write(t)
			for _, p := range []sinter.Precision{sinter.F32, sinter.Int8} {
				vectors, err := openFolder(t, dir, p).Encode(t.Context(), someTexts)
				if err == nil {
					// Infinite keys or scores can end in weights of 0 and 1.
					if math.IsInf(bad, 0) && !slices.ContainsFunc(vectors, notNumbers) {
						continue
					}
					t.Errorf("%v in %s, %v: vectors %v", bad, name, p, vectors)
				} else if !strings.Contains(err.Error(), fmt.Sprintf("%s: tensor %q", filepath.Join(dir, "model.safetensors"), name)) {
					t.Errorf("%v in %s, %v: %v", bad, name, p, err)
				}
			}
		}
	}
}

func notNumbers(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 })
}

// A word whose row is no number spoils its own text alone.
func TestOneBadRow(t *testing.T) {
	dir := modeltest.BERT().With("model.safetensors", modeltest.BERTWeights(func(x *safetensors.Tensor) {
		if x.Name == "embeddings.word_embeddings.weight" {
			row := 4 + 'q' - 'a'
			binary.LittleEndian.PutUint32(x.Data[4*modeltest.Hidden*row:], math.Float32bits(float32(math.NaN())))
		}
	})).Write(t)
	e := openFolder(t, dir, sinter.F32)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { // batches of several callers
			for range 20 {
				if v, err := e.Encode(t.Context(), []string{"abc"}); err != nil || notNumbers(v[0]) {
					t.Errorf("a text without the word: %v, %v", v, err)
				}
			}
		})
		wait.Go(func() {
			for range 20 {
				if v, err := e.Encode(t.Context(), []string{"q"}); err == nil {
					t.Errorf("a text of the word: %v", v)
				}
			}
		})
	}
	wait.Wait()
}

// A model file that shrinks while it is in use, to every length class: never a
// vector of what is left, and the error names the file. It stays, even where the
// file is restored, for what was packed meanwhile is of zeros; a new encoder
// serves.
func TestModelFileShrinks(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("files are read into memory")
	}
	folder := modeltest.BERT()
	weights := folder["model.safetensors"]
	for _, length := range []int{0, 1, 100, 4096, len(weights) / 2, len(weights) - 4096, len(weights) - 1} {
		for _, before := range []bool{false, true} { // the first run has packed weights
			for _, precision := range []sinter.Precision{sinter.F32, sinter.Int8} {
				dir := folder.Write(t)
				path := filepath.Join(dir, "model.safetensors")
				want, err := openFolder(t, modeltest.BERT().Write(t), precision).Encode(t.Context(), someTexts)
				if err != nil {
					t.Fatal(err)
				}
				e := openFolder(t, dir, precision)
				if before {
					if _, err := e.Encode(t.Context(), someTexts); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Truncate(path, int64(length)); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					if v, err := e.Encode(t.Context(), someTexts); err == nil {
						t.Errorf("cut to %d: vectors %v", length, v)
					} else if !strings.Contains(err.Error(), path) {
						t.Errorf("cut to %d: the error does not name the file: %v", length, err)
					}
				}
				restore(t, path, weights)
				if v, err := e.Encode(t.Context(), someTexts); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("cut to %d and restored: vectors %v, error %v", length, v, err)
				}
				got, err := openFolder(t, dir, precision).Encode(t.Context(), someTexts)
				if err != nil {
					t.Fatalf("cut to %d, restored and opened: %v", length, err)
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("cut to %d and restored, text %d: %v, want %v", length, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// A file that is overwritten in place with another model of the same size would
// give a mixture of both; one that is replaced changes nothing.
func TestModelFileIsWrittenTo(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("files are read into memory")
	}
	other := modeltest.BERTWeights(func(x *safetensors.Tensor) {
		for i := 3; i < len(x.Data); i += 4 {
			x.Data[i] ^= 0x80 // the sign
		}
	})
	dir := modeltest.BERT().Write(t)
	path := filepath.Join(dir, "model.safetensors")
	e := openFolder(t, dir, sinter.F32)
	want, err := e.Encode(t.Context(), someTexts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", other, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	got, err := e.Encode(t.Context(), someTexts)
	if err != nil || !slices.Equal(got[0], want[0]) {
		t.Errorf("after the file was replaced: %v, %v", got, err)
	}
	// File systems count time in steps of a few milliseconds.
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	e = openFolder(t, dir, sinter.F32)
	restore(t, path, modeltest.BERT()["model.safetensors"])
	if v, err := e.Encode(t.Context(), someTexts); err == nil || !strings.Contains(err.Error(), "written to") {
		t.Errorf("after the file was overwritten: %v, %v", v, err)
	}
}

// restore writes a file in place.
func restore(t *testing.T, path string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
