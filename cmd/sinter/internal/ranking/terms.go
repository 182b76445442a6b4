package ranking

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// analyzer turns texts into terms, what a query and a passage have in common
// where they say the same in other forms:
//
//   - Words are in lower case and without English endings: "Errors" is error.
//   - An identifier is its parts and the whole without what separates them, so
//     that readFile, read_file, read-file and READ_FILE are read, file, readfile.
//   - Neighbours in a dotted name are also a term together: os.readfile.
//   - Scripts that write words without spaces are runes and pairs of runes.
type analyzer struct {
	stems map[string]string
	env   *snowballstem.Env
	word  []byte // the term in the making
}

// A pool, for stemming takes most of the time and the same words come again.
var analyzers = sync.Pool{New: func() any {
	return &analyzer{stems: map[string]string{}, env: snowballstem.NewEnv("")}
}}

// eachTerm calls f with the terms of a text in order. A term is f's only until
// it returns.
func eachTerm(text string, f func(term []byte)) {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	text = norm.NFKC.String(text)
	var chain []string // of an identifier with hyphens
	last, gap := "", 0 // the run before, and where the text after it begins
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isWord(r) {
			at += size
			continue
		}
		run := text[at : at+runLength(text[at:])]
		between := text[gap:at]
		at += len(run)
		gap = at
		if (between == "'" || between == "’") && last != "" && clitic[run] {
			continue
		}
		if between != "-" {
			a.hyphenated(chain, f)
			chain = chain[:0]
		}
		a.run(run, f)
		if last != "" && (between == "." || between == "::" || between == "->") {
			a.pair(last, run, f)
		}
		chain = append(chain, run)
		last = run
	}
	a.hyphenated(chain, f)
}

// clitic are the ends of English words after an apostrophe.
var clitic = map[string]bool{"s": true, "t": true, "re": true, "ve": true, "ll": true, "d": true, "m": true}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

func runLength(text string) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// run gives the terms of a run of letters, digits and underscores.
func (a *analyzer) run(run string, f func([]byte)) {
	parts, spaced := 0, true
	eachPart(run, func(from, to int, k kind) {
		part := run[from:to]
		parts++
		if k == dense {
			spaced = false
			a.dense(part, f)
			return
		}
		a.give(f, part)
	})
	if parts > 1 && spaced {
		a.give(f, run)
	}
}

// hyphenated gives the whole of several runs with hyphens between.
func (a *analyzer) hyphenated(chain []string, f func([]byte)) {
	const most = 8 // longer ones are no names
	if len(chain) > 1 && len(chain) <= most {
		a.give(f, chain...)
	}
}

func (a *analyzer) pair(left, right string, f func([]byte)) {
	a.word = lower(a.word[:0], left)
	a.word = append(a.word, '.')
	a.word = lower(a.word, right)
	f(a.word)
}

// give gives runs as one term.
func (a *analyzer) give(f func([]byte), runs ...string) {
	a.word = a.word[:0]
	for _, r := range runs {
		a.word = lower(a.word, r)
	}
	if len(a.word) > 0 {
		f(a.stem(a.word))
	}
}

// lower appends a run in lower case without underscores.
func lower(to []byte, run string) []byte {
	for _, r := range run {
		if r != '_' {
			to = utf8.AppendRune(to, unicode.ToLower(r))
		}
	}
	return to
}

// stem takes the ending from what may be an English word. The algorithm is
// Porter2 (snowballstem.org).
func (a *analyzer) stem(word []byte) []byte {
	const shortest, longest = 3, 40
	if len(word) < shortest || len(word) > longest {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	stem, ok := a.stems[string(word)]
	if !ok {
		const most = 1 << 15 // words kept
		if len(a.stems) >= most {
			clear(a.stems)
		}
		a.env.SetCurrent(string(word))
		english.Stem(a.env)
		stem = a.env.Current()
		a.stems[string(word)] = stem
	}
	a.word = append(a.word[:0], stem...)
	return a.word
}

// dense gives the runes of a text and its pairs of neighbours.
func (a *analyzer) dense(text string, f func([]byte)) {
	before := 0
	for at, r := range text {
		if at > 0 {
			f(append(a.word[:0], text[before:at+utf8.RuneLen(r)]...))
		}
		f(utf8.AppendRune(a.word[:0], r))
		before = at
	}
}

// kind is of a part of an identifier.
type kind uint8

const (
	letters kind = iota
	digits
	dense // of a script that writes words without spaces, or with endings that vary much
)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if '0' <= r && r <= '9' {
			return digits
		}
		return letters
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return dense
	case unicode.IsNumber(r):
		return digits
	}
	return letters
}

// eachPart calls f with the byte ranges of the parts of an identifier: between underscores, where
// digits begin and end, where capitals begin (readFile), and before the last
// capital of several (HTTPServer, but not IDs).
func eachPart(run string, f func(from, to int, k kind)) {
	start, k, before := 0, letters, rune(0)
	end := func(at int) {
		if start < at && run[start] != '_' {
			f(start, at, k)
		}
		start = at
	}
	for at, r := range run {
		this := k
		if !unicode.IsMark(r) { // which belong to the letter before
			this = kindOf(r)
		}
		if at > 0 && (this != k || r == '_' || before == '_' || capital(before, r, run[at+utf8.RuneLen(r):])) {
			end(at)
		}
		k, before = this, r
	}
	end(len(run))
}

// capital reports whether a word begins at r, with before it a letter and rest
// after it.
func capital(before, r rune, rest string) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	if !unicode.IsUpper(before) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(next) && rest != "s"
}
