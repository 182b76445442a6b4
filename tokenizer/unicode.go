package tokenizer

import (
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
)

// The reference implementation takes marks, punctuation and control characters
// from Unicode 8. Models have learnt from text that was split so, and the
// tokens must be the same whatever Unicode version Go has: hence characters
// assigned later are of no class, and the few that later versions moved to
// another class are listed.
var (
	assigned = rangetable.Assigned("8.0.0")

	// normalizable are the characters that normalisation forms know in the
	// reference implementation, which has those of Unicode 9.
	normalizable = newPlane(rangetable.Assigned("9.0.0"))

	movedToMark     = rangetable.New(0x1885, 0x1886, 0xA9BD, 0x111C9)
	movedFromMark   = rangetable.New(0x1734)
	movedFromAccent = rangetable.New(0x1CF2, 0x1CF3)
	movedFromPunct  = rangetable.New(0x166D, 0x111C9)
	privateAndOther = []*unicode.RangeTable{unicode.Co, unicode.Cc, unicode.Cf}
)

// isMark tells whether r is a non-spacing mark (Mn), such as an accent that
// stands alone.
func isMark(r rune) bool {
	if unicode.Is(unicode.Mn, r) {
		return unicode.Is(assigned, r) && !unicode.Is(movedToMark, r)
	}
	return unicode.Is(movedFromMark, r)
}

// isPunct tells whether r is punctuation (P); all printable ASCII signs are.
func isPunct(r rune) bool {
	if r < unicode.MaxASCII {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	if unicode.Is(unicode.P, r) {
		return unicode.Is(assigned, r)
	}
	return unicode.Is(movedFromPunct, r)
}

// isControl tells whether r is a control or format character or of private
// use. White space that is also control, such as the tab, is asked for first.
func isControl(r rune) bool {
	if !unicode.In(r, privateAndOther...) {
		return false
	}
	return unicode.Is(unicode.Co, r) || unicode.Is(assigned, r)
}

// isIdeograph tells whether r is in a block of Chinese characters as BERT
// lists them: unified and compatibility ideographs, not kana or hangul.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, 0x4E00 <= r && r <= 0x9FFF, 0xF900 <= r && r <= 0xFAFF:
		return true
	}
	return 0x20000 <= r && r <= 0x2A6DF || 0x2A700 <= r && r <= 0x2B81F ||
		0x2B920 <= r && r <= 0x2CEAF || 0x2F800 <= r && r <= 0x2FA1F
}

// plane is a set of characters that is asked for one by one: those below
// U+10000 as bits.
type plane struct {
	*unicode.RangeTable
	bits func() *[1 << 16 / 64]uint64
}

func newPlane(table *unicode.RangeTable) plane {
	return plane{table, sync.OnceValue(func() *[1 << 16 / 64]uint64 {
		var bits [1 << 16 / 64]uint64
		eachOfPlane(table, func(r rune) { bits[r/64] |= 1 << (r % 64) })
		return &bits
	})}
}

func (p plane) has(r rune) bool {
	if r < 1<<16 {
		return p.bits()[r/64]>>(r%64)&1 == 1
	}
	return unicode.Is(p.RangeTable, r)
}

// eachOfPlane calls f for the characters of a table below U+10000.
func eachOfPlane(table *unicode.RangeTable, f func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
}
