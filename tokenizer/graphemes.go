package tokenizer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// maxCluster is up to how many bytes, exclusively, Precompiled looks at the
// characters that are seen as one (Unicode's grapheme clusters) together.
const maxCluster = 6

// clusterEnd is the end of the cluster that starts at text[i], as far as it
// matters here: a cluster of maxCluster bytes or more is looked at character by
// character, so that where such clusters end makes no difference. The rules
// for flags and emoji joined to one make no others and are left out. Rules are
// those of Unicode Standard Annex 29.
func clusterEnd(text []byte, i int) int {
	r, size := utf8.DecodeRune(text[i:])
	i += size
	if r == '\r' {
		if i < len(text) && text[i] == '\n' {
			i++
		}
		return i
	}
	if breaksClusters(r) {
		return i
	}
	var c conjunct
	c.add(r)
	for i < len(text) {
		next, size := utf8.DecodeRune(text[i:])
		joins := extendsCluster(next) || isPrepend(r) && !breaksClusters(next) || joinsHangul(r, next) || c.joins(next)
		if !joins {
			break
		}
		c.add(next)
		i += size
		r = next
	}
	return i
}

// conjunct follows whether an Indic consonant and a virama have been seen,
// which the next consonant joins.
type conjunct int

const (
	noConjunct conjunct = iota
	afterConsonant
	afterVirama
)

func (c *conjunct) add(r rune) {
	switch {
	case r < 0x300:
		*c = noConjunct
	case r < 0x900: // before all scripts that have conjuncts
	case unicode.Is(conjunctConsonants, r):
		*c = afterConsonant
	case unicode.Is(conjunctViramas, r) && *c != noConjunct:
		*c = afterVirama
	case unicode.Is(unicode.Mc, r) && !unicode.Is(unicode.Other_Grapheme_Extend, r):
		*c = noConjunct
	}
}

func (c *conjunct) joins(r rune) bool {
	return *c == afterVirama && unicode.Is(conjunctConsonants, r)
}

// The characters of the property Indic_Conjunct_Break.
var (
	conjunctViramas    = rangetable.New(0x94D, 0x9CD, 0xACD, 0xB4D, 0xC4D, 0xD4D)
	conjunctConsonants = &unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0x915, Hi: 0x939, Stride: 1}, {Lo: 0x958, Hi: 0x95F, Stride: 1}, {Lo: 0x978, Hi: 0x97F, Stride: 1},
		{Lo: 0x995, Hi: 0x9A8, Stride: 1}, {Lo: 0x9AA, Hi: 0x9B0, Stride: 1}, {Lo: 0x9B2, Hi: 0x9B2, Stride: 1}, {Lo: 0x9B6, Hi: 0x9B9, Stride: 1},
		{Lo: 0x9DC, Hi: 0x9DD, Stride: 1}, {Lo: 0x9DF, Hi: 0x9DF, Stride: 1}, {Lo: 0x9F0, Hi: 0x9F1, Stride: 1},
		{Lo: 0xA95, Hi: 0xAA8, Stride: 1}, {Lo: 0xAAA, Hi: 0xAB0, Stride: 1}, {Lo: 0xAB2, Hi: 0xAB3, Stride: 1}, {Lo: 0xAB5, Hi: 0xAB9, Stride: 1}, {Lo: 0xAF9, Hi: 0xAF9, Stride: 1},
		{Lo: 0xB15, Hi: 0xB28, Stride: 1}, {Lo: 0xB2A, Hi: 0xB30, Stride: 1}, {Lo: 0xB32, Hi: 0xB33, Stride: 1}, {Lo: 0xB35, Hi: 0xB39, Stride: 1},
		{Lo: 0xB5C, Hi: 0xB5D, Stride: 1}, {Lo: 0xB5F, Hi: 0xB5F, Stride: 1}, {Lo: 0xB71, Hi: 0xB71, Stride: 1},
		{Lo: 0xC15, Hi: 0xC28, Stride: 1}, {Lo: 0xC2A, Hi: 0xC39, Stride: 1}, {Lo: 0xC58, Hi: 0xC5A, Stride: 1}, {Lo: 0xD15, Hi: 0xD3A, Stride: 1},
	}}
)

// breaksClusters tells whether r stands alone: controls and the like.
func breaksClusters(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && !extendsCluster(r) && !isPrepend(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !extendsCluster(r) && !unicode.IsLetter(r)
}

// extendsCluster tells whether r goes on a cluster: marks, joiners, the
// modifiers of emoji, and vowel signs that take space, but for those that
// Unicode lets stand alone.
func extendsCluster(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case extenders.has(r):
		return true
	case unicode.Is(unicode.Mc, r):
		return !unicode.Is(standingVowels, r)
	}
	return r == 0x200D || r == 0xE33 || r == 0xEB3 || 0x1F3FB <= r && r <= 0x1F3FF
}

var extenders = newPlane(rangetable.Merge(unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend))

// standingVowels are the spacing marks that are no SpacingMark.
var standingVowels = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x102B, Hi: 0x102C, Stride: 1}, {Lo: 0x1038, Hi: 0x1038, Stride: 1}, {Lo: 0x1062, Hi: 0x1064, Stride: 1},
		{Lo: 0x1067, Hi: 0x106D, Stride: 1}, {Lo: 0x1083, Hi: 0x1083, Stride: 1}, {Lo: 0x1087, Hi: 0x108C, Stride: 1},
		{Lo: 0x108F, Hi: 0x108F, Stride: 1}, {Lo: 0x109A, Hi: 0x109C, Stride: 1}, {Lo: 0x1A61, Hi: 0x1A61, Stride: 1},
		{Lo: 0x1A63, Hi: 0x1A64, Stride: 1}, {Lo: 0xAA7B, Hi: 0xAA7B, Stride: 1}, {Lo: 0xAA7D, Hi: 0xAA7D, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x11720, Hi: 0x11721, Stride: 1}},
}

// isPrepend tells whether r joins what comes after it, such as an Arabic
// number sign. Those of four bytes make no short cluster.
func isPrepend(r rune) bool {
	return 0x600 <= r && r <= 0x605 || r == 0x6DD || r == 0x70F || r == 0x890 || r == 0x891 || r == 0x8E2 || r == 0xD4E
}

// joinsHangul tells whether two characters are parts of one syllable.
func joinsHangul(r, next rune) bool {
	leading := 0x1100 <= r && r <= 0x115F || 0xA960 <= r && r <= 0xA97C
	vowel := func(r rune) bool { return 0x1160 <= r && r <= 0x11A7 || 0xD7B0 <= r && r <= 0xD7C6 }
	trailing := func(r rune) bool { return 0x11A8 <= r && r <= 0x11FF || 0xD7CB <= r && r <= 0xD7FB }
	open := isHangul(r) && (r-0xAC00)%28 == 0
	switch {
	case leading:
		return 0x1100 <= next && next <= 0x115F || 0xA960 <= next && next <= 0xA97C || vowel(next) || isHangul(next)
	case vowel(r) || open:
		return vowel(next) || trailing(next)
	}
	return (isHangul(r) || trailing(r)) && trailing(next)
}
