package ranking

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Spans are the byte ranges of a text that hold what a query asks for, in
// order and apart: words, and parts of identifiers.
func (q Query) Spans(text string) [][2]int {
	if q.Empty() {
		return nil
	}
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	var all [][2]int
	mark := func(from, to int) {
		if n := len(all); n > 0 && all[n-1][1] >= from {
			all[n-1][1] = max(all[n-1][1], to)
			return
		}
		all = append(all, [2]int{from, to})
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isWord(r) {
			at += size
			continue
		}
		run := text[at : at+runLength(text[at:])]
		if q.has(a, run) {
			mark(at, at+len(run))
		} else {
			eachPart(run, func(from, to int, k kind) {
				switch {
				case k == dense:
					q.densePairs(run[from:to], func(i, j int) { mark(at+from+i, at+from+j) })
				case q.has(a, run[from:to]):
					mark(at+from, at+to)
				}
			})
		}
		at += len(run)
	}
	return all
}

// has reports whether a word is a term of the query.
func (q Query) has(a *analyzer, word string) (found bool) {
	a.give(func(term []byte) { found = q.asks(term) }, norm.NFKC.String(word))
	return found
}

func (q Query) asks(term []byte) bool {
	_, ok := slices.BinarySearch(q.terms, hash(term))
	return ok
}

// densePairs calls f with the places of pairs of runes that the query has. A
// rune alone says too little to be shown.
func (q Query) densePairs(text string, f func(from, to int)) {
	before := 0
	for at, r := range text {
		end := at + utf8.RuneLen(r)
		if at > 0 && q.asks([]byte(text[before:end])) {
			f(before, end)
		}
		before = at
	}
}

// BestLine is the line that holds most of a query's words, the first of
// several, and the byte in it where the first of them begins. Where no line has
// any it is the first that is not blank, and the byte its first letter.
func (q Query) BestLine(lines []string) (line, at int) {
	most := 0
	for i, l := range lines {
		if spans := q.Spans(l); len(spans) > most {
			line, at, most = i, spans[0][0], len(spans)
		}
	}
	if most > 0 {
		return line, at
	}
	for i, l := range lines {
		for at, r := range l {
			if r != ' ' && r != '\t' {
				return i, at
			}
		}
	}
	return 0, 0
}
