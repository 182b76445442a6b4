package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// indexed runs searches over a tree with one index.
type indexedTree struct {
	t     *testing.T
	model string
	index string
	root  string
}

func newIndexedTree(t *testing.T) *indexedTree {
	x := &indexedTree{t: t, model: tiny(t, nil), index: t.TempDir(), root: t.TempDir()}
	for i := range 12 {
		x.write(fmt.Sprintf("dir%d/file%d.txt", i%3, i), fmt.Sprintf("This is about number %d.\n", i))
	}
	return x
}

func (x *indexedTree) path(name string) string {
	return filepath.Join(x.root, filepath.FromSlash(name))
}

func (x *indexedTree) write(name, text string) {
	x.t.Helper()
	if err := os.MkdirAll(filepath.Dir(x.path(name)), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(x.path(name), []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

// search looks for something in paths below the root and checks how much was
// embedded for it.
func (x *indexedTree) search(embedded int, query string, paths ...string) searchResult {
	x.t.Helper()
	args := []string{"search", "--json", "--model", x.model, "--index", x.index, query}
	for _, p := range paths {
		args = append(args, x.path(p))
	}
	status, stdout, stderr := runCommand(x.t, nil, "", args...)
	if status != 0 {
		x.t.Fatalf("status %d: %s", status, stderr)
	}
	var r searchResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		x.t.Fatal(err)
	}
	if r.Embedded != embedded {
		x.t.Errorf("%v: embedded %d of %d, want %d", paths, r.Embedded, r.Chunks, embedded)
	}
	return r
}

// What was embedded is not embedded again: not for another query, a part of
// the tree, a renamed file, or a text that was there before.
func TestIndexKeeps(t *testing.T) {
	x := newIndexedTree(t)
	first := x.search(12, "number 7", ".")
	again := x.search(0, "number 7", ".")
	if len(first.Results) == 0 || fmt.Sprint(values(first.Results)) != fmt.Sprint(values(again.Results)) {
		t.Errorf("%v\nbecame\n%v", first.Results, again.Results)
	}
	if r := x.search(0, "number 7", "dir1"); r.Files != 4 || r.Chunks != 4 {
		t.Errorf("%d files, %d passages in a folder", r.Files, r.Chunks)
	}
	if err := os.Rename(x.path("dir1"), x.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	x.search(0, "number 7", ".")
	x.write("dir0/file0.txt", "Something else altogether.\n")
	if r := x.search(1, "something else", "."); len(r.Results) == 0 || r.Results[0].Text != "Something else altogether." {
		t.Errorf("%+v", r.Results)
	}
	x.write("dir0/file0.txt", "This is about number 0.\n")
	if r := x.search(0, "something else", "."); strings.Contains(fmt.Sprint(r.Results), "altogether") {
		t.Errorf("%+v", r.Results)
	}
	x.write("dir0/copy.txt", "This is about number 0.\n")
	if r := x.search(0, "number", "."); r.Chunks != 13 {
		t.Errorf("%d passages with a copy", r.Chunks)
	}
}

// values are results without pointers.
func values(all []found) (texts []string) {
	for _, f := range all {
		texts = append(texts, fmt.Sprintf("%s:%d-%d %.4f %.4f %q", f.Path, f.Line, f.EndLine, f.Score, *f.Cosine, f.Text))
	}
	return texts
}

// A change that leaves the size as it was is seen, however soon it comes.
func TestIndexSeesChanges(t *testing.T) {
	x := newIndexedTree(t)
	x.search(12, "number", ".")
	for i := range 10 {
		text := fmt.Sprintf("This is about digit  %d.", i)
		x.write("dir0/file0.txt", text+"\n")
		if r := x.search(1, text, "dir0/file0.txt"); len(r.Results) != 1 || r.Results[0].Text != text {
			t.Fatalf("%+v", r.Results)
		}
	}
	// Even where the times are set back.
	info, err := os.Stat(x.path("dir0/file3.txt"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	x.search(0, "number", ".") // the file is old by now, and trusted
	x.write("dir0/file3.txt", "This is about NUMBER 3.\n")
	if err := os.Chtimes(x.path("dir0/file3.txt"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if r := x.search(1, "NUMBER", "dir0/file3.txt"); len(r.Results) != 1 || r.Results[0].Text != "This is about NUMBER 3." {
		t.Errorf("%+v", r.Results)
	}
}

// What another process is indexing is left to it.
func TestIndexBusy(t *testing.T) {
	x := newIndexedTree(t)
	x.search(4, "number", "dir1")
	names, err := filepath.Glob(filepath.Join(x.index, "*", "space.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	a := &app{settings: settings{model: x.model, dtype: "f32"}, env: environment{}.get}
	k := a.openKeeper(query{index: x.index})
	_, done := k.announce(t.Context(), []string{x.path("dir0"), x.path("dir1")})
	if r := x.search(4, "number", "."); r.Pending != 4 || r.Files != 8 {
		t.Errorf("%d files, %d pending", r.Files, r.Pending)
	}
	done()
	if r := x.search(4, "number", "."); r.Pending != 0 || r.Files != 12 {
		t.Errorf("%d files, %d pending", r.Files, r.Pending)
	}
}

// What others have begun to index since this search looked is left to them too,
// and counts once.
func TestLeaveTo(t *testing.T) {
	var stderr bytes.Buffer
	b := &indexBuilder{app: &app{stderr: &stderr}}
	all := []*source{{path: "/a/1", keep: true}, {path: "/b/1", keep: true}, {path: "/a/2"}, {path: "/c/1", keep: true}}
	rest := b.leaveTo([]string{"/c"}, b.leaveTo([]string{"/a"}, all))
	if len(rest) != 2 || rest[0] != all[1] || rest[1] != all[2] || b.left != 2 || strings.Count(stderr.String(), "another search is indexing 1 file") != 2 {
		t.Errorf("%d are left to this one, %d to others: %s", len(rest), b.left, &stderr)
	}
	if rest = b.leaveTo(nil, rest); len(rest) != 2 || b.left != 2 {
		t.Errorf("%d, %d", len(rest), b.left)
	}
}

// Standard input is searched and not kept, and --no-index keeps nothing.
func TestIndexNot(t *testing.T) {
	x := newIndexedTree(t)
	for range 2 {
		var r searchResult
		out := ok(t, "a text that comes once", "search", "--json", "--model", x.model, "--index", x.index, "text", "-")
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Embedded != 1 || len(r.Results) != 1 {
			t.Errorf("%+v: %v", r, err)
		}
	}
	home := t.TempDir()
	status, _, stderr := runCommand(t, environment{"HOME": home}, "", "search", "--model", x.model, "--no-index", "number", x.root)
	if status != 0 || stderr != "" {
		t.Errorf("status %d: %s", status, stderr)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// Where nothing can be kept a search says so in a line, and answers.
func TestIndexNowhere(t *testing.T) {
	x := newIndexedTree(t)
	file := x.path("dir0/file0.txt")
	for _, env := range []environment{{"HOME": file}, {"HOME": "", "XDG_CACHE_HOME": file}} {
		status, stdout, stderr := runCommand(t, env, "", "search", "--top", "1", "--model", x.model, "number 5", x.root)
		if status != 0 || !strings.Contains(stdout, "number") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "without an index") {
			t.Errorf("%v: status %d, %q, %q", env, status, stdout, stderr)
		}
	}
}

// Damage is mended by the next search.
func TestIndexDamage(t *testing.T) {
	x := newIndexedTree(t)
	whole := x.search(12, "number 7", ".")
	for _, pattern := range []string{"*.seg", "index.db", "space.json"} {
		names, err := filepath.Glob(filepath.Join(x.index, "*", pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range data {
				data[i] ^= 0x5a
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"search", "--json", "--model", x.model, "--index", x.index, "number 7", x.root}
		status, stdout, stderr := runCommand(t, nil, "", args...)
		var r searchResult
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 {
			t.Fatalf("%s: status %d: %s", pattern, status, stderr)
		}
		if fmt.Sprint(values(r.Results)) != fmt.Sprint(values(whole.Results)) {
			t.Errorf("%s: %v\ninstead of\n%v", pattern, values(r.Results), values(whole.Results))
		}
		x.search(0, "number 7", ".")
	}
}

func TestIndexCommand(t *testing.T) {
	x := newIndexedTree(t)
	x.search(12, "number", ".")
	status := func() (s indexStatus) {
		t.Helper()
		if err := json.Unmarshal([]byte(ok(t, "", "index", "status", "--json", "--index", x.index)), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := status(); s.Folder != x.index || s.Files != 12 || s.Chunks != 12 || s.Bytes == 0 || len(s.Models) != 1 || len(s.Models[0].Roots) != 1 || s.Models[0].Roots[0].Path != x.root {
		t.Errorf("%+v", s)
	}
	if text := ok(t, "", "index", "status", "--index", x.index); !strings.Contains(text, "12 files, 12 passages") || !strings.Contains(text, x.root) {
		t.Error(text)
	}
	if err := os.RemoveAll(x.path("dir0")); err != nil {
		t.Fatal(err)
	}
	ok(t, "", "index", "prune", "--index", x.index)
	if s := status(); s.Files != 8 || s.Chunks != 12 {
		t.Errorf("%+v", s)
	}
	if text := ok(t, "", "index", "prune", "--days", "0", "--index", x.index); !strings.Contains(text, "4 passages") {
		t.Error(text)
	}
	if s := status(); s.Files != 8 || s.Chunks != 8 {
		t.Errorf("%+v", s)
	}
	x.search(0, "number", ".")
	if text := ok(t, "", "index", "prune", "--all", "--index", x.index); !strings.Contains(text, "1 model, 8 files and 8 passages") {
		t.Error(text)
	}
	if s := status(); s.Bytes != 0 || len(s.Models) != 0 {
		t.Errorf("%+v", s)
	}
	x.search(8, "number", ".")
	if s, _, _ := runCommand(t, nil, "", "index", "prune", "--days", "-1"); s != statusUsage {
		t.Errorf("status %d", s)
	}
}
