package rewrite

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

var update = flag.Bool("update", false, "write what the passes make into the golden files")

// A golden file belongs to the pass it is named after. Each case is a title
// after "##", the graph before, "=>", and the graph after that pass alone.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(passes) {
		t.Fatalf("%d golden files for %d passes: %v", len(files), len(passes), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		at := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
		if at < 0 {
			t.Fatalf("%s is named after no pass", file)
		}
		o := Options{NoOpt: without(name), Precision: passes[at].precision, TurnProducts: true, Check: true}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, c := range strings.Split(string(data), "## ")[1:] {
			title, text, _ := strings.Cut(c, "\n")
			before, want, ok := strings.Cut(text, "=>\n")
			if !ok {
				t.Fatalf("%s: %s has no =>", file, title)
			}
			t.Run(name+"/"+title, func(t *testing.T) {
				got := goldenCase(t, before, o)
				if got != strings.TrimLeft(want, "\n") && !*update {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				out.WriteString("## " + title + "\n" + before + "=>\n" + got)
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// goldenCase gives the text of the result, "unchanged" if there is no other.
func goldenCase(t *testing.T, before string, o Options) string {
	g, err := ir.Parse(before)
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Run(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if after == g {
		return "unchanged\n\n"
	}
	return after.String() + "\n"
}

// without lists the passes but for one that can be left out.
func without(name string) []string {
	var off []string
	for _, p := range passes {
		if p.name != name && !p.required {
			off = append(off, p.name)
		}
	}
	return off
}
