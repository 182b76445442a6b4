package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/model/minilm"
)

// ok runs a command that must succeed without a word on standard error.
func ok(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	status, stdout, stderr := runCommand(t, nil, stdin, args...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return stdout
}

// parse reads one JSON value a line; unknown fields are no fault.
func parse[T any](t testing.TB, text string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(text) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, v)
	}
	return all
}

func TestEmbed(t *testing.T) {
	model := tiny(t, nil)
	long := strings.Repeat("word ", 100)
	texts := []string{"hello", "", "a longer text, with <html> & \"quotes\"", long}
	byArgs := ok(t, "", append([]string{"embed", "--json", "--quiet", "--model", model}, texts...)...)
	rows := parse[embedded](t, byArgs)
	if len(rows) != len(texts) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, tokens := range []int{3, 2, 0, tinyTokens} {
		r := rows[i]
		norm := 0.0
		for _, v := range r.Embedding {
			norm += float64(v) * float64(v)
		}
		if r.Truncated != (i == 3) || r.Index != i || len(r.Embedding) != tinyHidden || tokens > 0 && r.Tokens != tokens || norm == 0 || math.IsNaN(norm) {
			t.Errorf("row %d: index %d, %d tokens, %d numbers", i, r.Index, r.Tokens, len(r.Embedding))
		}
	}
	if got := ok(t, strings.Join(texts, "\n")+"\n", "embed", "--quiet", "--model", model); got != byArgs {
		t.Error("lines give other rows than arguments")
	}
	if got := ok(t, strings.Join(texts, "\r\n"), "embed", "--quiet", "--model", model); got != byArgs {
		t.Error("lines that end with carriage returns give other rows")
	}
	var quoted strings.Builder
	for _, text := range texts {
		line, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&quoted, "%s\n", line)
	}
	if got := ok(t, quoted.String(), "embed", "--quiet", "--jsonl", "--model", model); got != byArgs {
		t.Error("JSON lines give other rows than arguments")
	}
}

// Many lines come back in order, through many batches, each as if alone.
func TestEmbedStream(t *testing.T) {
	model := tiny(t, nil)
	var in strings.Builder
	const n = 3*batchTexts + 7
	for i := range n {
		fmt.Fprintf(&in, "text number %d\n", i%10)
	}
	rows := parse[embedded](t, ok(t, in.String(), "embed", "--model", model))
	if len(rows) != n {
		t.Fatalf("%d rows of %d", len(rows), n)
	}
	for i, r := range rows {
		if r.Index != i || !slices.Equal(r.Embedding, rows[i%10].Embedding) {
			t.Fatalf("row %d: index %d, or another vector than row %d", i, r.Index, i%10)
		}
	}
}

func TestLineTooLong(t *testing.T) {
	status, _, stderr := runCommand(t, nil, "a\n"+strings.Repeat("x", maxLine+1), "tokenize", "--model", tiny(t, nil))
	if status != 1 || !strings.Contains(stderr, "line 2 is longer than 16 MiB") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestTokenize(t *testing.T) {
	rows := parse[tokenized](t, ok(t, "", "tokenize", "--json", "Unaffable", ""))
	want := []string{"[CLS]", "una", "##ffa", "##ble", "[SEP]"}
	if offsets := [][2]int{{0, 0}, {0, 3}, {3, 6}, {6, 9}, {0, 0}}; !slices.Equal(rows[0].Offsets, offsets) {
		t.Errorf("offsets %v, want %v", rows[0].Offsets, offsets)
	}
	if len(rows) != 2 || !slices.Equal(rows[0].Tokens, want) || !slices.Equal(rows[0].IDs, []int32{101, 14477, 20961, 3468, 102}) || rows[1].Index != 1 || len(rows[1].IDs) != 2 {
		t.Errorf("%+v", rows)
	}
	long := parse[tokenized](t, ok(t, "", "tokenize", strings.Repeat("word ", 1000)))
	if len(long[0].IDs) != 1002 {
		t.Errorf("%d tokens of 1000 words: cut", len(long[0].IDs))
	}
}

// What a terminal shows is for people.
func TestReadable(t *testing.T) {
	var b bytes.Buffer
	a := &app{stdout: &b, terminal: true, env: environment{"TERM": "dumb"}.get}
	out := newLines(&b)
	if err := printEmbedding(out, embedded{3, 5, false, make([]float32, 100)}); err != nil {
		t.Fatal(err)
	}
	if err := a.printTokens(out, "a\x1b[2J b", tokenized{1, []int32{7, 2000}, []string{"a\x1b[2J", "[SEP]"}, [][2]int{{0, 5}, {0, 0}}}); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "3\t5 tokens\t100 numbers: [0.0000 0.0000 0.0000 0.0000 0.0000 0.0000] ...\n" +
		"1  a\ufffd[2J b  2 tokens\n     7  a\ufffd[2J  0-5 \"a\\x1b[2J\"\n  2000  [SEP]\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	a.env = environment{}.get
	if s := a.style(); !s.on && runtime.GOOS != "windows" {
		t.Error("no colour on a terminal")
	}
	a.env = environment{"NO_COLOR": "1"}.get
	if s := a.style(); s.on || s.paint(bold, "x") != "x" {
		t.Error("colour with NO_COLOR")
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, what: "indexing", total: 4}
	p.add(2)
	p.end()
	if want := "\rindexing [===============               ]  50 %"; !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "\r") {
		t.Errorf("%q", b.String())
	}
	(&progress{}).add(1)
}

func TestDevice(t *testing.T) {
	var list deviceList
	if err := json.Unmarshal([]byte(ok(t, "", "device", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, d := range list.Devices {
		kinds[d.Kind] = true
		switch {
		case d.Available && (!d.Verified || d.Reason != ""):
			t.Errorf("%s computes wrong: %s", d.ID, d.Reason)
		case !d.Available && (d.Reason == "" || d.Remedy == ""):
			t.Errorf("%s is missing without reason or remedy", d.ID)
		}
		if d.ID == "cpu" && (d.Name == "" || d.Driver == "" || len(d.DTypes) == 0 || len(d.Rules) == 0 || runtime.GOOS == "linux" && d.Memory == 0) {
			t.Errorf("the cpu: %+v", d)
		}
	}
	for _, k := range []string{"cpu", "cuda", "hip", "metal", "vulkan", "opencl"} {
		if !kinds[k] {
			t.Errorf("no word of %s", k)
		}
	}
	if gpu := func(d deviceRow) bool { return d.Verified && !d.Software && d.Kind != "cpu" }; list.Best != "cpu" && !slices.ContainsFunc(list.Devices, gpu) {
		t.Errorf("best is %q", list.Best)
	}
	text := ok(t, "", "device", "--device", "interp")
	if !strings.Contains(text, "*  interp") || !strings.Contains(text, "ready") {
		t.Errorf("no star at the device asked for:\n%s", text)
	}
}

func TestGraph(t *testing.T) {
	model := tiny(t, nil)
	var list struct{ Stages []stage }
	if err := json.Unmarshal([]byte(ok(t, "", "graph", model, "--json")), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range list.Stages {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, stageNames) {
		t.Fatalf("stages %v, want %v", names, stageNames)
	}
	weights := 4 * (tinyHidden*(tinyVocab+tinyPositions+2+2+4*tinyHidden+4+2*tinyInner+1+4) + tinyInner)
	trace, simple, plan := list.Stages[0], list.Stages[1], list.Stages[3]
	if trace.Bytes != weights || trace.Nodes < 40 || simple.Nodes > trace.Nodes || plan.Kernels < 1 || plan.Kernels > simple.Nodes {
		t.Errorf("%+v, weights of %d bytes", list.Stages, weights)
	}
	for stage, say := range map[string]string{
		"trace": "leaf 0", "simplify": "matmul", "partition": "  %", "plan": "k0 ", "loops": "for", "code": "",
	} {
		if text := ok(t, "", "graph", "--stage", stage, model); !strings.Contains(text, say) {
			t.Errorf("stage %s says nothing of %q:\n%.500s", stage, say, text)
		}
	}
	// Every node of the simplified graph that computes is in some kernel.
	partition := ok(t, "", "graph", "--stage", "partition", model)
	if n := strings.Count(partition, "= matmul"); n == 0 || n != strings.Count(ok(t, "", "graph", "--stage", "simplify", model), "= matmul") {
		t.Errorf("%d products in kernels:\n%s", n, partition)
	}
	if dot := ok(t, "", "graph", "--dot", "--model", model); !strings.HasPrefix(dot, "digraph") {
		t.Errorf("%.100s", dot)
	}
	page := filepath.Join(t.TempDir(), "x.html")
	if out := ok(t, "", "graph", "--html", page, model); out != "" {
		t.Errorf("%.100s", out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(string(text), `id="document">`)
	data, _, _ = strings.Cut(data, "</script>")
	var document struct {
		Stages  []struct{ Nodes []any }
		Kernels []any
	}
	if err := json.Unmarshal([]byte(data), &document); err != nil || len(document.Stages[0].Nodes) != trace.Nodes || len(document.Kernels) == 0 {
		t.Errorf("%v: %.300s", err, data)
	}
	if table := ok(t, "", "graph", model); !strings.HasPrefix(table, "STAGE") || strings.Count(table, "\n") != 1+len(stageNames) {
		t.Errorf("%s", table)
	}
}

// The model in the binary finds what is meant, whatever the words.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kitchen.md":      "# Dough\n\nMix flour, water and yeast, let it rise for an hour and put the loaf into a hot oven.\n\n# Soup\n\nBoil carrots and leek in salted water.\n",
		"sub/engine.go":   "package engine\n\n// Start turns the crankshaft until the pistons fire.\nfunc Start() error {\n\treturn ignite()\n}\n",
		"sub/weather.txt": "Heavy rain and strong winds are expected over the northern coast tomorrow.\n",
		"binary":          "bread\x00bread",
		"latin.txt":       "\xa9 \xa1",
		".hidden.txt":     "how to bake bread",
		".ignore":         "*.bak\n",
		"old.bak":         "how to bake bread",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	search := func(args ...string) searchResult {
		t.Helper()
		var r searchResult
		if err := json.Unmarshal([]byte(ok(t, "", append([]string{"search", "--json"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for query, want := range map[string]string{
		"how do I bake bread":        "kitchen.md:1",
		"storm forecast":             "sub/weather.txt:1",
		"starting the car's motor":   "sub/engine.go:1",
		"vegetable broth for dinner": "kitchen.md:1",
	} {
		r := search(query, dir)
		rel, err := filepath.Rel(dir, r.Results[0].Path)
		if got := fmt.Sprintf("%s:%d", filepath.ToSlash(rel), r.Results[0].Line); err != nil || got != want {
			t.Errorf("%q finds %s, want %s", query, got, want)
		}
		if r.Query != query || r.Model != defaultModelName || r.Device != "cpu" || r.DType != dtypeOf(minilm.Precision) || r.Files != 4 || r.Chunks != 3 || r.Embedded != 3 || r.IndexSeconds <= 0 || r.QuerySeconds <= 0 {
			t.Errorf("%+v", r)
		}
		if (r.Skipped != skipped{Binary: 1}) {
			t.Errorf("left out %+v", r.Skipped)
		}
		if !slices.IsSortedFunc(r.Results, func(a, b found) int { return int(math.Copysign(1, float64(b.Score-a.Score))) }) {
			t.Error("results do not fall")
		}
	}
	if r := search("-g", "*.go", "--top", "1", "--index", t.TempDir(), "bread", dir); len(r.Results) != 1 || !strings.HasSuffix(r.Results[0].Path, "engine.go") {
		t.Errorf("%+v", r.Results)
	}
	text := ok(t, "", "search", "--top=1", "rain", dir)
	if want := filepath.Join(dir, "sub", "weather.txt") + ":1  0."; !strings.HasPrefix(text, want) || !strings.Contains(text, "\n    Heavy rain") {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestExcerpt(t *testing.T) {
	got := excerpt("\n\tif x {\n\t\treturn \x1b[31m\n\n\t}\n1\n2\n3\n4\n5", 0, 0)
	if want := []string{"    if x {", "        return \ufffd[31m", "    }", "1", "2", "3", "..."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := excerpt("  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 24, 0); got[0] != "aaaaaaaaaaaaaaaaa..." {
		t.Errorf("%q", got)
	}
	if got, want := excerpt("1\n2\n\n3\n4\n5\n6\n7\n8\n9", 0, 8), []string{"...", "4", "5", "6", "7", "8", "9"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := excerpt("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13", 0, 6), []string{"...", "6", "7", "8", "9", "10", "11", "..."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var r bench.Report
	if err := json.Unmarshal([]byte(ok(t, "", "bench", "compile", "--json", "--model", tiny(t, nil))), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 2*len(bench.ISAs()) || r.Machine.Threads < 1 || r.Results[0].Seconds <= 0 || r.Results[0].Unit != "programs/s" {
		t.Errorf("%+v", r)
	}
}

// The accuracy that rows print is that of exact results, and sees errors.
func TestBenchErrors(t *testing.T) {
	s := gemmShape{m: 2, n: 2, k: 2}
	x, w := []float32{1, 2, 3, 4}, []float32{1, -1, 2, 1}
	if e := gemmError(s, x, w, []float32{5, 1, 11, 1}); e != 0 {
		t.Errorf("error %v of an exact product", e)
	}
	if e := gemmError(s, x, w, []float32{5, 1, 11, 1.5}); e != 0.5/7 {
		t.Errorf("error %v, want %v", e, 0.5/7)
	}
	nan := float32(math.NaN())
	if e := gemmError(s, x, w, []float32{5, 1, nan, 1}); !math.IsNaN(e) {
		t.Errorf("error %v of NaN", e)
	}
}

func TestDrawShapes(t *testing.T) {
	a, b, other := drawShapes(50, 1), drawShapes(50, 1), drawShapes(50, 2)
	if !slices.Equal(a, b) || slices.Equal(a, other) {
		t.Error("shapes depend on something else than the seed")
	}
	for _, s := range a {
		if s.m < 1 || s.n < 16 || s.k < 16 || max(s.m, s.n, s.k) > 4096 || s.set != "drawn" {
			t.Errorf("%+v", s)
		}
	}
	if len(nineShapes()) != 9 {
		t.Error("not nine")
	}
}
