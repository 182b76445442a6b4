//go:build unix

package textfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Pipes that nobody writes to are not waited for: neither where a file was when it
// was listed, nor where git has its settings.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := List(t.Context(), []string{dir}, Options{})
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, pipe := range []string{name, filepath.Join(dir, ".gitconfig")} {
		_ = os.Remove(pipe)
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := files[0].Read(nil, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q, %v", text, err)
	}
	want := filepath.Join(dir, ".config", "git", "ignore")
	if got := GlobalExcludes(func(key string) string { return map[string]string{"HOME": dir}[key] }); got != want {
		t.Errorf("excludes %q, want %q", got, want)
	}
}
