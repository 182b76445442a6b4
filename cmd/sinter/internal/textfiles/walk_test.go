package textfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// plant makes a tree below a new folder and goes there. A line of its text is
// a file, "name = quoted text" one that holds something, "name -> target" a
// link, "name/" a folder. home/ is the home folder for ripgrep.
func plant(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, content, hasContent := strings.Cut(line, " = ")
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case link:
			must(os.Symlink(filepath.FromSlash(target), path))
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(path, 0o755))
		default:
			var err error
			if hasContent {
				content, err = strconv.Unquote(content)
				must(err)
			}
			must(os.WriteFile(path, []byte(strings.ReplaceAll(content, "$DIR", filepath.ToSlash(dir))), 0o644))
		}
	}
	t.Chdir(dir)
	return dir
}

func TestSkip(t *testing.T) {
	plant(t, `
		.ignore = "a\n[\nb\n"
		a
		b
		c
		big = "12345"
		deep/loop -> ..
		lost -> nowhere
		locked/x
		long/d
		`)
	if err := os.WriteFile("long/.gitignore", bytes.Repeat([]byte("d\n"), maxRules/2+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod("locked", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod("locked", 0o755) })
	reasons := map[string]error{".ignore": ErrPattern, "big": ErrTooLarge, "deep/loop": ErrLoop, "lost": fs.ErrNotExist, "locked": fs.ErrPermission, "long/.gitignore": errRulesTooLong}
	if _, err := os.ReadDir("locked"); err == nil { // root may
		delete(reasons, "locked")
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := walk{options: Options{Follow: true, MaxBytes: 4}}.list(t, "", func(path string, err error) {
		if filepath.IsAbs(path) {
			path, _ = filepath.Rel(cwd, path)
		}
		path = filepath.ToSlash(path)
		if want := reasons[path]; want == nil || !errors.Is(err, want) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		delete(reasons, path)
	})
	got = slices.DeleteFunc(got, func(p string) bool { return p == "locked/x" })
	if !slices.Equal(got, []string{"c", "long/d"}) || len(reasons) > 0 {
		t.Errorf("found %v; not a word about %v", got, reasons)
	}
}

func TestList(t *testing.T) {
	plant(t, "a\nsub/b\nlink -> sub")
	var paths []string
	files, err := List(context.Background(), []string{"-", "sub", "link/b", ".", "./a", "-"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files { // each once, by its first name
		paths = append(paths, f.Path)
		if f.Named != (f.Path == Stdin) {
			t.Errorf("%+v", f)
		}
	}
	if want := []string{"-", filepath.Join("sub", "b"), "a"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	if _, err := List(context.Background(), []string{"nowhere"}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := List(ctx, []string{"."}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Nothing waits for a pipe that nobody writes to.
func TestPipes(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("no mkfifo command")
	}
	plant(t, "a\n.git/info/\nsub/b\nsub/deep/c\n")
	for _, name := range []string{".gitignore", ".ignore", ".git/info/exclude", "sub/.git", "sub/pipe"} {
		if err := exec.Command(mkfifo, name).Run(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan []string)
	go func() { done <- walk{}.list(t, "", nil) }()
	select {
	case got := <-done:
		if !slices.Equal(got, []string{"a", "sub/b", "sub/deep/c"}) {
			t.Errorf("found %v", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a walk waits for a pipe")
	}
}
