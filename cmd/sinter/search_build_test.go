package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/cmd/sinter/internal/passage"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// builderFor is a builder for the tree, with its encoder, as a search has it.
func (x *indexedTree) builderFor(stderr *bytes.Buffer) (*indexBuilder, []textfiles.File) {
	x.t.Helper()
	a := &app{stdin: strings.NewReader(""), stderr: stderr, env: environment{}.get, settings: settings{device: "auto", model: x.model, dtype: "f32"}}
	e, err := a.openEncoder(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = e.Close() })
	q := query{index: x.index, paths: []string{x.root}}
	q.files.MaxBytes = textfiles.DefaultMaxBytes
	files, err := textfiles.List(x.t.Context(), q.paths, q.files)
	if err != nil {
		x.t.Fatal(err)
	}
	b := newIndexBuilder(a, a.openKeeper(q), q, &skipped{})
	x.t.Cleanup(b.close)
	b.encoder = e
	return b, files
}

// Files that vanish or cannot be read any more once they are listed are
// counted, and the others are searched.
func TestIndexVanishing(t *testing.T) {
	x := newIndexedTree(t)
	var stderr bytes.Buffer
	b, files := x.builderFor(&stderr)
	sources := b.known(t.Context(), files)
	if err := os.Remove(x.path("dir0/file0.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(x.path("dir1/file1.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(x.path("dir1/file1.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.build(t.Context(), sources, func(*indexBar) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if b.skip.Unreadable != 2 || len(b.index.files) != 10 || !strings.Contains(stderr.String(), "file0.txt") {
		t.Errorf("%+v, %d files, %s", b.skip, len(b.index.files), stderr.String())
	}
}

// A search that is interrupted keeps what it has embedded.
func TestIndexInterrupted(t *testing.T) {
	x := newIndexedTree(t)
	const files = 12 + 3*embedAtOnce
	for i := range 3 * embedAtOnce {
		x.write(fmt.Sprintf("more/file%d.txt", i), fmt.Sprintf("There is more about %d.\n", i))
	}
	var stderr bytes.Buffer
	b, list := x.builderFor(&stderr)
	ctx, cancel := context.WithCancel(t.Context())
	batches := 0
	err := b.build(ctx, b.known(ctx, list), func(*indexBar) error {
		if batches++; batches == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	x.search(files-2*embedAtOnce, "number", ".")
}

// What cannot be kept can be searched, and a line says so.
func TestIndexCannotKeep(t *testing.T) {
	x := newIndexedTree(t)
	var stderr bytes.Buffer
	b, list := x.builderFor(&stderr)
	sources := b.known(t.Context(), list)
	b.keeper.setDim(b.encoder.Dim())
	if err := os.RemoveAll(x.index); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(x.index, nil, 0o600); err != nil { // where a folder was
		t.Fatal(err)
	}
	if err := b.build(t.Context(), sources, func(*indexBar) error { return nil }); err != nil {
		t.Fatal(err)
	}
	results, err := rank(t.Context(), b.encoder, &b.index, query{text: "number 3"})
	if err != nil || b.index.embedded != 12 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "index") {
		t.Errorf("%v, %d results, %d embedded: %s", err, len(results), b.index.embedded, stderr.String())
	}
}

// On a terminal an answer comes from what there is after a while, once.
func TestIndexEarly(t *testing.T) {
	x := newIndexedTree(t)
	var stderr, stdout bytes.Buffer
	b, list := x.builderFor(&stderr)
	b.app.stdout, b.app.terminal = &stdout, true
	q := query{text: "number 3"}
	q.rank.Top = 3
	early := b.early(t.Context(), time.Now().Add(-patience), q)
	calls := 0
	err := b.build(t.Context(), b.known(t.Context(), list), func(bar *indexBar) error {
		calls++
		if err := early(bar); err != nil {
			return err
		}
		return early(bar)
	})
	if err != nil || calls == 0 {
		t.Fatal(calls, err)
	}
	if strings.Count(stderr.String(), "words of all 12 passages") != 1 || !strings.Contains(stdout.String(), "number") {
		t.Errorf("%s\n%s", stderr.String(), stdout.String())
	}
}

func TestEstimate(t *testing.T) {
	for e, want := range map[estimate]string{
		{1, 900, 4 * time.Second, true}:               "indexing 1 file with about 1,000 tokens takes about 4 seconds; what is done is kept if it is interrupted",
		{70, 263_400, 100 * time.Second, true}:        "indexing 70 files with about 263,000 tokens takes about 2 minutes; what is done is kept if it is interrupted",
		{3538, 10_600_000, 2*time.Hour + 1<<30, true}: "indexing 3538 files with about 10.6 million tokens takes about 2 hours; what is done is kept if it is interrupted",
	} {
		if got := e.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	bar := &indexBar{progress: &progress{what: "indexing", total: 100, done: 25}}
	if got := bar.text(10 * time.Second); !strings.HasSuffix(got, "25 %, 30 seconds left") {
		t.Error(got)
	}
	if got := bar.text(time.Second); strings.Contains(got, "left") {
		t.Error(got)
	}
}

// Passages of a text are kept under splitVersion: where the splitter changes,
// it must too.
func TestSplitVersion(t *testing.T) {
	words := func(line string) (at [][2]int) {
		end := 0
		for w := range strings.FieldsSeq(line) {
			begin := end + strings.Index(line[end:], w)
			end = begin + len(w)
			at = append(at, [2]int{begin, end})
		}
		return at
	}
	h := store.NewHash()
	for _, c := range []struct{ name, part string }{
		{"a.go", "// F%[1]d does a thing.\nfunc F%[1]d(x int) int {\n\tif x > %[1]d {\n\t\treturn 1\n\t}\n\n\treturn x * %[1]d\n}\n\n"},
		{"b.md", "## Part %[1]d\n\nSome words about it, %[1]d in all, and then others.\n\n    code %[1]d\n\n"},
		{"c.py", "class C%[1]d:\n    @property\n    def f(self):\n        return %[1]d\n\n    def g(self, x):\n        return x\n\n"},
		{"d.txt", "A paragraph with the number %[1]d.\nIt goes on for another line.\n\n"},
		{"e.txt", "A line without end, %[1]d, "},
	} {
		var text strings.Builder
		for i := range 40 {
			fmt.Fprintf(&text, c.part, i)
		}
		for _, p := range (passage.Splitter{Tokens: words, Max: 50}).Split(c.name, text.String()) {
			fmt.Fprintln(h, c.name, p.Line, p.End, p.Text)
		}
	}
	if got := fmt.Sprint(splitVersion, " ", h.Key()); got != splitPin {
		t.Errorf("the splitter has changed: raise splitVersion, and make splitPin %q", got)
	}
}

// splitPin is splitVersion with a hash of passages.
const splitPin = "1 73f3a00578690cc815db173c524941b6"
