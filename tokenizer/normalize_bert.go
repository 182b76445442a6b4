package tokenizer

import (
	"cmp"
	"encoding/json"
	"slices"
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

func parseBertNormalizer(raw []byte) (normalizer, error) {
	file := struct {
		CleanText    bool  `json:"clean_text"`
		Ideographs   bool  `json:"handle_chinese_chars"`
		StripAccents *bool `json:"strip_accents"` // null: as lowercase
		Lowercase    bool  `json:"lowercase"`
	}{CleanText: true, Ideographs: true, Lowercase: true}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	strip := file.Lowercase
	if file.StripAccents != nil {
		strip = *file.StripAccents
	}
	return newBertNormalizer(file.CleanText, file.Ideographs, strip, file.Lowercase), nil
}

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
			i += b.foldSegment(m, i, &d)
		}
	}
	m.commit()
}

// foldSegment folds the character at i with the marks that follow it, and
// returns their length. Nearly all characters stand alone, and so nothing can
// change its place.
func (b *bertNormalizer) foldSegment(m *mapped, i int, d *decomposition) int {
	first := norm.NFD.Properties(m.text[i:])
	end := i + first.Size()
	for end < len(m.text) && m.text[end] >= utf8.RuneSelf {
		next := norm.NFD.Properties(m.text[end:])
		if next.BoundaryBefore() {
			break
		}
		end += next.Size()
	}
	if r, size := utf8.DecodeRune(m.text[i:]); i+size == end && first.Decomposition() == nil && !isHangul(r) {
		if !isMark(r) {
			b.foldRune(m, r, i)
		}
		return size
	}
	d.decompose(norm.NFD, m.text[i:end], i)
	for _, r := range d.runes {
		if !isMark(r.char) {
			b.foldRune(m, r.char, r.at)
		}
	}
	return end - i
}

// decomposition is a stretch of text in Unicode's form D or KD. The norm package
// knows how each character decomposes; the marks are put in order here because
// only so can be told where each came from.
type decomposition struct {
	runes   []decomposedRune
	sources []int  // where each character stands in the text
	buf     []byte // scratch
}

type decomposedRune struct {
	char  rune
	class uint8 // canonical combining class; 0 for all but marks
	first bool  // of those that its character decomposed to
	at    int   // where that character stands in the text
}

// decompose takes a segment of text that stands at the offset given.
func (d *decomposition) decompose(form norm.Form, segment []byte, at int) {
	d.runes, d.sources = d.runes[:0], d.sources[:0]
	for len(segment) > 0 {
		r, size := utf8.DecodeRune(segment)
		whole := form.Properties(segment).Decomposition()
		if !normalizable.has(r) {
			whole = segment[:size]
		} else if isHangul(r) {
			d.buf = norm.NFD.Append(d.buf[:0], segment[:size]...)
			whole = d.buf
		} else if whole == nil {
			whole = segment[:size]
		}
		for first := true; len(whole) > 0; first = false {
			r, n := utf8.DecodeRune(whole)
			class := uint8(0)
			if normalizable.has(r) {
				class = norm.NFD.Properties(whole).CCC()
			}
			d.runes = append(d.runes, decomposedRune{char: r, class: class, first: first})
			whole = whole[n:]
		}
		d.sources = append(d.sources, at)
		segment, at = segment[size:], at+size
	}
	sortMarks(d.runes)
	// As in the reference implementation, the sources are counted out in the
	// order that the runes have now.
	source := -1
	for i := range d.runes {
		if d.runes[i].first {
			source++
		}
		d.runes[i].at = d.sources[max(source, 0)]
	}
}

// sortMarks puts each run of marks in the order of their classes, leaving
// those of one class as they are.
func sortMarks(runes []decomposedRune) {
	for len(runes) > 0 {
		end := slices.IndexFunc(runes, func(r decomposedRune) bool { return r.class == 0 })
		if end < 0 {
			end = len(runes)
		}
		slices.SortStableFunc(runes[:end], func(a, b decomposedRune) int { return cmp.Compare(a.class, b.class) })
		runes = runes[min(end+1, len(runes)):]
	}
}

// isHangul tells whether r is a syllable that Unicode decomposes by arithmetic
// and not by table.
func isHangul(r rune) bool { return 0xAC00 <= r && r <= 0xD7A3 }

// foldRune puts r, in small letters if wanted.
func (b *bertNormalizer) foldRune(m *mapped, r rune, at int) {
	if b.lowercase {
		m.putLower(r, at)
	} else {
		m.put(r, at)
	}
}
