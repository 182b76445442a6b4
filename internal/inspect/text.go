package inspect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sinterml/sinter/internal/ir"
)

const (
	// maxName bounds the bytes of a name: names come from models, which may be
	// hostile.
	maxName = 120
	// maxText bounds other texts made of names, such as types with symbols.
	maxText = 400
)

// texts numbers the texts of a document.
type texts struct {
	list []string
	at   map[string]int
}

func newTexts() *texts { return &texts{list: []string{""}, at: map[string]int{"": 0}} }

func (t *texts) number(s string) int {
	s = shorten(s, maxText)
	if n, ok := t.at[s]; ok {
		return n
	}
	t.at[s] = len(t.list)
	t.list = append(t.list, s)
	return t.at[s]
}

// cleanSymbols brings symbols in a text of the compiler's to the form that names
// have in a document. A strings.Replacer would take time quadratic in a long name.
func cleanSymbols(text string, symbols []ir.Symbol) string {
	for _, s := range symbols {
		if clean := shorten(s.Name, maxName); clean != s.Name {
			text = strings.ReplaceAll(text, s.Name, clean)
		}
	}
	return text
}

// shorten makes a text valid UTF-8 that a person can see: what has no shape, or
// turns the direction of writing, is written as its number, so that names that
// differ only in it look different. What is longer than most bytes then is cut in
// the middle, which is what names of one model have in common least.
func shorten(s string, most int) string {
	const mark = "…"
	if len(s) <= most {
		if whole, rest := visible(s, most); rest == "" {
			return whole
		}
	}
	head, _ := visible(s, most*2/3)
	left, at, room := "", len(s), most-most*2/3-len(mark)
	for at > 0 {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		next, _ := visible(s[at-size:at], most)
		if len(left)+len(next) > room {
			break
		}
		left, at = next+left, at-size
	}
	return head + mark + left
}

// visible writes as much of a text as fits into most bytes, and returns the rest.
func visible(s string, most int) (written, rest string) {
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		c := s[:size]
		switch {
		case r == utf8.RuneError && size == 1:
			c = fmt.Sprintf(`\x{%x}`, s[0])
		case !unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			c = fmt.Sprintf(`\u{%x}`, r)
		}
		if b.Len()+len(c) > most {
			break
		}
		b.WriteString(c)
		s = s[size:]
	}
	return b.String(), s
}
