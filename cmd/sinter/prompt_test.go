package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// prompted is the tiny model with prompts.
func prompted(t testing.TB) string {
	t.Helper()
	dir := tiny(t, nil)
	settings := `{"prompts": {"query": "what about ", "passage": "about ", "document": ""}, "default_prompt_name": null}`
	if err := os.WriteFile(filepath.Join(dir, "config_sentence_transformers.json"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A prompt is text before the text.
func TestEmbedPrompt(t *testing.T) {
	model := prompted(t)
	vector := func(args ...string) []float32 {
		return parse[embedded](t, ok(t, "", append([]string{"embed", "--model", model}, args...)...))[0].Embedding
	}
	query, plain := vector("--prompt", "query", "rain"), vector("rain")
	if !slices.Equal(query, vector("what about rain")) || slices.Equal(query, plain) || slices.Equal(query, vector("--prompt", "passage", "rain")) {
		t.Error("the prompt is not what stands before the text")
	}
	for _, c := range []struct{ prompt, want string }{{"nobody", "the model has passage, query"}, {"", "--prompt is empty"}} {
		if status, _, stderr := runCommand(t, nil, "", "embed", "--model", model, "--prompt", c.prompt, "x"); status == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("--prompt %q: status %d, %s", c.prompt, status, stderr)
		}
	}
}

// A search has one prompt before the query, another before passages.
func TestSearchPrompts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("rain"), 0o644); err != nil {
		t.Fatal(err)
	}
	model := prompted(t)
	r := parse[searchResult](t, ok(t, "", "search", "--json", "--model", model, "--rank", "vectors", "snow", dir))[0].Results
	vectors := parse[embedded](t, ok(t, "", "embed", "--model", model, "what about snow", "about rain"))
	want := float32(0)
	var a, b float32
	for i, x := range vectors[0].Embedding {
		y := vectors[1].Embedding[i]
		want, a, b = want+x*y, a+x*x, b+y*y
	}
	if len(r) != 1 || r[0].Cosine == nil || (*r[0].Cosine)*(*r[0].Cosine)*a*b < 0.999*want*want || (*r[0].Cosine)*(*r[0].Cosine)*a*b > 1.001*want*want {
		t.Errorf("%+v, want a cosine of %v over the root of %v", r, want, a*b)
	}
}
