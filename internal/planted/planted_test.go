package planted

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// Every defect still changes what it was written for, to something that
// parses, and the tests that have to notice are there.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Defects() {
		if seen[d.Name] || d.Name == "" || strings.ContainsAny(d.Name, " /") {
			t.Errorf("%q is no name, or comes twice", d.Name)
		}
		seen[d.Name] = true
		text, err := os.ReadFile(filepath.Join(root, d.File))
		if err != nil {
			t.Error(err)
			continue
		}
		changed, err := d.Plant(string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if changed == string(text) {
			t.Errorf("%s changes nothing", d.Name)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), d.File, changed, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		if none := missing(t, d.Package, d.Run); len(none) > 0 {
			t.Errorf("%s: no test in %s matches %v", d.Name, d.Package, none)
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d defects, want at least 30", len(seen))
	}
}

var testName = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// missing gives what of a pattern matches no test of a package.
func missing(t *testing.T, pkg, run string) (none []string) {
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Error(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		for _, m := range testName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	for _, part := range strings.Split(run, "|") {
		top, _, _ := strings.Cut(part, "/")
		pattern, err := regexp.Compile(top)
		if err != nil {
			t.Error(err)
		} else if !slices.ContainsFunc(names, pattern.MatchString) {
			none = append(none, part)
		}
	}
	return none
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		want   []string
		err    string // part of it
	}{
		"survives":   {`{"Action":"run","Test":"TestA"}{"Action":"pass","Test":"TestA"}{"Action":"pass"}`, nil, ""},
		"caught":     {`{"Action":"run","Test":"TestA"}{"Action":"fail","Test":"TestA"}{"Action":"fail"}`, []string{"TestA"}, ""},
		"crash":      {`{"Action":"run","Test":"TestA"}{"Action":"fail"}`, []string{"all"}, ""},
		"build":      {`{"Action":"build-output","Output":"undefined: x"}{"Action":"fail","FailedBuild":"p"}`, nil, "undefined: x"},
		"no test":    {`{"Action":"pass"}`, nil, "no test"},
		"other text": {`go: no such file`, nil, "output of go test"},
	} {
		got, err := failures(strings.NewReader(c.events))
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestPlantIsExact(t *testing.T) {
	d := Defect{Name: "twice", Old: "a", New: "b"}
	for _, text := range []string{"", "aa"} {
		if _, err := d.Plant(text); err == nil {
			t.Errorf("planted in %q", text)
		}
	}
}
