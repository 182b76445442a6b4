package hub

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// cache makes a hub cache with the given files and makes it the one in use.
func cache(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		write(t, filepath.Join(dir, f), "{}")
	}
	t.Setenv("HF_HUB_CACHE", dir)
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, name, want string) {
	t.Helper()
	if got, err := Find(name); err != nil || got != want {
		t.Errorf("Find(%q) = %q, %v; want %q", name, got, err, want)
	}
}

func TestFoldersAndFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "model.safetensors"), "x")
	find(t, dir, dir)
	find(t, filepath.Join(dir, "model.safetensors"), dir)
	t.Chdir(dir)
	find(t, "model.safetensors", ".")
}

// The revision that refs/main names wins over newer ones.
func TestRevisions(t *testing.T) {
	const repo = "models--a--b/snapshots/"
	dir := cache(t, repo+"one/config.json", repo+"two/config.json", "models--single/snapshots/x/config.json")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, repo, "one"), old, old); err != nil {
		t.Fatal(err)
	}
	find(t, "a/b", filepath.Join(dir, repo, "two"))
	write(t, filepath.Join(dir, "models--a--b/refs/main"), "one\n")
	find(t, "a/b", filepath.Join(dir, repo, "one"))
	write(t, filepath.Join(dir, "models--a--b/refs/main"), "gone\n") // another is not what was asked for
	if got, err := Find("a/b"); err == nil || !strings.Contains(err.Error(), `"gone"`) || !strings.Contains(err.Error(), filepath.Join(dir, repo, "two")) {
		t.Errorf("%q, %v: want an error that names the revision and the folder of the newest", got, err)
	}
	find(t, "single", filepath.Join(dir, "models--single/snapshots/x"))
}

// What a revision is called comes from a file: it must not lead elsewhere.
func TestRevisionsStayInside(t *testing.T) {
	dir := cache(t, "models--a--b/snapshots/one/config.json", "outside/config.json")
	for _, rev := range []string{"../../../outside", "/", "..", ".", ""} {
		write(t, filepath.Join(dir, "models--a--b/refs/main"), rev)
		if got, err := Find("a/b"); err == nil && !strings.HasPrefix(got, filepath.Join(dir, "models--a--b", "snapshots")+string(filepath.Separator)) {
			t.Errorf("revision %q leads to %q", rev, got)
		}
	}
}

func TestNotFound(t *testing.T) {
	dir := cache(t, "models--empty/other", "models--a--b/snapshots/file")
	if err := os.MkdirAll(filepath.Join(dir, "models--bare", "snapshots"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "no/such", "empty", "bare", "a/b", "a/b/c", "../x", "a/..", `a\b`, "c:d", "/no/such/folder", strings.Repeat("x", 5000)} {
		got, err := Find(name)
		if err == nil || !strings.HasPrefix(err.Error(), "hub: ") {
			t.Errorf("Find(%.20q) = %q, %v", name, got, err)
		}
	}
	if _, err := Find("no/such"); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error does not say where it looked: %v", err)
	}
}

func TestCache(t *testing.T) {
	t.Setenv("HUGGINGFACE_HUB_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HF_HUB_CACHE", "")
	t.Setenv("HF_HOME", "/home/of/models")
	if got := Cache(); got != filepath.Join("/home/of/models", "hub") {
		t.Errorf("with HF_HOME: %q", got)
	}
	t.Setenv("HF_HUB_CACHE", "/elsewhere")
	if got := Cache(); got != "/elsewhere" {
		t.Errorf("with HF_HUB_CACHE: %q", got)
	}
	t.Setenv("HF_HUB_CACHE", "")
	t.Setenv("HF_HOME", "")
	t.Setenv("HOME", "/home/me")
	if got := Cache(); !strings.HasSuffix(filepath.ToSlash(got), "/.cache/huggingface/hub") {
		t.Errorf("by default: %q", got)
	}
}

// The other variables of huggingface_hub, which also expands "~" and variables.
func TestCacheVariables(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		name, value, want string
	}{
		{"HF_HUB_CACHE", "~/models", home + "/models"}, {"HF_HUB_CACHE", "~", home}, {"HF_HUB_CACHE", "$HOME/models", home + "/models"},
		{"HF_HUB_CACHE", "${SINTER_UNSET}/models", "${SINTER_UNSET}/models"}, {"HF_HUB_CACHE", "a~/$", "a~/$"},
		{"HF_HOME", "~/hf", home + "/hf/hub"}, {"HF_HOME", "$HOME/hf", home + "/hf/hub"},
		{"XDG_CACHE_HOME", home + "/other", home + "/other/huggingface/hub"}, {"HUGGINGFACE_HUB_CACHE", "/old", "/old"},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"} {
				t.Setenv(name, "")
			}
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv(c.name, c.value)
			if got := filepath.ToSlash(Cache()); got != filepath.ToSlash(c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	dir := cache(t, "models--b--x--y/refs/main", "models--a/refs/main", "datasets--c--d/refs/main", "models--file")
	if got := Names(); !slices.Equal(got, []string{"a", "b/x--y"}) {
		t.Errorf("%q", got)
	}
	t.Setenv("HF_HUB_CACHE", filepath.Join(dir, "nowhere"))
	if got := Names(); len(got) != 0 {
		t.Errorf("%q of no cache", got)
	}
}
