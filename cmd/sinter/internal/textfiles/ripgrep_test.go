package textfiles

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// walk is one walk through a tree.
type walk struct {
	in             string // folder to stand in
	roots          string
	globs          string
	types, noTypes string
	options        Options
	want           string // paths, in order
	alone          string // why ripgrep is not asked
}

func (w walk) rootList() []string {
	if w.roots == "" {
		return []string{"."}
	}
	return strings.Fields(w.roots)
}

func (w walk) list(t *testing.T, home string, skip func(string, error)) []string {
	t.Helper()
	o := w.options
	o.Skip = skip
	var err error
	if o.Globs, err = ParseGlobs(strings.Fields(w.globs)); err != nil {
		t.Fatal(err)
	}
	if o.Types, err = ParseTypes(strings.Fields(w.types), strings.Fields(w.noTypes)); err != nil {
		t.Fatal(err)
	}
	o.Excludes = GlobalExcludes(func(key string) string {
		if key == "HOME" {
			return home
		}
		return ""
	})
	files, err := List(context.Background(), w.rootList(), o)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.ToSlash(f.Path))
	}
	return paths
}

// ripgrep is the same walk by ripgrep.
func (w walk) ripgrep(t *testing.T, home string) []string {
	t.Helper()
	args := []string{"--no-config", "--files", "--null", "--sort", "path"}
	for flag, on := range map[string]bool{"--hidden": w.options.Hidden, "--no-ignore": w.options.NoIgnore, "--follow": w.options.Follow} {
		if on {
			args = append(args, flag)
		}
	}
	if w.options.MaxBytes > 0 {
		args = append(args, "--max-filesize", strconv.FormatInt(w.options.MaxBytes, 10))
	}
	for flag, values := range map[string]string{"-g": w.globs, "-t": w.types, "-T": w.noTypes} {
		for _, v := range strings.Fields(values) {
			args = append(args, flag, v)
		}
	}
	cmd := exec.Command("rg", append(append(args, "--"), w.rootList()...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (len(out) == 0 && exit.ExitCode() == 1 || w.options.Follow)) {
		t.Fatalf("rg %v: %v", args, err)
	}
	paths := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := range paths {
		paths[i] = filepath.ToSlash(filepath.Clean(paths[i]))
	}
	if len(out) == 0 {
		return nil
	}
	return paths
}

// joinsTwice is why ripgrep 13 is wrong about a relative root other than the
// current folder where a .gitignore above that root has a slash within a
// pattern. For files below j it then asks about j/j/...; later versions do not.
const joinsTwice = "ripgrep 13 joins a relative root to its own absolute path"

// needRipgrep skips a comparison where there is no ripgrep.
func needRipgrep(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("rg"); err != nil {
		effort.Missing(t, "not compared with ripgrep, which is not on PATH: install the package ripgrep")
	}
}

// All of Go's sources, as ripgrep finds them, less the files that are too large.
func TestGoSources(t *testing.T) {
	needRipgrep(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command to ask for GOROOT")
	}
	for _, options := range []Options{{}, {Hidden: true, NoIgnore: true}} {
		w := walk{roots: filepath.Join(strings.TrimSpace(string(root)), "src"), options: options}
		home := t.TempDir()
		large := map[string]bool{}
		got := w.list(t, home, func(path string, err error) {
			if !errors.Is(err, ErrTooLarge) {
				t.Error(err)
			}
			large[filepath.ToSlash(path)] = true
		})
		want := slices.DeleteFunc(w.ripgrep(t, home), func(path string) bool { return large[path] })
		slices.Sort(got)
		slices.Sort(want)
		if len(got) < 5000 || !slices.Equal(got, want) {
			t.Errorf("%d files, and ripgrep finds %d", len(got), len(want))
		}
	}
}
