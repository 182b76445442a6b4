package tokenizer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer cleans text as BERT's models want it: control characters go,
// white space becomes the space, ideographs become words of their own, accents
// are taken off, and letters are made small, in this order.
type bertNormalizer struct {
	cleanText    bool
	ideographs   bool
	stripAccents bool
	lowercase    bool

	// ascii is what becomes of each ASCII character, dropped for nothing: on
	// ASCII all steps together are one table.
	ascii [utf8.RuneSelf]byte
}

const dropped = 0xFF

func newBertNormalizer(cleanText, ideographs, stripAccents, lowercase bool) *bertNormalizer {
	b := &bertNormalizer{cleanText: cleanText, ideographs: ideographs, stripAccents: stripAccents, lowercase: lowercase}
	for c := range b.ascii {
		r := rune(c)
		if cleanText {
			r = cleanRune(r)
		}
		if lowercase && r >= 0 {
			r = unicode.ToLower(r)
		}
		if b.ascii[c] = byte(r); r < 0 {
			b.ascii[c] = dropped
		}
	}
	return b
}

// cleanRune is what cleaning makes of r, negative for nothing.
func cleanRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r == 0 || r == utf8.RuneError || isControl(r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

func (b *bertNormalizer) normalize(m *mapped) {
	for i, c := range m.text {
		if c >= utf8.RuneSelf || b.ascii[c] == dropped {
			// What is done so far stays: no step changes ASCII twice.
			if b.cleanText || b.ideographs {
				b.clean(m)
			}
			if b.stripAccents || b.lowercase {
				b.fold(m)
			}
			return
		}
		m.text[i] = b.ascii[c]
	}
}

// clean does the first two steps.
func (b *bertNormalizer) clean(m *mapped) {
	m.begin()
	for i := 0; i < len(m.text); {
		r, size := rune(m.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(m.text[i:])
		}
		at := i
		i += size
		if b.cleanText {
			if r = cleanRune(r); r < 0 {
				continue
			}
		}
		if b.ideographs && isIdeograph(r) {
			m.put(' ', at)
			m.put(r, at)
			m.put(' ', at)
			continue
		}
		m.put(r, at)
	}
	m.commit()
}

// fold does the last two steps.
func (b *bertNormalizer) fold(m *mapped) {
	var d decomposition
	m.begin()
	for i := 0; i < len(m.text); {
		switch c := m.text[i]; {
		case c < utf8.RuneSelf:
			// Marks that may follow are dropped on their own.
			b.foldRune(m, rune(c), i)
			i++
		case !b.stripAccents:
			r, size := utf8.DecodeRune(m.text[i:])
			b.foldRune(m, r, i)
			i += size
		default:
			size := norm.NFD.NextBoundary(m.text[i:], true)
			d.decompose(m.text[i:i+size], i)
			for k, r := range d.runes {
				if !isMark(r) {
					b.foldRune(m, r, d.from[k])
				}
			}
			i += size
		}
	}
	m.commit()
}

// decomposition is a character and its marks in Unicode's form D.
type decomposition struct {
	runes []rune
	from  []int  // where in the text each came from
	buf   []byte // scratch
}

// decompose takes a segment of text that stands at the offset given. Marks
// change places when put in order; places are counted out to the runes in the
// order they have then, as the reference implementation does it.
func (d *decomposition) decompose(segment []byte, at int) {
	d.runes, d.from = d.runes[:0], d.from[:0]
	d.buf = norm.NFD.Append(d.buf[:0], segment...)
	for rest := d.buf; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		d.runes = append(d.runes, r)
		rest = rest[size:]
	}
	for len(segment) > 0 {
		_, size := utf8.DecodeRune(segment)
		n := len(d.runes) - len(d.from)
		if size < len(segment) {
			d.buf = norm.NFD.Append(d.buf[:0], segment[:size]...)
			n = min(n, utf8.RuneCount(d.buf))
		}
		for range n {
			d.from = append(d.from, at)
		}
		segment, at = segment[size:], at+size
	}
}

// foldRune puts r, in small letters if wanted.
func (b *bertNormalizer) foldRune(m *mapped, r rune, at int) {
	if !b.lowercase {
		m.put(r, at)
		return
	}
	if r == 'İ' { // the one letter whose small form is two runes
		m.put('i', at)
		m.put('\u0307', at)
		return
	}
	m.put(unicode.ToLower(r), at)
}
