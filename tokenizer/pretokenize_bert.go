package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// bertPreTokenizer splits at white space, which it leaves out, and makes each
// punctuation mark a word.
type bertPreTokenizer struct{}

// The classes that decide where a word ends.
const (
	inWord = iota
	isSpace
	isMarkOfPunctuation
)

// asciiClass is the class of each ASCII character.
var asciiClass = func() (class [utf8.RuneSelf]byte) {
	for c := range class {
		class[c] = runeClass(rune(c))
	}
	return class
}()

func runeClass(r rune) byte {
	switch {
	case unicode.IsSpace(r):
		return isSpace
	case isPunct(r):
		return isMarkOfPunctuation
	}
	return inWord
}

func (bertPreTokenizer) words(text []byte, yield func(start, end int) bool) {
	start := 0 // of the word that text[i] may go on with
	for i := 0; i < len(text); {
		size := 1
		var class byte
		if c := text[i]; c < utf8.RuneSelf {
			class = asciiClass[c]
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			class = runeClass(r)
		}
		end := i + size
		if class != inWord {
			if start < i && !yield(start, i) {
				return
			}
			if class == isMarkOfPunctuation && !yield(i, end) {
				return
			}
			start = end
		}
		i = end
	}
	if start < len(text) {
		yield(start, len(text))
	}
}
