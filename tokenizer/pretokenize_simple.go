package tokenizer

import (
	"encoding/json"
	"unicode"
	"unicode/utf8"
)

func isWhitespace(r rune) bool { return unicode.IsSpace(r) }

// whitespaceWords is the stage Whitespace: runs of word characters, and runs
// of what is neither these nor white space.
type whitespaceWords struct{}

func (whitespaceWords) words(text []byte, yield func(start, end int) bool) {
	const space, word, other = 0, 1, 2
	start, kind := 0, space
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		now := other
		switch {
		case isWord(r):
			now = word
		case unicode.IsSpace(r):
			now = space
		}
		if now != kind {
			if kind != space && !yield(start, i) {
				return
			}
			start, kind = i, now
		}
		i += size
	}
	if kind != space && start < len(text) {
		yield(start, len(text))
	}
}

// parseDigits reads a Digits: numbers are words of their own, digit by digit
// if wanted.
func parseDigits(raw []byte) ([]preStage, error) {
	var file struct {
		Individual bool `json:"individual_digits"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	b := contiguous
	if file.Individual {
		b = isolated
	}
	return []preStage{{splitter: splitAt(unicode.IsNumber, b)}}, nil
}

// parsePunctuation reads a Punctuation.
func parsePunctuation(raw []byte) ([]preStage, error) {
	var file struct {
		Behavior behavior `json:"behavior"` // isolated when the file does not say
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	return []preStage{{splitter: splitAt(isPunct, file.Behavior)}}, nil
}
