package passage

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	word  = regexp.MustCompile(`\S+`)
	plain = regexp.MustCompile(`^[a-z0-9]+$`)
)

// words is a tokenizer: a word is a token.
func words(line string) [][2]int {
	var all [][2]int
	for _, m := range word.FindAllStringIndex(line, -1) {
		all = append(all, [2]int{m[0], m[1]})
	}
	return all
}

func split(name, text string, max int) string {
	var b strings.Builder
	for _, p := range (Splitter{words, max}).Split(name, text) {
		fmt.Fprintf(&b, "%d-%d %q\n", p.Line, p.End, p.Text)
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		max              int
		want             string
	}{
		{"nothing", "a.txt", "", 8, ""},
		{"neither letters nor digits", "a.txt", "\n---\n\n***\n", 8, ""},
		{"all fits", "a.txt", "one two\n\nthree\n", 8, "1-3 \"one two\\n\\nthree\"\n"},
		{"carriage returns", "a.txt", "one\r\ntwo\r\n", 8, "1-2 \"one\\ntwo\"\n"},
		{"at paragraphs", "a.txt", "a b c\n\nd e f\n\ng h i\n", 6, "1-3 \"a b c\\n\\nd e f\"\n5-5 \"g h i\"\n"},
		{"overlap where none ends", "a.txt", "a b c\nd\ne f g\nh\ni j k l\n", 8,
			"1-4 \"a b c\\nd\\ne f g\\nh\"\n4-5 \"h\\ni j k l\"\n"},
		{"a long line", "a.txt", "x\na b c d e f g\ny", 3, "1-1 \"x\"\n2-2 \"a b c\"\n2-2 \" d e f\"\n2-3 \" g\\ny\"\n"},
		{"headings", "a.md", "# A\na b c d\n# B\ne f g h\n", 8, "1-2 \"# A\\na b c d\"\n3-4 \"# B\\ne f g h\"\n"},
		{"short sections together", "a.md", "# A\na\n# B\nb\n# C\nc d e f g h\n", 16, "1-4 \"# A\\na\\n# B\\nb\"\n5-6 \"# C\\nc d e f g h\"\n"},
		{"no heading in code", "a.md", "# A\n```\n# b c d e\n```\nf g h i\n", 8, ""},
		{"headings underlined", "a.md", "A\n===\na b c d\n\nB\n---\ne f g h\n", 8, "1-3 \"A\\n===\\na b c d\"\n5-7 \"B\\n---\\ne f g h\"\n"},
		{"declarations with comments", "a.go", "package a\n\n// F is f.\nfunc F() {\n\tx y z\n}\n\nvar x = 1\n", 12,
			"1-1 \"package a\"\n3-6 \"// F is f.\\nfunc F() {\\n\\tx y z\\n}\"\n8-8 \"var x = 1\"\n"},
		{"a notice", "a.c", "// Copyright me.\n// All rights.\n\nint x;\n", 8, "4-4 \"int x;\"\n"},
		{"nothing but a notice", "a.c", "// Copyright me.\n", 8, "1-1 \"// Copyright me.\"\n"},
		{"no comment", "LICENSE", "Copyright me.\n\nAll rights.\n", 8, "1-3 \"Copyright me.\\n\\nAll rights.\"\n"},
	} {
		got := split(c.file, c.text, c.max)
		if c.name == "no heading in code" {
			if !strings.Contains(got, "```\\n# b") {
				t.Errorf("%s:\n%s", c.name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// FuzzSplit: every passage fits, stands where it says, and together they hold
// every word.
func FuzzSplit(f *testing.F) {
	f.Add("a.md", "# A\nb c\n\n\nd\n```\n# x\n", 3)
	f.Add("a.go", "// c\nfunc f() {}\nvar x\n", 2)
	f.Add("a", "a b c d e f g h i j\nk\n", 1)
	f.Add("a.py", "class A:\n    # c\n    def f():\n        x y z\n@d\ndef g(): pass\n", 4)
	f.Add("a.c", "/* c\n d */\nint\nf(int a)\n{\n}\n", 3)
	f.Add("a.rst", "====\nA b\n====\nc d e\n", 3)
	f.Fuzz(func(t *testing.T, name, text string, max int) {
		if max < 1 || max > 100 || len(text) > 10000 || strings.Contains(text, "Copyright") || strings.Contains(text, "SPDX") {
			t.Skip()
		}
		lines := strings.Split(text, "\n")
		have := map[string]bool{}
		for _, p := range (Splitter{words, max}).Split(name, text) {
			if n := len(words(p.Text)); n > max || n == 0 {
				t.Fatalf("%d tokens of %d: %q", n, max, p.Text)
			}
			if p.Line < 1 || p.End < p.Line || p.End > len(lines) {
				t.Fatalf("lines %d to %d of %d", p.Line, p.End, len(lines))
			}
			parts := strings.Split(p.Text, "\n")
			if len(parts) != p.End-p.Line+1 {
				t.Fatalf("%d lines from %d to %d", len(parts), p.Line, p.End)
			}
			for i, part := range parts {
				if !strings.Contains(lines[p.Line-1+i], part) {
					t.Fatalf("line %d holds no %q", p.Line+i, part)
				}
				for _, w := range word.FindAllString(part, -1) {
					have[w] = true
				}
			}
		}
		for _, l := range lines {
			for _, w := range word.FindAllString(strings.TrimSuffix(l, "\r"), -1) {
				if plain.MatchString(w) && !have[w] {
					t.Fatalf("no passage holds %q", w)
				}
			}
		}
	})
}
