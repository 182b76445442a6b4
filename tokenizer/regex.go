package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// Regular expressions of the file are written for Oniguruma in Ruby's syntax.
// Package regexp matches nearly all of what files hold, in time linear in the
// text; what means another thing there is rewritten, or refused.

// unicodeSpace is \s within brackets, which package regexp takes for ASCII's.
const unicodeSpace = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`

// unicodeWord is \w within brackets; Oniguruma's has letters in circles.
const unicodeWord = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}`

// latinWord is what \w has only outside brackets: the fractions and superscripts
// of Latin-1, though not the others.
const latinWord = `\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}`

// unicodeEscapes are the escapes that are wider in Unicode than in ASCII.
var unicodeEscapes = map[byte]string{'s': unicodeSpace, 'w': unicodeWord, 'd': `\p{Nd}`}

// foreignEscapes are those of either syntax that the other lacks or reads
// otherwise.
const foreignEscapes = "bBhHRXKGZQECykgNO"

func compileRegex(pattern string) (*regexp.Regexp, error) {
	// In Ruby ^ and $ stand at each line.
	translated, err := translateRegex(pattern)
	if err == nil {
		translated = "(?m)" + translated
		err = checkRepeats(translated)
	}
	if err == nil {
		var re *regexp.Regexp
		if re, err = regexp.Compile(translated); err == nil {
			if !re.MatchString("") {
				return re, nil
			}
			// Engines differ in where they look for nothing.
			err = errors.New("it matches the empty text")
		}
	}
	var wrong *syntax.Error
	if errors.As(err, &wrong) { // its expression may be long
		err = fmt.Errorf("%s: %.40q", wrong.Code, wrong.Expr)
	}
	return nil, fmt.Errorf("the regular expression %.100q is not supported: %w", pattern, err)
}

// maxInstructions bounds a compiled expression, in which counted repetitions
// are written out.
const maxInstructions = 10_000

func checkRepeats(pattern string) error {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	if n := instructions(tree); n > maxInstructions {
		return fmt.Errorf("its repetitions make it %d instructions long, more than %d", n, maxInstructions)
	}
	return checkFolds(tree)
}

// ligatures are what Oniguruma takes, whatever their case, for one character
// too: ß and those of U+FB00 to U+FB06.
var ligatures = []string{"ss", "ff", "fi", "fl", "st"}

// checkFolds refuses letters of either case that are not as many in the other,
// which package regexp does not know.
func checkFolds(re *syntax.Regexp) error {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		text := strings.ToLower(string(re.Rune))
		for _, l := range ligatures {
			if strings.Contains(text, l) {
				return fmt.Errorf("%q in either case, which is one character too", l)
			}
		}
	}
	for _, sub := range re.Sub {
		if err := checkFolds(sub); err != nil {
			return err
		}
	}
	return nil
}

// instructions is about how many a compiled expression has.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, math.MaxInt32)
}

// atMost is a repetition without a least number, which package regexp reads as
// text.
var atMost = regexp.MustCompile(`^\{,\d+\}`)

// translateRegex writes a pattern as package regexp reads it.
func translateRegex(pattern string) (string, error) {
	if strings.Contains(pattern, "(?i") && strings.ContainsFunc(pattern, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errors.New("letters beyond ASCII in either case")
	}
	var b strings.Builder
	brackets := 0 // how many sets the position is within
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\':
			if i++; i == len(pattern) {
				return "", errors.New("it ends with a backslash")
			}
			escape, err := translateEscape(pattern[i], brackets > 0)
			if err != nil {
				return "", err
			}
			b.WriteString(escape)
		case c == '[' && brackets == 0:
			brackets = 1
			b.WriteByte(c)
			if strings.HasPrefix(pattern[i+1:], "^") {
				i++
				b.WriteByte('^')
			}
		case c == '[':
			// A set within a set is joined to it.
			if next := pattern[i+1:]; next == "" || next[0] == ':' || next[0] == '^' {
				return "", errors.New("a negated set or a class of POSIX within a set")
			}
			brackets++
		case c == ']' && brackets > 0:
			if brackets--; brackets == 0 {
				b.WriteByte(c)
			}
		case brackets > 0 && strings.HasPrefix(pattern[i:], "&&"):
			return "", errors.New("an intersection of sets")
		case c == '(' && brackets == 0 && !plainGroup(pattern[i:]):
			return "", errors.New("a group other than (), (?:), (?i:) and (?i); only the patterns of known models may look ahead")
		case c == '(' && brackets == 0 && i > 0 && strings.HasPrefix(pattern[i:], "(?i)"):
			// In Ruby all alternatives after it belong to it.
			return "", errors.New("(?i) elsewhere than at the start")
		case c == '{' && brackets == 0 && atMost.MatchString(pattern[i:]):
			b.WriteString("{0") // the comma follows
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// plainGroup tells whether the group that pattern starts with means the same
// in both syntaxes.
func plainGroup(pattern string) bool {
	for _, open := range []string{"(?:", "(?i:", "(?i)"} {
		if strings.HasPrefix(pattern, open) {
			return true
		}
	}
	return !strings.HasPrefix(pattern, "(?")
}

// translateEscape writes a backslash and the letter after it.
func translateEscape(letter byte, inBrackets bool) (string, error) {
	if set, ok := unicodeEscapes[letter|' ']; ok {
		negated := 'A' <= letter && letter <= 'Z'
		switch {
		case inBrackets && negated:
			return "", fmt.Errorf(`\%c within a set`, letter)
		case inBrackets:
			return set, nil
		case letter|' ' == 'w':
			set += latinWord
		}
		if negated {
			return "[^" + set + "]", nil
		}
		return "[" + set + "]", nil
	}
	if strings.IndexByte(foreignEscapes, letter) >= 0 {
		return "", fmt.Errorf(`the escape \%c`, letter)
	}
	return string([]byte{'\\', letter}), nil
}
