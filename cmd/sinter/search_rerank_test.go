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
	"github.com/sinterml/sinter/internal/reftest"
)

// The second model's scores decide; what else is known of a passage stays.
func TestReferenceSearchRerank(t *testing.T) {
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	cross, model := filepath.Join(reftest.Dir(t, "crossencoders"), "bert"), tiny(t, nil)
	encoder := filepath.Join(reftest.Dir(t, "encoders"), "e5")
	t.Chdir(t.TempDir())
	var texts []string
	for i, text := range []string{"the river ran dry", "bread needs water", "salt and time", "a function returns", "cells divide"} {
		if err := os.WriteFile(string(rune('a'+i))+".txt", []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	search := func(args ...string) (r searchResult) {
		t.Helper()
		if err := json.Unmarshal([]byte(ok(t, "", append([]string{"search", "--json", "--model", model}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	e, err := embed.NewReranker(t.Context(), embed.Options{Model: cross})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	want, err := e.Scores(t.Context(), "water", texts)
	if err != nil {
		t.Fatal(err)
	}
	all := search("--rerank", "--rerank-model", cross, "water")
	if len(all.Results) != len(texts) || all.Reranker != cross {
		t.Fatalf("%+v", all)
	}
	for i, f := range all.Results {
		score := 1 / (1 + math.Exp(-float64(want[f.Path[0]-'a'])))
		if !(math.Abs(float64(f.Score)-score) <= 1e-5) || i > 0 && f.Score > all.Results[i-1].Score || f.Cosine == nil {
			t.Errorf("result %d: %+v, want a score of %v", i, f, score)
		}
	}
	if r := search("--rerank-model", cross, "--top", "2", "water").Results; !slices.EqualFunc(r, all.Results[:2], func(a, b found) bool { return a.Path == b.Path }) {
		t.Errorf("the best two: %+v", r)
	}
	least := all.Results[2].Score
	if r := search("--rerank-model", cross, "--min-score", number(least), "water").Results; len(r) != 3 {
		t.Errorf("%d results with a score of %v and more", len(r), least)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"cross-encoder", []string{"--rerank"}}, {"no cross-encoder", []string{"--rerank-model", encoder}},
		{"nothing-here", []string{"--rerank-model", "nothing-here"}},
	} {
		status, _, stderr := runCommand(t, nil, "", append([]string{"search", "--model", model, "water"}, c.args...)...)
		if status != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
	}
}

func number(x float32) string {
	b, _ := json.Marshal(x)
	return string(b)
}
