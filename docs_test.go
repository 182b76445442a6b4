package sinter_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/rewrite"
	"github.com/sinterml/sinter/internal/schedule"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated parts of docs/architecture.md anew")

const architecture = "docs/architecture.md"

// generatedPart is a fenced block of the page that a test writes.
var generatedPart = regexp.MustCompile("(?s)(<!-- generated: (\\w+) -->\n```\\w*\n)(.*?)```\n")

// TestArchitecturePage keeps what the page shows of the compiler true.
func TestArchitecturePage(t *testing.T) {
	parts := workedExample(t)
	parts["source"] = functionSource(t, "docs_test.go", "heads")
	parts["passes"] = passTable()
	page, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	updated := generatedPart.ReplaceAllStringFunc(string(page), func(block string) string {
		m := generatedPart.FindStringSubmatch(block)
		head, name, body := m[1], m[2], m[3]
		seen[name] = true
		want, ok := parts[name]
		switch {
		case !ok && name == "code": // another processor
			return block
		case !ok:
			t.Errorf("%s: nothing generates the part %q", architecture, name)
		case want != body && !*updateDocs:
			t.Errorf("%s: %q has changed; run go test -run TestArchitecturePage . -update-docs\n%s", architecture, name, want)
		}
		return head + want + "```\n"
	})
	for name := range parts {
		if !seen[name] {
			t.Errorf("%s lacks the part %q", architecture, name)
		}
	}
	for pkg := range strings.FieldsSeq(layers) {
		if !strings.Contains(updated, "`"+strings.Replace(pkg, ".", "sinter", 1)+"`") {
			t.Errorf("%s says nothing about %s", architecture, pkg)
		}
	}
	if *updateDocs && updated != string(page) {
		if err := os.WriteFile(architecture, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// workedExample compiles the page's example and returns the text of each stage.
func workedExample(t *testing.T) map[string]string {
	t.Helper()
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: "avx512"})
	foreign := err != nil
	if foreign { // only the code is another
		if d, err = sinter.OpenCPU(sinter.CPUOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	parts := map[string]string{"trace": "", "simplify": "", "plan": "", "loops": "", "code": ""}
	p, err := sinter.Compile(heads(), sinter.Options{Device: d, Check: true, Trace: func(stage, text string) {
		if _, ok := parts[stage]; ok {
			parts[stage] = strings.TrimRight(text, "\n") + "\n"
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if foreign {
		delete(parts, "code")
	} else {
		parts["code"] = lastPass(t, parts["code"])
	}
	return parts
}

// lastPass is the first kernel's code from the root of the variance on.
func lastPass(t *testing.T, listing string) string {
	t.Helper()
	lines := strings.SplitAfter(listing, "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "vsqrtps") })
	if first < 0 {
		t.Fatalf("no square root in\n%s", listing)
	}
	lines = lines[first:]
	n := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, " ret\n") })
	if n < 0 {
		t.Fatalf("no end in\n%s", listing)
	}
	return strings.Join(lines[:n+1], "")
}

// heads is the page's example: rows of any number, normalised, multiplied by
// a weight with a bias, and a softmax in each of three groups.
func heads() *sinter.Graph {
	none := sinter.Tensor{}
	x := sinter.Input("x", sinter.F32, sinter.Sym("n", 1, 4096), sinter.N(64))
	w := sinter.Weight("w", sinter.F32, make([]byte, 4*48*64), 48, 64)
	b := sinter.Weight("b", sinter.F32, make([]byte, 4*48), 48)
	h := sinter.LayerNorm(x, none, none, 1e-5)
	y := sinter.Linear(h, w, b).Reshape(-1, 3, 16).Mul(sinter.Scalar(0.25)).Softmax(-1)
	return sinter.Capture(y)
}

// functionSource is a function of a file, as it stands there.
func functionSource(t *testing.T, file, name string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(text), "\nfunc "+name+"(")
	body, _, closed := strings.Cut(body, "\n}\n")
	if !ok || !closed {
		t.Fatalf("%s has no function %s", file, name)
	}
	return "func " + name + "(" + body + "\n}\n"
}

// passTable lists the passes over graphs, then the switches of the scheduler.
func passTable() string {
	var b strings.Builder
	for _, p := range rewrite.Passes() {
		fmt.Fprintf(&b, "%-17s %-15s %3d rules  %s\n", p.Name, p.Kind, len(p.Rules), p.Doc)
	}
	fmt.Fprintf(&b, "scheduling: %s\n", strings.Join(schedule.Switches, ", "))
	return b.String()
}

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	namedPath = regexp.MustCompile("`((?:internal|cmd|model|tokenizer|bench|embed|examples|docs)/[\\w./]+)`")
	link      = regexp.MustCompile(`\]\(([\w./]+)\)`)
)

// TestDocsPointSomewhere finds names of tests, files and folders that are no
// more.
func TestDocsPointSomewhere(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedTest.FindAllSubmatch(text, -1) {
			if !tests[string(m[1])] {
				t.Errorf("%s names %s, which is no test", page, m[1])
			}
		}
		var paths []string
		for _, m := range namedPath.FindAllSubmatch(text, -1) {
			paths = append(paths, string(m[1]))
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			paths = append(paths, filepath.Join("docs", string(m[1])))
		}
		for _, p := range paths {
			if strings.Contains(p, "NAME") {
				continue // to be filled in by the reader
			}
			if _, err := os.Stat(p); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
