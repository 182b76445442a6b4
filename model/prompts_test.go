package model

import (
	"maps"
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
	KnownPrompts("e5-small-v2")["query"] = "changed"
	if KnownPrompts("e5-small-v2")["query"] != "query: " {
		t.Error("what one caller changes is changed for others")
	}
}
