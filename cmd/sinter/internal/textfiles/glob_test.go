package textfiles

import (
	"errors"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		lines, path string // a slash at the end of the path: a folder
		want        verdict
	}{
		{"a", "a", ignore},
		{"a", "b/a", ignore},
		{"a", "ab", silent},
		{"/a", "b/a", silent},
		{"b/a", "b/a", ignore},
		{"b/a", "c/b/a", silent},
		{"a/", "a", silent},
		{"a/", "b/a/", ignore},
		{"*.go", "b/a.go", ignore},
		{"*.go", ".go", ignore},
		{"/*.go", "b/a.go", silent},
		{"a*", "abc", ignore},
		{"b/*", "b/a/c", silent},
		{"?", "/", silent},
		{"??", "\u00e9", ignore}, // two bytes
		{"a/**", "a/", silent},
		{"a/**", "a/b/c", ignore},
		{"**", "a/b", ignore},
		{"**/a", "a", ignore},
		{"**/a/b", "c/d/a/b", ignore},
		{"a/**/b", "a/b", ignore},
		{"a/**/b", "a/c/d/b", ignore},
		{"a/**/b", "ab", silent},
		{"a/**/**/b", "a/c/b", ignore},
		{"a**b", "axxb", ignore},
		{"x/a**b", "x/a/b", silent},
		{"***", "a", ignore},
		{"[ab]", "b", ignore},
		{"[a-c]x", "bx", ignore},
		{"[!a]", "b", ignore},
		{"[^a]", "a", silent},
		{"x/[!a]b", "x//b", silent},
		{"[]]", "]", ignore},
		{"[]-a]", "^", ignore},
		{"[a-]", "-", ignore},
		{`[\]`, `\`, ignore},
		{`\*`, "*", ignore},
		{`\*`, "a", silent},
		{`\!a`, "!a", ignore},
		{`\#a`, "#a", ignore},
		{"#a", "#a", silent},
		{"!a", "a", include},
		{"*\n!a", "a", include},
		{"!a\n*", "a", ignore},
		{"!a/\n", "a", silent},
		{"a  ", "a", ignore},
		{"a\t", "a", ignore},
		{`a\ `, "a ", ignore},
		{" a", "a", silent},
		{" a", " a", ignore},
		{"a\r\nb\r\n", "a", ignore},
		{"\ufeffa", "a", ignore},
		{"*.{go,md}", "a.md", ignore},
		{"*.{go,md}", "a.txt", silent},
		{"{a,b/c}", "b/c", ignore},
		{"{**/a,b}/c", "x/a/c", ignore},
		{"a,b", "a,b", ignore},
		{"\n \n", "a", silent},
		{"\xff*", "\xffa", ignore}, // no UTF-8
		{"a.b", "axb", silent},
		{"a?b", "a\nb", ignore},
	} {
		bad := func(line int, err error) { t.Errorf("%q: line %d: %v", c.lines, line, err) }
		path, dir := strings.CutSuffix(c.path, "/")
		if got := parsePatterns(c.lines, bad).judge(path, dir); got != c.want {
			t.Errorf("%q says %d of %q, want %d", c.lines, got, c.path, c.want)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    error // nil: any
	}{
		{"!", nil}, {"/", nil}, {"[", errClass}, {"[]", errClass}, {"[!]", errClass}, {"a/[/b", errClass}, {"[b-a]", errRange},
		{`a\`, errDangling}, {"{a", errOpenBrace}, {"{{a}", errOpenBrace}, {"a}", errCloseBrace},
		{strings.Repeat("?", maxGlob+1), errLong},
	} {
		lines := 0
		ps := parsePatterns("x\n"+c.pattern+"\ny", func(line int, err error) {
			lines += line
			if !errors.Is(err, ErrPattern) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%.20q: %v, want %v", c.pattern, err, c.want)
			}
		})
		if lines != 2 || len(ps) != 2 {
			t.Errorf("%.20q is taken, or the lines around it are not", c.pattern)
		}
		if _, err := ParseGlobs([]string{c.pattern}); err == nil {
			t.Errorf("glob %.20q is taken", c.pattern)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		globs string
		path  string
		want  verdict
	}{
		{"", "a", silent},
		{"*.go", "a/b.go", include},
		{"*.go", "a/b.md", ignore},
		{"*.go", "a/", silent}, // folders are looked into
		{"!*_test.go", "a/b_test.go", ignore},
		{"!*_test.go", "a/b.go", silent},
		{"*.go !*_test.go", "b_test.go", ignore},
		{"!*_test.go *.go", "b_test.go", include}, // the last decides
		{"!testdata", "a/testdata/", ignore},
		{"/a/*.go", "x/a/b.go", ignore},
	} {
		g, err := ParseGlobs(strings.Fields(c.globs))
		if err != nil {
			t.Fatal(err)
		}
		path, dir := strings.CutSuffix(c.path, "/")
		if got := g.judge(path, dir); got != c.want {
			t.Errorf("%q says %d of %q, want %d", c.globs, got, c.path, c.want)
		}
	}
}

// FuzzGlob compares globs with the definition, tried in all ways.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{{"a/**/b", "a/x/b"}, {"*.go", "a.go"}, {"[!a-c]?", "xy"}, {`\*{a,b}`, "*a"}, {"**/x/**", "x/y"}, {"a**b", "ab"}, {"\xff[\x80-\xff]", "\xff\x80"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, nameOnly := range []bool{true, false} {
			g, err := newGlob(text, nameOnly)
			if err != nil {
				continue
			}
			got := g.match(path)
			if len(text) > 12 || len(path) > 12 || strings.ContainsAny(text, "{}") {
				continue // ways are too many, or the definition below lacks it
			}
			of := path
			if nameOnly {
				of = path[strings.LastIndexByte(path, '/')+1:]
			}
			if want := slowMatch(text, of, true); got != want {
				t.Errorf("glob %q matches %q: %v, want %v", text, of, got, want)
			}
		}
	})
}

// slowMatch tries all ways to match a valid glob without braces. begins tells
// that the glob stands at its start or behind a slash.
func slowMatch(glob, path string, begins bool) bool {
	some := func(rest string, from, to int, ok func(skipped string) bool) bool {
		for n := from; n <= to; n++ {
			if ok(path[:n]) && slowMatch(rest, path[n:], false) {
				return true
			}
		}
		return false
	}
	inPart := func(s string) bool { return !strings.Contains(s, "/") }
	switch {
	case glob == "":
		return path == ""
	case begins && glob == "**":
		return path != ""
	case begins && strings.HasPrefix(glob, "**/"):
		for n := range len(path) + 1 {
			if (n == 0 || path[n-1] == '/') && slowMatch(glob[3:], path[n:], true) {
				return true
			}
		}
		return false
	case strings.HasPrefix(glob, "**"):
		return some(glob[2:], 0, len(path), inPart)
	case glob[0] == '*':
		return some(glob[1:], 0, len(path), inPart)
	case path == "":
		return false
	case glob[0] == '?':
		return path[0] != '/' && slowMatch(glob[1:], path[1:], false)
	case glob[0] == '[':
		in, rest := slowClass(glob[1:], path[0])
		return in && slowMatch(rest, path[1:], false)
	case glob[0] == '\\':
		return glob[1] == path[0] && slowMatch(glob[2:], path[1:], glob[1] == '/')
	}
	return glob[0] == path[0] && slowMatch(glob[1:], path[1:], glob[0] == '/')
}

func slowClass(glob string, c byte) (in bool, rest string) {
	negated := glob[0] == '!' || glob[0] == '^'
	if negated {
		glob = glob[1:]
	}
	for first := true; first || glob[0] != ']'; first = false {
		if glob[1] == '-' && glob[2] != ']' {
			in = in || glob[0] <= c && c <= glob[2]
			glob = glob[3:]
			continue
		}
		in = in || c == glob[0]
		glob = glob[1:]
	}
	return in != negated && !(negated && c == '/'), glob[1:]
}
