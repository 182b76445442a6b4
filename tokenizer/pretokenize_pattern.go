package tokenizer

import (
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// scanner cuts a text as one of the regular expressions does that language
// models are trained with. These match somewhere at every character, so that
// their matches cover the text. They use lookahead, which package regexp does
// not have, and are most of the work of encoding: written out by hand they
// take a tenth of the time.
//
// The function returns the end of the match that starts at text[i].
type scanner func(text []byte, i int) int

func (next scanner) words(text []byte, yield func(start, end int) bool) {
	for i := 0; i < len(text); {
		end := next(text, i)
		if !yield(i, end) {
			return
		}
		i = end
	}
}

func (next scanner) find(text []byte, yield func(start, end int) bool) { next.words(text, yield) }

// The known patterns. A possessive quantifier (?+, ++) where nothing could be
// given back changes no match.
const (
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	trailing     = `|\s+(?!\S)|\s+`

	upperClass = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowerClass = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`

	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+` + trailing
	patternLlama3 = contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+` + trailing
	patternQwen2  = contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+` + trailing
	patternCL100K = contractions + `|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]` + trailing
	patternO200K  = `[^\r\n\p{L}\p{N}]?` + upperClass + `*` + lowerClass + `+` + contractions + `?|` +
		`[^\r\n\p{L}\p{N}]?` + upperClass + `+` + lowerClass + `*` + contractions + `?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+` + trailing
)

var knownPatterns = map[string]scanner{
	patternGPT2:   nextGPT2,
	patternLlama3: func(text []byte, i int) int { return nextCL100K(text, i, 3) },
	patternQwen2:  func(text []byte, i int) int { return nextCL100K(text, i, 1) },
	patternCL100K: func(text []byte, i int) int { return nextCL100K(text, i, 3) },
	patternO200K:  nextO200K,
}

// nextGPT2 matches patternGPT2. Its alternatives are tried in order.
func nextGPT2(text []byte, i int) int {
	if end := contraction(text, i, false); end > i {
		return end
	}
	start := i
	if text[i] == ' ' {
		i++
	}
	if i < len(text) {
		switch class, _ := classAt(text, i); {
		case class&letter != 0:
			return run(text, i, letter, math.MaxInt)
		case class&number != 0:
			return run(text, i, number, math.MaxInt)
		case class&space == 0:
			return runOfOthers(text, i)
		}
	}
	return whitespaceRun(text, start)
}

// nextCL100K matches patternCL100K and its kin, which take up to so many
// digits at once.
func nextCL100K(text []byte, i, digits int) int {
	if end := contraction(text, i, true); end > i {
		return end
	}
	class, size := classAt(text, i)
	if class&letter != 0 {
		return run(text, i, letter, math.MaxInt)
	}
	if class&(number|newline) == 0 && i+size < len(text) {
		if next, _ := classAt(text, i+size); next&letter != 0 {
			return run(text, i+size, letter, math.MaxInt)
		}
	}
	if class&number != 0 {
		return run(text, i, number, digits)
	}
	if end := othersAndNewlines(text, i, 0); end > i {
		return end
	}
	if end := lastNewline(text, i); end > i {
		return end
	}
	return whitespaceRun(text, i)
}

// nextO200K matches patternO200K.
func nextO200K(text []byte, i int) int {
	class, size := classAt(text, i)
	// Either kind of word may take a character along that is neither letter
	// nor number; a mark, which may be a part of the word too, is given back
	// when the word would be empty without it.
	starts, n := [2]int{i, i}, 1
	if class&(letter|number|newline) == 0 {
		starts, n = [2]int{i + size, i}, 2
	}
	for _, start := range starts[:n] {
		if end := lowerWord(text, start); end > start {
			return contractionAfter(text, end)
		}
	}
	for _, start := range starts[:n] {
		if end := run(text, start, upper, math.MaxInt); end > start {
			return contractionAfter(text, run(text, end, lower, math.MaxInt))
		}
	}
	if class&number != 0 {
		return run(text, i, number, 3)
	}
	if end := othersAndNewlines(text, i, '/'); end > i {
		return end
	}
	if end := lastNewline(text, i); end > i {
		return end
	}
	return whitespaceRun(text, i)
}

// lowerWord matches upperClass*lowerClass+ at i: the upper run is as long as
// leaves a lower character. Some characters are of both classes.
func lowerWord(text []byte, i int) int {
	end, lastLower := i, i // the end of the last character that is lower too
	for end < len(text) {
		class, size := classAt(text, end)
		if class&upper == 0 {
			break
		}
		end += size
		if class&lower != 0 {
			lastLower = end
		}
	}
	if all := run(text, end, lower, math.MaxInt); all > end {
		return all
	}
	return lastLower
}

// contraction matches 's, 't, 're, 've, 'm, 'll or 'd at i. Its end is i when
// there is none.
func contraction(text []byte, i int, anyCase bool) int {
	if text[i] != '\'' || i+1 == len(text) {
		return i
	}
	small := func(at int) byte {
		if at >= len(text) {
			return 0
		}
		if c := text[at]; anyCase && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return text[at]
	}
	second := small(i + 2)
	switch small(i + 1) {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if second == 'e' {
			return i + 3
		}
	case 'l':
		if second == 'l' {
			return i + 3
		}
	case 0xC5: // the long s, whose capital is S
		if anyCase && second == 0xBF {
			return i + 3
		}
	}
	return i
}

func contractionAfter(text []byte, i int) int {
	if i == len(text) {
		return i
	}
	return contraction(text, i, true)
}

// othersAndNewlines matches ` ?[^\s\p{L}\p{N}]+[\r\n]*`, where the byte also
// may stand among the newlines.
func othersAndNewlines(text []byte, i int, also byte) int {
	start := i
	if text[i] == ' ' {
		i++
	}
	end := runOfOthers(text, i)
	if end == i {
		return start
	}
	for end < len(text) && (text[end] == '\r' || text[end] == '\n' || also != 0 && text[end] == also) {
		end++
	}
	return end
}

// lastNewline matches `\s*[\r\n]+`: white space up to its last newline. Its
// end is i when there is none.
func lastNewline(text []byte, i int) int {
	last := i
	for i < len(text) {
		class, size := classAt(text, i)
		if class&space == 0 {
			break
		}
		i += size
		if class&newline != 0 {
			last = i
		}
	}
	return last
}

// whitespaceRun matches `\s+(?!\S)|\s+`: white space without its last
// character, which goes to the word after it, unless it is the only one.
func whitespaceRun(text []byte, start int) int {
	last, end := start, start
	for end < len(text) {
		class, size := classAt(text, end)
		if class&space == 0 {
			break
		}
		last = end
		end += size
	}
	if end < len(text) && last > start {
		return last
	}
	return end
}

// run is the end of at most so many characters from i on of a class.
func run(text []byte, i int, class charClass, most int) int {
	for ; i < len(text) && most > 0; most-- {
		c, size := classAt(text, i)
		if c&class == 0 {
			break
		}
		i += size
	}
	return i
}

// runOfOthers is the end of what is neither letter, number nor white space.
func runOfOthers(text []byte, i int) int {
	for i < len(text) {
		c, size := classAt(text, i)
		if c&(letter|number|space) != 0 {
			break
		}
		i += size
	}
	return i
}

// charClass is a set of the classes that patterns name.
type charClass uint8

const (
	letter  charClass = 1 << iota // \p{L}
	number                        // \p{N}
	space                         // \s
	newline                       // [\r\n]
	upper                         // upperClass
	lower                         // lowerClass
)

func classOf(r rune) charClass {
	var c charClass
	switch {
	case unicode.IsSpace(r):
		c = space
		if r == '\r' || r == '\n' {
			c |= newline
		}
	case unicode.IsNumber(r):
		c = number
	case unicode.In(r, unicode.Lu, unicode.Lt):
		c = letter | upper
	case unicode.Is(unicode.Ll, r):
		c = letter | lower
	case unicode.IsLetter(r):
		c = letter | upper | lower
	case unicode.IsMark(r):
		c = upper | lower
	}
	return c
}

var asciiClasses = func() (classes [utf8.RuneSelf]charClass) {
	for c := range classes {
		classes[c] = classOf(rune(c))
	}
	return classes
}()

// planeClasses is classOf of the characters below U+10000: what other scripts
// than Latin need one by one.
var planeClasses = sync.OnceValue(func() *[1 << 16]charClass {
	var classes [1 << 16]charClass
	for _, t := range []struct {
		table *unicode.RangeTable
		class charClass
	}{
		{unicode.Lu, letter | upper}, {unicode.Lt, letter | upper}, {unicode.Ll, letter | lower},
		{unicode.Lm, letter | upper | lower}, {unicode.Lo, letter | upper | lower}, {unicode.M, upper | lower},
		{unicode.N, number}, {unicode.White_Space, space},
	} {
		eachOfPlane(t.table, func(r rune) { classes[r] = t.class })
	}
	classes['\n'] |= newline
	classes['\r'] |= newline
	return &classes
})

// classAt is the class and the length of the character at text[i].
func classAt(text []byte, i int) (charClass, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return asciiClasses[c], 1
	}
	r, size := utf8.DecodeRune(text[i:])
	if r < 1<<16 {
		return planeClasses()[r], size
	}
	return classOf(r), size
}
