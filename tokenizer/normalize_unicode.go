package tokenizer

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// unicodeForm is one of Unicode's normalisation forms. The norm package knows
// the characters; what became of each has to be followed here, as the library
// follows it.
type unicodeForm struct {
	compose    bool // C, not D
	compatible bool // K
}

func (f unicodeForm) form() norm.Form {
	switch f {
	case unicodeForm{}:
		return norm.NFD
	case unicodeForm{compose: true}:
		return norm.NFC
	case unicodeForm{compatible: true}:
		return norm.NFKD
	}
	return norm.NFKC
}

// growth is that of the longest decomposition, of U+FDFA, or of a syllable.
func (unicodeForm) growth() int { return 11 }

func (f unicodeForm) normalize(m *mapped) {
	form, whole := f.form(), len(m.text)
	if form.QuickSpan(m.text) == whole {
		return
	}
	decomposed := norm.NFD
	if f.compatible {
		decomposed = norm.NFKD
	}
	e := m.edit()
	var d decomposition
	var changes []change
	for i := 0; i < whole; {
		if n := form.QuickSpan(m.text[i:]); n > 0 {
			e.keep(n)
			i += n
			continue
		}
		// A segment, which nothing before or after it can change.
		end := i + decomposed.Properties(m.text[i:]).Size()
		for end < whole && !form.Properties(m.text[end:]).BoundaryBefore() {
			end += decomposed.Properties(m.text[end:]).Size()
		}
		d.decompose(decomposed, m.text[i:end], i)
		changes = d.changes(changes[:0])
		if f.compose {
			changes = composed(changes)
		}
		for _, c := range changes {
			e.put(c.char, c.n)
		}
		i = end
	}
	m.commit()
}

// changes appends the decomposition as an edit: of what a character decomposes
// to all but the first is new.
func (d *decomposition) changes(out []change) []change {
	for _, r := range d.runes {
		c := change{char: r.char, class: r.class}
		if !r.first {
			c.n = 1
		}
		out = append(out, c)
	}
	return out
}

// composed puts together, in place, what has a composed character. A character
// composed stands for all that went into it.
func composed(parts []change) []change {
	out := parts[:0]
	starter := -1 // the place in out of the last character that may be composed
	last := -1    // the class of the last mark that was not, -1 for none since the starter
	for _, part := range parts {
		class := int(part.class)
		if starter >= 0 && (last < 0 || last < class) {
			if char, ok := composePair(out[starter].char, part.char); ok {
				out[starter].char = char
				out[starter].n += part.n - 1
				continue
			}
		}
		out = append(out, part)
		switch {
		case class == 0:
			starter, last = len(out)-1, -1
		case starter >= 0:
			last = class
		}
	}
	return out
}

// composePair is the character that two compose to, if it is one that the
// reference implementation knows. They stand in canonical order, so that nothing
// but their composition can become one character.
func composePair(a, b rune) (rune, bool) {
	var buf [2 * utf8.UTFMax]byte
	pair := utf8.AppendRune(utf8.AppendRune(buf[:0], a), b)
	both := norm.NFC.Bytes(pair)
	r, size := utf8.DecodeRune(both)
	return r, size == len(both) && normalizable.has(r)
}

// lowercase makes letters small.
type lowercase struct{}

func (lowercase) normalize(m *mapped) {
	if bytes.IndexFunc(m.text, func(r rune) bool { return unicode.ToLower(r) != r }) < 0 {
		return
	}
	m.begin()
	for i, r := range string(m.text) {
		m.putLower(r, i)
	}
	m.commit()
}

// putLower puts the small form of r in place of text[at].
func (m *mapped) putLower(r rune, at int) {
	if r == 'İ' { // the one letter whose small form is two runes
		m.put('i', at)
		m.put('\u0307', at)
		return
	}
	m.put(unicode.ToLower(r), at)
}

// stripAccents takes marks out. Precomposed letters keep theirs, unless a form
// that decomposes goes before.
type stripAccents struct{}

func (stripAccents) normalize(m *mapped) {
	m.filter(func(r rune) bool { return !isAccent(r) })
}

// isAccent tells whether r is a mark of any kind, in Unicode 9.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case unicode.IsMark(r):
		return normalizable.has(r) && r != 0x111C9
	}
	return unicode.Is(movedFromAccent, r)
}

// nmt is the cleaning of SentencePiece: some control characters go, and what
// takes the place of white space becomes a space.
type nmt struct{}

func (nmt) normalize(m *mapped) {
	m.filter(func(r rune) bool {
		return !(1 <= r && r <= 8 || r == 0xB || 0xE <= r && r <= 0x1F || r == 0x7F || r == 0x8F || r == 0x9F)
	})
	m.begin()
	for i, r := range string(m.text) {
		switch r {
		case '\t', '\n', '\f', '\r', 0x1680, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD:
			r = ' '
		}
		m.put(r, i)
	}
	m.commit()
}
