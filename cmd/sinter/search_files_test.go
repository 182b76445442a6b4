package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fileTree goes to a new folder with files of all kinds.
func fileTree(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		".ignore":         "*.bak\n[\n",
		".hidden":         "h",
		"a.go":            "package a",
		"a.py":            "import a",
		"b.bak":           "old",
		"large.txt":       strings.Repeat("large ", 400_000),
		"home/.gitconfig": "[core]\nexcludesFile = ~/mine\n",
		"home/mine":       "*.mine\n",
		"repo/.git/HEAD":  "x",
		"repo/x.mine":     "x",
		"repo/y":          "y",
		"zero":            "a\x00b",
		"wide.txt":        "\xff\xfew\x00i\x00d\x00e\x00",
	} {
		name = filepath.FromSlash(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFiles(t *testing.T) {
	fileTree(t)
	for _, c := range []struct{ args, want string }{
		{"", "a.go a.py home/mine repo/y wide.txt"},
		{".", "a.go a.py home/mine repo/y wide.txt"},
		{"repo zero large.txt .hidden -", "repo/y large.txt .hidden -"},
		{"-g !home -g *.{go,bak} -g .h*", ".hidden a.go b.bak"},
		{"-t go -t txt --max-filesize 3M", "a.go large.txt wide.txt"},
		{"-T go --max-filesize 8", "a.py home/mine repo/y"},
		{"--hidden --no-ignore home repo", "home/.gitconfig home/mine repo/.git/HEAD repo/x.mine repo/y"},
	} {
		status, stdout, stderr := runCommand(t, environment{"HOME": "home"}, "", append([]string{"search", "--files", "-0"}, strings.Fields(c.args)...)...)
		got := strings.ReplaceAll(filepath.ToSlash(strings.TrimSuffix(stdout, "\x00")), "\x00", " ")
		if status != 0 || got != c.want {
			t.Errorf("%s: status %d, %s, want %s", c.args, status, got, c.want)
		}
		warned := strings.Contains(stderr, `.ignore:2: pattern left aside: "[": [ without ]`)
		if warned == strings.Contains(c.args, "--no-ignore") || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: standard error: %s", c.args, stderr)
		}
	}
	if got := ok(t, "", "search", "--files", "--quiet", "a.go", "repo"); filepath.ToSlash(got) != "a.go\nrepo/x.mine\nrepo/y\n" {
		t.Errorf("%q", got)
	}
	rows := parse[struct{ Path string }](t, ok(t, "", "search", "--files", "--quiet", "--json", "a.go", "zero", "a.py"))
	if len(rows) != 2 || rows[0].Path != "a.go" || rows[1].Path != "a.py" {
		t.Errorf("%+v", rows)
	}
}

// Files that are named are searched, standard input is one, and what --files
// prints is what is searched.
func TestSearchFiles(t *testing.T) {
	fileTree(t)
	model := tiny(t, nil)
	search := func(args ...string) searchResult {
		t.Helper()
		var r searchResult
		if err := json.Unmarshal([]byte(ok(t, "word", append([]string{"search", "--quiet", "--json", "--model", model, "x"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, args := range [][]string{{}, {"-t", "txt"}, {"-g", "!*.txt"}, {"repo", "zero", ".hidden", "-"}} {
		files := ok(t, "", append([]string{"search", "--files", "--quiet"}, args...)...)
		if r := search(args...); r.Files != strings.Count(files, "\n") {
			t.Errorf("%v: %d files searched, want\n%s", args, r.Files, files)
		}
	}
	if r := search("."); r.Skipped != (skipped{Binary: 1, TooLarge: 1}) {
		t.Errorf("%+v", r.Skipped)
	}
	if r := search("-", "b.bak"); len(r.Results) != 2 || r.Results[0].Path+r.Results[1].Path != "-b.bak" && r.Results[0].Path+r.Results[1].Path != "b.bak-" {
		t.Errorf("%+v", r.Results)
	}
	if r := search("wide.txt"); len(r.Results) != 1 || r.Results[0].Text != "wide" {
		t.Errorf("%+v", r.Results)
	}
	for _, name := range []string{"zero", "-"} {
		status, _, stderr := runCommand(t, nil, "a\x00b", "search", "--model", model, "x", name)
		if status != 0 || strings.Count(stderr, name+": not a text file") != 1 {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}

func TestInterruptible(t *testing.T) {
	in := interruptible{t.Context(), strings.NewReader("text")}
	if text, err := io.ReadAll(in); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting, write := io.Pipe()
	defer write.Close()
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := io.ReadAll(interruptible{ctx, waiting}); !errors.Is(err, context.Canceled) {
		t.Errorf("input that never comes: %v", err)
	}
}
