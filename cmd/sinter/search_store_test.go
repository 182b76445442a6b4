package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A model that is not there is no matter of the index, and said once.
func TestSearchOfNoModel(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nothing")
	status, _, stderr := runCommand(t, nil, "", "search", "--model", missing, "--index", t.TempDir(), "x", t.TempDir())
	if status != statusFailed || strings.Count(stderr, missing) != 1 || strings.Contains(stderr, "without an index") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// Nothing is kept without an index, nor said to be.
func TestEstimateKept(t *testing.T) {
	const promise = "what is done is kept"
	a := &app{}
	tree := newIndexedTree(t)
	a.settings.model = tree.model
	for _, noIndex := range []bool{true, false} {
		b := &indexBuilder{app: a, keeper: a.openKeeper(query{index: tree.index, noIndex: noIndex})}
		e, err := b.estimate(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e.time = time.Minute
		if said := strings.Contains(e.String(), promise); said == noIndex {
			t.Errorf("without an index %v: %v", noIndex, e)
		}
		b.close()
	}
}

func TestQueryCut(t *testing.T) {
	model, dir := tiny(t, nil), t.TempDir()
	for _, c := range []struct {
		query string
		args  []string
		want  bool
	}{
		{strings.Repeat("word ", tinyTokens-2), nil, false},
		{strings.Repeat("word ", tinyTokens-1), nil, true},
		{strings.Repeat("word ", tinyTokens-1), []string{"--rank", "words"}, false},
		{strings.Repeat("word ", tinyTokens-1), []string{"--quiet"}, false},
	} {
		args := append([]string{"search", "--model", model, "--no-index"}, c.args...)
		status, _, stderr := runCommand(t, nil, "", append(args, c.query, dir)...)
		if said := strings.Contains(stderr, "the query is cut to the 48 tokens"); status != statusDone || said != c.want {
			t.Errorf("%d words %v: status %d: %s", strings.Count(c.query, " "), c.args, status, stderr)
		}
	}
}
