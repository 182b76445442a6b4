package reftest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDirInRepository(t *testing.T) {
	t.Setenv("SINTER_REFERENCE", "")
	dir := Dir(t, "minilm")
	if _, err := os.Stat(filepath.Join(dir, "tokenizer.jsonl")); err != nil {
		t.Error(err)
	}
}

func TestDirFromEnvironment(t *testing.T) {
	root := t.TempDir()
	t.Setenv("SINTER_REFERENCE", root)
	want := filepath.Join(root, "some")
	if err := os.Mkdir(want, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Dir(t, "some"); got != want {
		t.Errorf("Dir = %s, want %s", got, want)
	}
	t.Run("absent", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("a folder that SINTER_REFERENCE lacks did not skip the test")
			}
		}()
		Dir(t, "absent")
	})
}

func TestModelFromEnvironment(t *testing.T) {
	t.Setenv("SINTER_CI", "") // where nothing may be skipped, an absent model fails
	root := t.TempDir()
	t.Setenv("SINTER_MODELS", root)
	want := filepath.Join(root, "some")
	if err := os.Mkdir(want, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Model(t, "some"); got != want {
		t.Errorf("Model = %s, want %s", got, want)
	}
	t.Run("absent", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("an absent model did not skip the test")
			}
		}()
		Model(t, "absent")
	})
}
