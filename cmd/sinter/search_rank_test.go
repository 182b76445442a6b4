package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

// A hybrid search finds what is meant and what is named; each way of ranking
// says what it knows.
func TestSearchRank(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"rain.txt":   "Heavy showers and strong winds are expected over the coast tomorrow.\n",
		"parse.go":   "package weather\n\nfunc parseForecast(line string) error {\n\treturn nil\n}\n",
		"bread.md":   "# Bread\n\nMix flour, water and yeast.\n",
		"history.md": "The storm of 1953.\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	search := func(args ...string) []found {
		t.Helper()
		var r searchResult
		if err := json.Unmarshal([]byte(ok(t, "", append([]string{"search", "--json"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r.Results
	}
	hybrid := search("parse_forecast")
	if len(hybrid) != 4 || hybrid[0].Path != "parse.go" || hybrid[0].Cosine == nil || hybrid[0].BM25 <= 0 || hybrid[3].BM25 != 0 {
		t.Errorf("%+v", hybrid)
	}
	if r := search("tomorrow's storms", "--min-score", "0.2"); len(r) != 2 || r[0].Path != "rain.txt" {
		t.Errorf("%+v", r)
	}
	if r := search("--rank", "words", "weather forecast"); len(r) != 1 || r[0].Path != "parse.go" || r[0].Score <= 0 || r[0].Cosine != nil {
		t.Errorf("%+v", r)
	}
	if r := search("--rank", "vectors", "bad weather"); len(r) != 4 || r[0].Path != "rain.txt" || r[0].Score != *r[0].Cosine || r[0].BM25 != 0 {
		t.Errorf("%+v", r)
	}
}

// What ranks by words embeds nothing, and leaves to others what is not embedded.
func TestSearchWordsEmbedNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("a walk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	model, kept := tiny(t, nil), t.TempDir()
	for _, c := range []struct {
		by       string
		embedded int
	}{{"words", 0}, {"hybrid", 1}, {"words", 0}, {"vectors", 0}} {
		var r searchResult
		if err := json.Unmarshal([]byte(ok(t, "", "search", "--json", "--quiet", "--model", model, "--index", kept, "--rank", c.by, "walk")), &r); err != nil {
			t.Fatal(err)
		}
		if r.Embedded != c.embedded || len(r.Results) != 1 || r.Chunks != 1 {
			t.Errorf("%s: %+v", c.by, r)
		}
	}
}

func TestUnrelated(t *testing.T) {
	e, err := embed.New(t.Context(), embed.Options{FS: minilm.FS, Precision: minilm.Precision})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	vectors, err := e.Encode(t.Context(), apart)
	if err != nil {
		t.Fatal(err)
	}
	if u := unrelated(vectors); !(u >= -0.1 && u <= 0.1) {
		t.Errorf("%v between texts that have nothing in common", u)
	}
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			if c := embed.Cosine(v, w); !(c <= 0.25) {
				t.Errorf("%q and %q have something in common: %v", apart[i], apart[j], c)
			}
		}
	}
	if u := unrelated([][]float32{{1, 0}, {1, 0}}); u != 0.99 {
		t.Errorf("%v where all are the same", u)
	}
}
