package tokenizer

import "unicode/utf8"

// change is a character of a text being rewritten.
type change struct {
	char  rune
	class uint8 // canonical combining class, where that matters

	// n is 0 for a character in place of one of the text, 1 for a new one, and
	// -k for one in place of one of the text and the k after it.
	n int
}

// editor rewrites a text character by character in the terms of the library,
// which decide what offsets characters get that come from nothing or from
// several: a new one has those of the character before it in the old text, one
// that replaces several those of the first.
type editor struct {
	m  *mapped
	at int // of the next character of the text to be replaced
}

// edit starts rewriting m; commit ends it.
func (m *mapped) edit() *editor {
	m.begin()
	return &editor{m: m}
}

// put appends a character with the n of change.
func (e *editor) put(r rune, n int) {
	last := len(e.m.text) - 1
	if n > 0 {
		e.m.put(r, max(e.at-1, 0))
		return
	}
	e.m.put(r, min(e.at, last))
	e.drop(1 - n)
}

// keep leaves the next n bytes of the text as they are.
func (e *editor) keep(n int) {
	e.m.copyRange(e.at, e.at+n)
	e.at += n
}

// drop passes over n characters of the text.
func (e *editor) drop(n int) {
	for ; n > 0 && e.at < len(e.m.text); n-- {
		_, size := utf8.DecodeRune(e.m.text[e.at:])
		e.at += size
	}
}

// filter keeps the characters wanted.
func (m *mapped) filter(keep func(rune) bool) {
	clean := true
	for _, r := range string(m.text) {
		if clean = keep(r); !clean {
			break
		}
	}
	if clean {
		return
	}
	m.begin()
	for i, r := range string(m.text) {
		if keep(r) {
			m.put(r, i)
		}
	}
	m.commit()
}
