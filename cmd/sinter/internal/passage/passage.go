// Package passage splits texts into passages that fit a model, along the lines
// that an author drew.
package passage

import (
	"strings"
	"unicode"
)

// Passage is a run of lines of a text, or a part of a line too long for one.
type Passage struct {
	Line, End int // first and last line, from 1
	Text      string
}

// Splitter splits texts.
type Splitter struct {
	// Tokens gives the byte ranges of a line's tokens. A text has as many
	// tokens as its lines together.
	Tokens func(line string) [][2]int
	// Max is the number of tokens a passage may have, at least 1.
	Max int
}

// row is a line, or a part of one, that fits a passage.
type row struct {
	text   string
	line   int
	tokens int
	border border // between it and the row before
}

// Split splits a text. name, the name of its file, tells what kind of text it
// is.
//
// Sections, such as the text under a heading or a declaration, stay apart
// unless several together are short. A long one is cut where its paragraphs
// end, into passages that overlap a little, for what is said at a cut would
// else be in no passage whole. A copyright notice above the rest of a file is
// left out: it is the same in all files.
func (s Splitter) Split(name, text string) []Passage {
	rows := s.rows(name, text)
	var all []Passage
	for from := notice(rows); from < len(rows); {
		to, tokens := section(rows, from)
		for to < len(rows) { // short neighbours
			next, more := section(rows, to)
			if tokens+more > s.Max/2 {
				break
			}
			to, tokens = next, tokens+more
		}
		all = append(all, s.windows(rows[from:to])...)
		from = to
	}
	return all
}

// rows are the lines of a text that each fit a passage.
func (s Splitter) rows(name, text string) []row {
	lines := strings.Split(text, "\n")
	borders := bordersOf(name, lines)
	rows := make([]row, 0, len(lines))
	for i, l := range lines {
		l = strings.TrimSuffix(l, "\r")
		at := s.Tokens(l)
		if len(at) <= s.Max {
			rows = append(rows, row{l, i + 1, len(at), borders[i]})
			continue
		}
		start, border := 0, borders[i]
		for len(at) > 0 {
			n := min(len(at), s.Max)
			end := at[n-1][1]
			if n == len(at) {
				end = len(l)
			}
			rows = append(rows, row{l[start:end], i + 1, n, border})
			at, start, border = at[n:], end, within
		}
	}
	return rows
}

// notice is the end of the first paragraph if that is a comment about
// copyright, else 0.
func notice(rows []row) int {
	found := false
	for i, r := range rows {
		text := strings.TrimSpace(r.text)
		if text == "" {
			if _, more := join(rows[i:]); found && more {
				return i
			}
			return 0
		}
		if unicode.IsLetter([]rune(text)[0]) {
			return 0
		}
		found = found || strings.Contains(text, "Copyright") || strings.Contains(text, "SPDX-License-Identifier")
	}
	return 0
}

// section finds the end of the section that begins at from.
func section(rows []row, from int) (to, tokens int) {
	tokens = rows[from].tokens
	for to = from + 1; to < len(rows) && rows[to].border != heading; to++ {
		tokens += rows[to].tokens
	}
	return to, tokens
}

// windows cuts a section into passages.
func (s Splitter) windows(rows []row) []Passage {
	var all []Passage
	for from := 0; from < len(rows); {
		to := s.cut(rows, from)
		if p, ok := join(rows[from:to]); ok {
			all = append(all, p)
		}
		if to == len(rows) {
			break
		}
		from = s.overlap(rows, from, to)
	}
	return all
}

// cut finds the end of a passage from a row on: at the strongest border in the
// second half of what fits, the last of several.
func (s Splitter) cut(rows []row, from int) int {
	best, strength := 0, within
	tokens, to := 0, from
	for ; to < len(rows) && tokens+rows[to].tokens <= s.Max; to++ {
		if to > from && tokens >= s.Max/2 && rows[to].border >= strength {
			best, strength = to, rows[to].border
		}
		tokens += rows[to].tokens
	}
	if to == len(rows) {
		return to
	}
	if best == 0 || rows[to].border >= strength {
		return to
	}
	return best
}

// overlap is where the passage after a cut begins: at the cut where a
// paragraph ends, else up to an eighth of a passage before it.
func (s Splitter) overlap(rows []row, from, to int) int {
	if rows[to].border >= paragraph {
		return to
	}
	tokens := 0
	for at := to; at > from+1; at-- {
		tokens += rows[at-1].tokens
		if tokens > s.Max/8 {
			return at
		}
	}
	return to
}

// join makes a passage of rows, without blank lines around it. What holds
// neither letters nor digits is none.
func join(rows []row) (Passage, bool) {
	blank := func(r row) bool { return strings.TrimSpace(r.text) == "" }
	for len(rows) > 0 && blank(rows[0]) {
		rows = rows[1:]
	}
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 && r.line != rows[i-1].line {
			b.WriteByte('\n')
		}
		b.WriteString(r.text)
	}
	text := b.String()
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return Passage{}, false
	}
	return Passage{rows[0].line, rows[len(rows)-1].line, text}, true
}
