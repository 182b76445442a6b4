package corpus

import (
	"math"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

func load(t *testing.T) *Corpus {
	t.Helper()
	c, err := Load("../../testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChunks checks that passages have a place, and that none stands twice: of
// two equal ones neither is the better answer.
func TestChunks(t *testing.T) {
	c := load(t)
	if n := len(c.Chunks); n < 1450 || n > 1600 {
		t.Errorf("%d passages, want about 1,500", n)
	}
	texts, ended := map[string]bool{}, map[string]bool{}
	var before Chunk
	for i, k := range c.Chunks {
		if k.File != before.File {
			ended[before.File] = true
		}
		switch {
		case k.File == "" || path.IsAbs(k.File) || path.Clean(k.File) != k.File || ended[k.File]:
			t.Errorf("passage %d: file %q, seen before or no clean path", i, k.File)
		case k.Line < 1 || k.EndLine < k.Line || k.File == before.File && k.Line < before.Line:
			t.Errorf("passage %d of %s: lines %d to %d, after %d", i, k.File, k.Line, k.EndLine, before.Line)
		case strings.TrimSpace(k.Text) == "" || !utf8.ValidString(k.Text):
			t.Errorf("passage %d of %s: text %q", i, k.File, k.Text)
		case texts[k.Text]:
			t.Errorf("passage %d of %s is there twice", i, k.File)
		}
		texts[k.Text] = true
		before = k
	}
}

func TestQueries(t *testing.T) {
	c := load(t)
	files := map[string]bool{}
	for _, k := range c.Chunks {
		files[k.File] = true
	}
	if n := len(files); n < 90 || n > 150 {
		t.Errorf("%d files, want about 110", n)
	}
	kinds, wanted, texts := map[Kind]int{}, map[string]int{}, map[string]bool{}
	for _, q := range c.Queries {
		kinds[q.Kind]++
		if n := len(q.Files); n < 1 || n > 2 {
			t.Errorf("%q is answered by %d files", q.Text, n)
		}
		if strings.TrimSpace(q.Text) == "" || texts[q.Text] {
			t.Errorf("query %q is empty or there twice", q.Text)
		}
		texts[q.Text] = true
		for _, f := range q.Files {
			if wanted[f]++; wanted[f] > 2 {
				t.Errorf("%s answers more than two queries", f)
			}
			if !files[f] {
				t.Errorf("%q is answered by %s, which is not there", q.Text, f)
			}
			if q.Kind == Markdown && path.Ext(f) != ".md" {
				t.Errorf("%q asks for Markdown and is answered by %s", q.Text, f)
			}
		}
	}
	if kinds[Paraphrase] != 30 || kinds[Identifier] != 15 || kinds[Markdown] != 15 || len(kinds) != 3 {
		t.Errorf("kinds of queries: %v", kinds)
	}
}

// TestVectors checks lengths. f16 rounds each element by at most 2^-11 of
// itself, and by 2^-25 where it is tiny.
func TestVectors(t *testing.T) {
	c := load(t)
	check := func(what string, v []float32) {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if len(v) != 384 || !(math.Abs(math.Sqrt(sum)-1) <= 1.0/2048) {
			t.Errorf("%s: %d elements, length %v", what, len(v), math.Sqrt(sum))
		}
	}
	for _, k := range c.Chunks {
		check(k.File, k.Vector)
	}
	for _, q := range c.Queries {
		check(q.Text, q.Vector)
	}
}
