package textfiles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		globs   string
		path    string
		dir     bool
		exclude bool
	}{
		{"", "a/b.go", false, false},
		{"*.go", "a/b.go", false, false},
		{"*.go", "a/b.md", false, true},
		{"*.go", "a", true, false}, // folders are looked into
		{"!*_test.go", "a/b_test.go", false, true},
		{"!*_test.go", "a/b.go", false, false},
		{"*.go !*_test.go", "b_test.go", false, true},
		{"*.go !*_test.go", "b.go", false, false},
		{"!*_test.go *.go", "b_test.go", false, false}, // the last decides
		{"!testdata", "a/testdata", true, true},
		{"!testdata/", "a/testdata", true, true},
		{"a/*.go", "a/b.go", false, false},
		{"a/*.go", "x/a/b.go", false, true},
		{"/a/*.go", "a/b.go", false, false},
		{"**/b.go", "b.go", false, false},
		{"**/b.go", "x/y/b.go", false, false},
		{"a/**/b.go", "a/b.go", false, false},
		{"a/**/b.go", "a/x/y/b.go", false, false},
		{"a/**/b.go", "c/x/b.go", false, true},
		{"a/**", "a/x/b.go", false, false},
		{"[ab].go", "b.go", false, false},
		{"[ab].go", "c.go", false, true},
	} {
		g, err := ParseGlobs(strings.Fields(c.globs))
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Excludes(c.path, c.dir); got != c.exclude {
			t.Errorf("%q leaves out %q: %v", c.globs, c.path, got)
		}
	}
	for _, bad := range []string{"", "!", "[", "a/[/b"} {
		if _, err := ParseGlobs([]string{bad}); err == nil {
			t.Errorf("glob %q is taken", bad)
		}
	}
}

// tree writes files, by path, below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestList(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.txt": "a", "b/c.txt": "c", "b/d/e.md": "e",
		".hidden": "x", ".git/config": "x", "b/.x/y": "x",
	})
	paths := func(o Options, roots ...string) []string {
		t.Helper()
		files, err := List(context.Background(), roots, o)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range files {
			rel, err := filepath.Rel(dir, f.Path)
			if err != nil || f.Size != 1 {
				t.Fatal(f, err)
			}
			all = append(all, filepath.ToSlash(rel))
		}
		return all
	}
	if got, want := paths(Options{}, dir), []string{"a.txt", "b/c.txt", "b/d/e.md"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	md, err := ParseGlobs([]string{"*.md"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(Options{Globs: md}, dir), []string{"b/d/e.md"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	// A file by name, also a hidden one; a file below two roots once.
	b := filepath.Join(dir, "b")
	if got, want := paths(Options{}, filepath.Join(dir, ".hidden"), b, dir), []string{".hidden", "b/c.txt", "b/d/e.md", "a.txt"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := List(context.Background(), []string{filepath.Join(dir, "nowhere")}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a root that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := List(ctx, []string{dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestListLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := tree(t, map[string]string{"real/a.txt": "a"})
	for link, to := range map[string]string{"real/loop": ".", "real/link.txt": "a.txt", "root": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"real", "root"} { // a root may be a link
		files, err := List(context.Background(), []string{filepath.Join(dir, root)}, Options{})
		if err != nil || len(files) != 1 || files[0].Path != filepath.Join(dir, root, "a.txt") {
			t.Errorf("below %s: %v, %v", root, files, err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{
		"plain": "text\n", "empty": "", "mark": "\ufefftext",
		"zero": "a\x00b", "latin": "caf\xe9", "large": strings.Repeat("x", MaxBytes+1), "full": strings.Repeat("x", MaxBytes),
		"zero-late": strings.Repeat("x", sniffed) + "\x00",
	})
	for name, want := range map[string]error{
		"plain": nil, "empty": nil, "mark": nil, "full": nil, "zero-late": nil,
		"zero": ErrBinary, "latin": ErrEncoding, "large": ErrTooLarge, "nowhere": os.ErrNotExist,
	} {
		text, err := Read(filepath.Join(dir, name))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if name == "mark" && text != "text" {
			t.Errorf("a byte order mark stays: %q", text)
		}
	}
}
