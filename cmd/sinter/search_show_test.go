package main

import (
	"cmp"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown is a folder with two files, and a search of it with flags.
func shown(t *testing.T) (dir string, search func(env environment, args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"walk.txt": "zero\n\nfirst walk\r\nthe trees\t\x1b[2J walked\n\nlast\n",
		"swim.txt": "A pool.\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	model := tiny(t, nil)
	return dir, func(env environment, args ...string) string {
		t.Helper()
		args = append([]string{"search", "--quiet", "--model", model, "walking trees"}, args...)
		status, stdout, stderr := runCommand(t, env, "", args...)
		if status != 0 || stderr != "" {
			t.Fatalf("%v: status %d, %s", args, status, stderr)
		}
		return stdout
	}
}

func TestShow(t *testing.T) {
	dir, search := shown(t)
	link := func(name string) string {
		path := filepath.ToSlash(filepath.Join(dir, name))
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		host, err := os.Hostname()
		if err != nil {
			host = ""
		}
		return "\x1b]8;;" + (&url.URL{Scheme: "file", Host: host, Path: path}).String() + "\x1b\\" + name + "\x1b]8;;\x1b\\"
	}
	for _, c := range []struct{ args, want string }{
		{"-l", "walk.txt\n"},
		{"-l -0", "walk.txt\x00"},
		{"-l --json", `{"path":"walk.txt"}` + "\n"},
		{"-l --color always", "\x1b[35mwalk.txt\x1b[0m\n"},
		{"-l --hyperlink always", link("walk.txt") + "\n"},
		{"--vimgrep", "walk.txt:4:5:the trees \ufffd[2J walked\n"},
		{"--vimgrep --color always", "\x1b[35mwalk.txt\x1b[0m:\x1b[32m4\x1b[0m:5:the \x1b[1;31mtrees\x1b[0m \ufffd[2J \x1b[1;31mwalked\x1b[0m\n"},
	} {
		if got := search(nil, append([]string{"--rank", "words"}, strings.Fields(c.args)...)...); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if got := search(environment{"NO_COLOR": "1"}, "--color", "always"); !strings.Contains(got, "\x1b[1;31mtrees") {
		t.Errorf("the flag goes before NO_COLOR: %q", got)
	}
	if got := search(nil); strings.ContainsRune(got, '\x1b') {
		t.Errorf("%q", got)
	}
	files := strings.Fields(search(nil, "-l"))
	slices.Sort(files)
	if !slices.Equal(files, []string{"swim.txt", "walk.txt"}) {
		t.Errorf("%q", files)
	}
}

// Lines around a passage have their numbers, and those of the file's ends no
// others.
func TestShowContext(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "# One\n" + strings.Repeat("filler word\n", 30) + "\n# Two\n\nthe tree\n" + strings.Repeat("other text\n", 30)
	if err := os.WriteFile("a.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	search := func(args ...string) string {
		return ok(t, "", append([]string{"search", "--quiet", "--model", tiny(t, nil), "--rank", "words", "tree"}, args...)...)
	}
	got := search("-C", "2")
	head, body, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(head, "a.md:33  0.") || !strings.HasPrefix(body, "31-filler word\n32-\n33:# Two\n34:\n35:the tree\n36:other text\n") {
		t.Errorf("%s", got)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if n := len(lines); n < 8 || !strings.Contains(lines[n-1], "-other") || !strings.Contains(lines[n-2], "-other") || strings.Contains(lines[n-3], "-other") {
		t.Errorf("%s", got)
	}
	if whole := search("-C", "0"); strings.Contains(whole, "-other") || !strings.Contains(whole, "33:# Two") {
		t.Errorf("%s", whole)
	}
	if all := search("-C", "1000"); strings.Count(all, "\n") != strings.Count(text, "\n")+1 || strings.Contains(all, "\n66-") {
		t.Errorf("%s", all)
	}
	for _, end := range []string{"", "\n", "\r\n", "\n\n"} { // nothing stands behind the end of the last line
		if err := os.WriteFile("a.md", []byte("the tree"+end), 0o644); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(search("-C", "3"), "\n")
		if want := map[string]string{"\n\n": "1:the tree\n2-\n"}[end]; got != cmp.Or(want, "1:the tree\n") {
			t.Errorf("a file that ends in %q: %q", end, got)
		}
	}
	if err := os.WriteFile("a.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var r searchResult
	if err := json.Unmarshal([]byte(search("-C", "2", "--json")), &r); err != nil || len(r.Results) != 1 || !slices.Equal(r.Results[0].Before, []string{"filler word", ""}) || len(r.Results[0].After) != 2 {
		t.Errorf("%v: %+v", err, r.Results)
	}
	status, stdout, stderr := runCommand(t, nil, text, "search", "--model", tiny(t, nil), "--rank", "words", "-C", "1", "tree", "-")
	if status != 0 || !strings.Contains(stdout, "\n28-filler word\n29:filler word\n") {
		t.Errorf("standard input: status %d, %s%s", status, stdout, stderr)
	}
}

// A passage of a part of a line has its column in the whole line.
func TestVimgrepLongLine(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("word ", 300) + "tree " + strings.Repeat("word ", 300)
	if err := os.WriteFile("a.txt", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := ok(t, "", "search", "--quiet", "--model", tiny(t, nil), "--rank", "words", "--vimgrep", "tree")
	if !strings.HasPrefix(got, "a.txt:1:1501:") {
		t.Errorf("%s", got)
	}
}

func TestFollowsLinks(t *testing.T) {
	for _, c := range []struct {
		env  environment
		want bool
	}{
		{environment{}, false},
		{environment{"TERM": "xterm-256color"}, false},
		{environment{"TERM": "xterm-kitty"}, true},
		{environment{"TERM": "foot"}, true},
		{environment{"TERM": "dumb", "TERM_PROGRAM": "vscode"}, false},
		{environment{"TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"}, false},
		{environment{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, true},
		{environment{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, true},
		{environment{"TERM": "xterm-256color", "VTE_VERSION": "4800"}, false},
		{environment{"WT_SESSION": "x"}, true},
	} {
		for _, terminal := range []bool{true, false} {
			a := &app{env: c.env.get, terminal: terminal}
			if got := a.followsLinks(); got != (c.want && terminal) {
				t.Errorf("%v, terminal %v: %v", c.env, terminal, got)
			}
		}
	}
	if got := (links{on: true}).link("-", "-"); got != "-" {
		t.Errorf("standard input has a link: %q", got)
	}
}
