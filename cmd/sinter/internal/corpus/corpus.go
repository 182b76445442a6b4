// Package corpus reads the evaluation corpus of semantic search: passages,
// queries that say which file answers them, and exact vectors of both. Its
// README in testdata/corpus says what it is and how it was made. Only tests
// use it.
package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

// Corpus is all of it. Chunks of a file stand together, in its order.
type Corpus struct {
	Chunks  []Chunk
	Queries []Query
}

// Chunk is a passage.
type Chunk struct {
	File    string    `json:"file"` // with slashes
	Line    int       `json:"line"` // its first and last, from 1
	EndLine int       `json:"end_line"`
	Text    string    `json:"text"`
	Vector  []float32 `json:"-"` // of unit length but for rounding to f16
}

// Query is a text that somebody searches for.
type Query struct {
	Kind   Kind      `json:"kind"`
	Text   string    `json:"text"`
	Files  []string  `json:"files"` // any of which answers it
	Vector []float32 `json:"-"`
}

// Kind is a kind of query.
type Kind string

// The kinds of queries.
const (
	Paraphrase Kind = "paraphrase" // what is meant, in words other than the passage's
	Identifier Kind = "identifier" // a name, whole or in part
	Markdown   Kind = "markdown"   // a question to documentation
)

// Load reads the corpus in a folder.
func Load(dir string) (*Corpus, error) {
	var c Corpus
	var err error
	if c.Chunks, err = readLines[Chunk](filepath.Join(dir, "chunks.jsonl.gz")); err != nil {
		return nil, err
	}
	if c.Queries, err = readLines[Query](filepath.Join(dir, "queries.jsonl")); err != nil {
		return nil, err
	}
	f, err := safetensors.Open(filepath.Join(dir, "vectors.safetensors"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chunks, err := vectors(f, "chunks", len(c.Chunks))
	if err != nil {
		return nil, err
	}
	queries, err := vectors(f, "queries", len(c.Queries))
	if err != nil {
		return nil, err
	}
	for i := range c.Chunks {
		c.Chunks[i].Vector = chunks[i]
	}
	for i := range c.Queries {
		c.Queries[i].Vector = queries[i]
	}
	return &c, nil
}

// readLines reads a file with a JSON value a line, compressed if its name ends
// in .gz.
func readLines[T any](file string) ([]T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if filepath.Ext(file) == ".gz" {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var all []T
	for {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: entry %d: %w", file, len(all)+1, err)
		}
		all = append(all, v)
	}
}

// vectors are the rows of a tensor of f16, as f32.
func vectors(f *safetensors.File, name string, rows int) ([][]float32, error) {
	t, ok := f.Tensor(name)
	if !ok || t.DType != sinter.F16 || len(t.Shape) != 2 || t.Shape[0] != rows {
		return nil, fmt.Errorf("%s: no tensor %s of f16 with %d rows", f.Name(), name, rows)
	}
	all := make([][]float32, rows)
	for i := range all {
		all[i] = make([]float32, t.Shape[1])
		for j := range all[i] {
			at := 2 * (i*t.Shape[1] + j)
			all[i][j] = sinter.Float16(binary.LittleEndian.Uint16(t.Data[at:])).Float32()
		}
	}
	return all, nil
}
