package model

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Prompts that no file names are known by the model's name, wherever it lies.
func TestKnownPrompts(t *testing.T) {
	for folder, want := range map[string]map[string]string{
		"models/e5-small-v2": e5Prompts, "e5-small-v2": e5Prompts, "hub/models--intfloat--multilingual-e5-base/snapshots/0a1b": e5Prompts,
		"hub/models--BAAI--bge-small-en-v1.5/snapshots/x": bgePrompts, "bge-m3": nil, "e5-small-v2/sub": nil, "": nil, "my-e5-small-v2": nil,
	} {
		if got := KnownPrompts(folder); !maps.Equal(got, want) {
			t.Errorf("%s: %v", folder, got)
		}
	}
	inside := filepath.Join(t.TempDir(), "models--intfloat--e5-base", "snapshots", "0a1b")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(inside)
	for _, folder := range []string{".", "../0a1b"} {
		if got := KnownPrompts(folder); !maps.Equal(got, e5Prompts) {
			t.Errorf("%s in the folder of the model: %v", folder, got)
		}
	}
	KnownPrompts("e5-small-v2")["query"] = "changed"
	if KnownPrompts("e5-small-v2")["query"] != "query: " {
		t.Error("what one caller changes is changed for others")
	}
}
