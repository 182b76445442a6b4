package tokenizer

import (
	"slices"
	"unicode/utf8"
)

// mapped is text on its way through the pipeline, with the place in the source
// that each byte of it came from. It is always UTF-8.
type mapped struct {
	source  string
	text    []byte
	atStart bool // the source is the start of what is encoded

	// origin[i] is the offset of the rune in source that text[i] came from.
	// Nil means that the text is as long as the source and each byte came from
	// its own place, which spares the memory for most English text.
	origin []int

	// What a stage has rewritten so far, of text[:i] for some i.
	next       []byte
	nextOrigin []int
	originKept []int // the memory of origin while it is nil
}

// reset starts with a source. Bytes that are not UTF-8 become U+FFFD, each.
func (m *mapped) reset(source string) {
	m.source = source
	if m.origin != nil {
		m.originKept = m.origin
	}
	m.origin = nil
	m.text = append(m.text[:0], source...)
	if utf8.ValidString(source) {
		return
	}
	m.begin()
	for i, r := range source {
		m.put(r, i)
	}
	m.commit()
}

// begin starts rewriting the text.
func (m *mapped) begin() {
	m.next = slices.Grow(m.next[:0], len(m.text))
	m.nextOrigin = slices.Grow(m.nextOrigin[:0], len(m.text))
}

// put appends a rune in place of that at text[i].
func (m *mapped) put(r rune, i int) {
	if m.origin == nil {
		m.putFrom(r, m.sourceStart(i))
	} else {
		m.putFrom(r, m.origin[i])
	}
}

// putFrom appends a rune of the origin given.
func (m *mapped) putFrom(r rune, from int) {
	if r < utf8.RuneSelf {
		m.next = append(m.next, byte(r))
		m.nextOrigin = append(m.nextOrigin, from)
		return
	}
	all := [utf8.UTFMax]int{from, from, from, from}
	m.next = utf8.AppendRune(m.next, r)
	m.nextOrigin = append(m.nextOrigin, all[:len(m.next)-len(m.nextOrigin)]...)
}

// copyRange appends text[start:end] as it is.
func (m *mapped) copyRange(start, end int) {
	m.next = append(m.next, m.text[start:end]...)
	if m.origin != nil {
		m.nextOrigin = append(m.nextOrigin, m.origin[start:end]...)
		return
	}
	for i := start; i < end; i++ {
		m.nextOrigin = append(m.nextOrigin, m.sourceStart(i))
	}
}

// commit makes what was put the text.
func (m *mapped) commit() {
	m.text, m.next = m.next, m.text
	spare := m.origin
	if spare == nil {
		spare = m.originKept
	}
	m.origin, m.nextOrigin = m.nextOrigin, spare
	m.originKept = nil
}

// cut starts with a part of another mapped text and all that it came from.
func (m *mapped) cut(of *mapped, start, end int) {
	m.source = of.source
	if m.origin == nil {
		m.origin = m.originKept
	}
	m.text = append(m.text[:0], of.text[start:end]...)
	m.origin = slices.Grow(m.origin[:0], end-start)
	m.originKept = nil
	if of.origin != nil {
		m.origin = append(m.origin, of.origin[start:end]...)
		return
	}
	for i := start; i < end; i++ {
		m.origin = append(m.origin, of.sourceStart(i))
	}
}

// sourceStart is the offset in the source of the rune that text[i] came from.
func (m *mapped) sourceStart(i int) int {
	if m.origin == nil {
		for i > 0 && !utf8.RuneStart(m.text[i]) {
			i--
		}
		return i
	}
	return m.origin[i]
}

// sourceEnd is the offset in the source of the end of the rune that text[i-1]
// came from.
func (m *mapped) sourceEnd(i int) int {
	if m.origin == nil {
		for i < len(m.text) && !utf8.RuneStart(m.text[i]) {
			i++
		}
		return i
	}
	start := m.origin[i-1]
	_, size := utf8.DecodeRuneInString(m.source[start:])
	return start + size
}
