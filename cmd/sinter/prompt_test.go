package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/embed"
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
	var result searchResult
	if err := json.Unmarshal([]byte(ok(t, "", "search", "--json", "--model", model, "--rank", "vectors", "snow", dir)), &result); err != nil {
		t.Fatal(err)
	}
	vectors := parse[embedded](t, ok(t, "", "embed", "--model", model, "what about snow", "about rain"))
	want := embed.Cosine(vectors[0].Embedding, vectors[1].Embedding)
	if r := result.Results; len(r) != 1 || r[0].Cosine == nil || !(math.Abs(float64(*r[0].Cosine-want)) <= 1e-4) {
		t.Errorf("%+v, want a cosine of %v", r, want)
	}
}
