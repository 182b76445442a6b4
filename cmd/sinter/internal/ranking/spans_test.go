package ranking

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"walk the tree", "Walking over trees, the Walker", "[Walking] over [trees], the Walker"},
		{"readFile", "os.ReadFile(read_all, file)", "os.[ReadFile]([read]_all, [file])"},
		{"file", "openFiles FILE_NAME profile", "open[Files] [FILE]_NAME profile"},
		{"日本語", "これは日本の語", "これは[日本]の語"},
		{"ﬁle é", "file e\u0301 É", "[file] [e\u0301] [É]"},
		{"?", "what?", "what?"},
		{"x", "", ""},
	} {
		var b strings.Builder
		last := 0
		for _, s := range ParseQuery(c.query).Spans(c.text) {
			b.WriteString(c.text[last:s[0]] + "[" + c.text[s[0]:s[1]] + "]")
			last = s[1]
		}
		if got := b.String() + c.text[last:]; got != c.want {
			t.Errorf("%q: %s, want %s", c.query, got, c.want)
		}
	}
}

func TestBestLine(t *testing.T) {
	for _, c := range []struct {
		query, lines string
		line, at     int
	}{
		{"walk tree", "a tree\nwalk the tree\nwalk tree", 1, 0},
		{"tree", "\n  x\ntree", 2, 0},
		{"tree", "\n\n\t éx\ny", 2, 2},
		{"tree", "", 0, 0},
	} {
		if line, at := ParseQuery(c.query).BestLine(strings.Split(c.lines, "\n")); line != c.line || at != c.at {
			t.Errorf("%q in %q: line %d at %d, want %d at %d", c.query, c.lines, line, at, c.line, c.at)
		}
	}
}

// FuzzSpans: spans are in order, apart, within the text and of whole runes.
func FuzzSpans(f *testing.F) {
	f.Add("readFile", "ReadFile_2 日本語 \xff")
	f.Fuzz(func(t *testing.T, query, text string) {
		if len(query) > 1000 || len(text) > 10_000 {
			t.Skip()
		}
		text = strings.ToValidUTF8(text, "\ufffd") // where runes begin is plain
		last := -1
		for _, s := range ParseQuery(query).Spans(text) {
			if s[0] <= last || s[1] <= s[0] || s[1] > len(text) || !utf8.RuneStart(text[s[0]]) || s[1] < len(text) && !utf8.RuneStart(text[s[1]]) {
				t.Fatalf("%v after %d in %q", s, last, text)
			}
			last = s[1]
		}
	})
}
