package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// BenchmarkIndexRate indexes source files of Go below the folder that
// SINTER_BENCH_TREE names, by default net/http of the standard library, and
// compares the tokens a second, those of overlaps included, with what the
// encoder does with 32 texts of 128 tokens in the same minute. All of
// GOROOT/src takes six minutes on two cores.
func BenchmarkIndexRate(b *testing.B) {
	tree := os.Getenv("SINTER_BENCH_TREE")
	if tree == "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Fatal(err)
		}
		tree = filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http")
	}
	globs, err := textfiles.ParseGlobs([]string{"*.go", "!*_test.go", "!testdata", "!vendor", "!cmd"})
	if err != nil {
		b.Fatal(err)
	}
	a := &app{stderr: os.Stderr, env: environment{}.get, settings: settings{device: "auto", quiet: true}}
	e, err := a.openEncoder(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		before := encoderRate(b, e)
		x := query{index: b.TempDir(), paths: []string{tree}}
		start := time.Now()
		files, err := textfiles.List(b.Context(), x.paths, textfiles.Options{Globs: globs})
		if err != nil {
			b.Fatal(err)
		}
		builder := newIndexBuilder(a, a.openKeeper(x), x, &skipped{})
		builder.most, builder.encoder = textfiles.DefaultMaxBytes, e
		if err := builder.build(b.Context(), builder.known(b.Context(), files), func(*indexBar) error { return nil }); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start).Seconds()
		rate := (before + encoderRate(b, e)) / 2
		tokens := 0
		for i := range builder.index.passages {
			text, err := builder.index.text(i)
			if err != nil {
				b.Fatal(err)
			}
			tokens += len(e.Tokenizer().EncodeMax(text, e.MaxTokens()).IDs)
		}
		builder.close()
		b.ReportMetric(float64(len(files)), "files")
		b.ReportMetric(float64(len(builder.index.passages)), "passages")
		b.ReportMetric(float64(tokens), "tokens")
		b.ReportMetric(took, "s")
		b.ReportMetric(float64(tokens)/took, "tokens/s")
		b.ReportMetric(float64(tokens)/took/rate, "of-32x128")
	}
}

// encoderRate is the tokens a second of 32 texts of 128 tokens.
func encoderRate(b *testing.B, e *encoder) float64 {
	const texts, length, rounds = 32, 128, 12
	ids := make([][]int32, texts)
	for i := range ids {
		ids[i] = make([]int32, length)
		for j := range ids[i] {
			ids[i][j] = int32(1000 + (i*length+j*7)%20000)
		}
	}
	start := time.Now()
	for range rounds {
		if _, err := e.EncodeIDs(b.Context(), ids); err != nil {
			b.Fatal(err)
		}
	}
	return rounds * texts * length / time.Since(start).Seconds()
}
