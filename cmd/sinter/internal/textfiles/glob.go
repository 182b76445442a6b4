package textfiles

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// glob matches paths with slashes. Matching takes time linear in the path
// whatever the glob: what is more than a fixed text becomes a regular
// expression of package regexp, which never backtracks.
type glob struct {
	nameOnly bool   // about the last part of a path
	suffix   bool   // text is what the name ends in
	text     string // compared where re is nil
	re       *regexp.Regexp
}

// maxGlob bounds the bytes of a glob: those of a path, on most systems.
const maxGlob = 4 << 10

// newGlob reads a glob:
//
//	?        a byte but /
//	*        any bytes but /
//	**       between slashes, or at an end: any number of folders
//	[a-z]    a byte of a set; [!a-z] and [^a-z] one of none in it, but /
//	{a,b}    either
//	\        the byte behind it, as it is
//
// These are gitignore's and, with the braces and the absence of classes such as
// [:alpha:], those of ripgrep. With nameOnly the glob is about a file's name.
func newGlob(text string, nameOnly bool) (glob, error) {
	if len(text) > maxGlob {
		return glob{}, errLong
	}
	g := glob{nameOnly: nameOnly, text: text}
	if !strings.ContainsAny(text, `?*[{}\`) {
		return g, nil
	}
	if rest, ok := strings.CutPrefix(text, "*"); ok && nameOnly && !strings.ContainsAny(rest, `?*[{}\/`) {
		g.suffix, g.text = true, rest
		return g, nil
	}
	t := translator{glob: text}
	if err := t.translate(); err != nil {
		return glob{}, err
	}
	re, err := regexp.Compile(t.re.String())
	if err != nil {
		return glob{}, err
	}
	g.re = re
	return g, nil
}

func (g glob) match(path string) bool {
	if g.nameOnly {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	switch {
	case g.suffix:
		return strings.HasSuffix(path, g.text)
	case g.re == nil:
		return path == g.text
	}
	return g.re.MatchString(latin1(path))
}

// latin1 makes each byte a rune. Regular expressions are about runes, but a
// file's name is bytes and may be no UTF-8.
func latin1(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// translator writes a glob as a regular expression over latin1 text.
type translator struct {
	glob  string
	at    int
	re    strings.Builder
	depth int // of braces
}

var (
	errLong       = fmt.Errorf("longer than %d bytes, as no path is", maxGlob)
	errDangling   = errors.New(`nothing follows the last backslash: write \\ for one`)
	errClass      = errors.New(`[ without ]: write \[ for the bracket itself`)
	errRange      = errors.New("a range in brackets ends before it begins")
	errOpenBrace  = errors.New(`{ without }: write \{ for the brace itself`)
	errCloseBrace = errors.New(`} without {: write \} for the brace itself`)
)

func (t *translator) translate() error {
	t.re.WriteString(`(?s)\A`)
	for t.at < len(t.glob) {
		c := t.glob[t.at]
		t.at++
		switch {
		case c == '?':
			t.re.WriteString(`[^/]`)
		case c == '*':
			t.star()
		case c == '[':
			if err := t.class(); err != nil {
				return err
			}
		case c == '{':
			t.depth++
			t.re.WriteString(`(?:`)
		case c == '}' && t.depth == 0:
			return errCloseBrace
		case c == '}':
			t.depth--
			t.re.WriteByte(')')
		case c == ',' && t.depth > 0:
			t.re.WriteByte('|')
		case c == '\\' && t.at == len(t.glob):
			return errDangling
		case c == '\\':
			t.literal(t.glob[t.at])
			t.at++
		default:
			t.literal(c)
		}
	}
	if t.depth > 0 {
		return errOpenBrace
	}
	t.re.WriteString(`\z`)
	return nil
}

func (t *translator) literal(c byte) { t.re.WriteString(regexp.QuoteMeta(string(rune(c)))) }

// star translates what a star just read begins.
func (t *translator) star() {
	begins := t.at == 1 || t.ends(t.glob[t.at-2], '{')
	if t.at == len(t.glob) || t.glob[t.at] != '*' {
		t.re.WriteString(`[^/]*`)
		return
	}
	t.at++
	last := t.at == len(t.glob)
	switch {
	case !begins || !last && !t.ends(t.glob[t.at], '}'):
		t.re.WriteString(`[^/]*`)
	case !last && t.glob[t.at] == '/':
		t.at++
		t.re.WriteString(`(?:.*/)?`)
	default:
		t.re.WriteString(`.+`)
	}
}

// ends reports whether a byte next to ** is an end of a part of the path.
func (t *translator) ends(c, brace byte) bool {
	return c == '/' || t.depth > 0 && (c == ',' || c == brace)
}

// class translates a set in brackets, the first of which has been read. In it
// only ], - and a ! or ^ in front mean something; ] at the front is itself.
func (t *translator) class() error {
	rest := t.glob[t.at:]
	negated := strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^")
	if negated {
		rest = rest[1:]
	}
	end := -1
	if len(rest) > 0 {
		end = strings.IndexByte(rest[1:], ']') + 1
	}
	if end <= 0 {
		return errClass
	}
	t.at = len(t.glob) - len(rest) + end + 1
	set := rest[:end]
	t.re.WriteByte('[')
	if negated {
		t.re.WriteString(`^/`)
	}
	for i := 0; i < len(set); i++ {
		low, high := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			high = set[i+2]
			i += 2
		}
		if low > high {
			return errRange
		}
		fmt.Fprintf(&t.re, `\x{%x}-\x{%x}`, low, high)
	}
	t.re.WriteByte(']')
	return nil
}
