package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// largeTree is a tree of texts whose passages number about 100,000, with an
// index of them whose vectors are random: embedding all of them would take ten
// minutes and change nothing about a query.
type largeTree struct{ root, index, binary string }

const (
	largeFiles    = 5000
	largePassages = 20 // of a file
)

// someWords makes a text of so many words, common ones more often, as in Zipf's
// law.
func someWords(zipf *rand.Zipf, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[min(1, i%12/11)])
		}
		syllables := []string{"ka", "lo", "mi", "ren", "tu", "sor", "bel", "an", "di", "vor"}
		for w := zipf.Uint64(); ; w /= 10 {
			b.WriteString(syllables[w%10])
			if w < 10 {
				break
			}
		}
	}
	return b.String()
}

func newLargeTree(b *testing.B) *largeTree {
	dir := b.TempDir()
	x := &largeTree{filepath.Join(dir, "tree"), filepath.Join(dir, "index"), filepath.Join(dir, "sinter")}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 8, 30000)
	for i := range largeFiles {
		var paragraphs []string
		for range largePassages {
			paragraphs = append(paragraphs, someWords(zipf, 75))
		}
		name := filepath.Join(x.root, fmt.Sprintf("dir%d", i/50), fmt.Sprintf("file%d.txt", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Join(paragraphs, "\n\n")+"\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-o", x.binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	time.Sleep(200 * time.Millisecond) // until the times of the files are old
	// In a process of its own, as the peak of a new process counts from that of
	// the one that starts it.
	c := exec.Command(os.Args[0], "-test.run", "^TestFillLargeTree$", "-test.v")
	c.Env = append(os.Environ(), fillVariable+"="+dir)
	out, err := c.CombinedOutput()
	b.Logf("%s", out)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

const fillVariable = "SINTER_TEST_FILL"

// TestFillLargeTree is the process that newLargeTree starts.
func TestFillLargeTree(t *testing.T) {
	dir := os.Getenv(fillVariable)
	if dir == "" {
		t.Skip("a part of BenchmarkIndexQuery")
	}
	(&largeTree{root: filepath.Join(dir, "tree"), index: filepath.Join(dir, "index")}).fill(t)
}

// fill indexes the tree as a search would, but for the encoder.
func (x *largeTree) fill(b *testing.T) {
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: os.Stderr, env: environment{}.get, settings: settings{device: "auto"}}
	files, err := textfiles.List(b.Context(), []string{x.root}, textfiles.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e, err := a.openEncoder(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	builder := newIndexBuilder(a, a.openKeeper(query{index: x.index}), query{paths: []string{x.root}}, &skipped{})
	defer builder.close()
	builder.most, builder.encoder = textfiles.DefaultMaxBytes, e
	sources := builder.known(b.Context(), files)
	builder.keeper.setDim(e.Dim())
	if sources, err = builder.read(b.Context(), sources); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	bar := &indexBar{progress: &progress{}}
	if err := builder.split(b.Context(), sources, bar); err != nil {
		b.Fatal(err)
	}
	b.Logf("split %d bytes in %v", bytesOf(sources), time.Since(start))
	r := rand.New(rand.NewPCG(3, 4))
	stub := newEmbedder(builder, sources)
	stub.encode = func(_ context.Context, texts []string) ([][]float32, error) {
		vectors := make([][]float32, len(texts))
		for i := range vectors {
			vectors[i] = make([]float32, e.Dim())
			for j := range vectors[i] {
				vectors[i][j] = float32(r.NormFloat64())
			}
		}
		return vectors, nil
	}
	start = time.Now()
	if err := stub.run(b.Context(), bar, func() error { return nil }); err != nil {
		b.Fatal(err)
	}
	b.Logf("kept %d passages in %v", len(builder.index.passages), time.Since(start))
}

// query runs a search in a process of its own.
func (x *largeTree) query(b *testing.B, text string) (searchResult, time.Duration, int64) {
	b.Helper()
	c := exec.Command(x.binary, "search", "--json", "--index", x.index, text, x.root)
	c.Stderr = os.Stderr
	start := time.Now()
	out, err := c.Output()
	took := time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	var r searchResult
	if err := json.Unmarshal(out, &r); err != nil {
		b.Fatal(err)
	}
	return r, took, peakBytes(c.ProcessState)
}

// BenchmarkIndexQuery is a search in a new process with 100,000 passages
// indexed: as they are, and after a file has changed.
func BenchmarkIndexQuery(b *testing.B) {
	x := newLargeTree(b)
	run := func(name string, before func(i int), embedded int) {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			var peak int64
			for i := 0; b.Loop(); i++ {
				before(i)
				r, took, bytes := x.query(b, "kalomi ren")
				if r.Embedded != embedded || len(r.Results) != 10 {
					b.Fatalf("embedded %d, %d results", r.Embedded, len(r.Results))
				}
				times, peak = append(times, took), max(peak, bytes)
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Milliseconds()), "ms/median")
			b.ReportMetric(float64(peak)/1e6, "MB/peak")
		})
	}
	run("unchanged", func(int) {}, 0)
	run("changed", func(i int) {
		name := filepath.Join(x.root, "dir7", fmt.Sprintf("file%d.txt", 350+i%50))
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, append(data, fmt.Sprintf("\n\nAnother paragraph of words, with the number %d.\n", i)...), 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}, 1)
}
