// Package chars is a language model of characters: a text is cut into
// characters, a small GPT learns which one follows, and writes more of the
// same.
package chars

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Text is a text as numbers of a vocabulary: the sorted set of its characters.
type Text struct {
	Vocabulary []rune
	Training   []int64 // the first nine tenths
	Held       []int64 // the rest, to validate with
}

// MaxText is how many bytes a text may have: an id takes eight.
const MaxText = 256 << 20

// Read cuts a text into characters.
func Read(text []byte) (*Text, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("more than %d MB of text: use a part of it", MaxText>>20)
	}
	if !utf8.Valid(text) {
		at := 0
		for r, size := utf8.DecodeRune(text); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(text[at:]) {
			at += size
		}
		return nil, fmt.Errorf("byte %d is not UTF-8: use a text file", at)
	}
	seen := map[rune]int64{}
	for _, r := range string(text) {
		seen[r] = 0
	}
	t := &Text{}
	for r := range seen {
		t.Vocabulary = append(t.Vocabulary, r)
	}
	slices.Sort(t.Vocabulary)
	for i, r := range t.Vocabulary {
		seen[r] = int64(i)
	}
	ids := make([]int64, 0, len(text))
	for _, r := range string(text) {
		ids = append(ids, seen[r])
	}
	cut := len(ids) * 9 / 10
	t.Training, t.Held = ids[:cut], ids[cut:]
	return t, nil
}

// Check tells whether there is enough text for sequences of so many characters.
func (t *Text) Check(block int) error {
	if len(t.Held) < block+1 || len(t.Training) < block+1 {
		return fmt.Errorf("a text of %d characters, of which a tenth is held out, is too short for blocks of %d: use at least %d characters, or smaller blocks",
			len(t.Training)+len(t.Held), block, 10*(block+1))
	}
	return nil
}

// Luck is the loss of a net that knows nothing of the text but its characters.
func Luck(vocabulary int) float64 { return math.Log(float64(vocabulary)) }

// String is the characters of ids.
func (t *Text) String(ids []int64) string {
	out := make([]rune, len(ids))
	for i, id := range ids {
		out[i] = t.Vocabulary[id]
	}
	return string(out)
}
