package tokenizer

import (
	"encoding/json"
	"unicode/utf8"
)

// Byte-level vocabularies hold no control characters and no spaces: each byte
// is spelt as a character that can be seen, as GPT-2 began it. Bytes that are
// printable Latin-1 are spelt as themselves, the others as the characters from
// U+0100 on, in order.
var (
	charOfByte [256]rune
	byteOfChar = map[rune]byte{}
)

func init() {
	next := rune(256)
	for b := range charOfByte {
		r := rune(b)
		if !('!' <= r && r <= '~' || 0xA1 <= r && r <= 0xAC || 0xAE <= r && r <= 0xFF) {
			r = next
			next++
		}
		charOfByte[b] = r
		byteOfChar[r] = byte(b)
	}
}

// spelledBytes is the bytes that token spells, and false when it has a
// character that spells none.
func spelledBytes(token string) ([]byte, bool) {
	bytes := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := byteOfChar[r]
		if !ok {
			return nil, false
		}
		bytes = append(bytes, b)
	}
	return bytes, true
}

// byteLevelFile is what a ByteLevel says, as pre-tokeniser and post-processor.
type byteLevelFile struct {
	AddPrefixSpace *bool `json:"add_prefix_space"`
	TrimOffsets    *bool `json:"trim_offsets"`
	UseRegex       *bool `json:"use_regex"`
}

// parseByteLevel reads a ByteLevel: GPT-2's way to cut text into words, and
// then to spell their bytes.
func parseByteLevel(raw []byte) ([]preStage, error) {
	var file byteLevelFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	var stages []preStage
	if orTrue(file.AddPrefixSpace) {
		stages = append(stages, preStage{rewriter: prefixSpace{}})
	}
	if orTrue(file.UseRegex) {
		stages = append(stages, preStage{splitter: scanner(nextGPT2)})
	}
	return append(stages, preStage{rewriter: byteSpelling{}}), nil
}

// orTrue is the value of a setting that is true when the file does not say.
func orTrue(b *bool) bool { return b == nil || *b }

// prefixSpace puts a space before words that start with none.
type prefixSpace struct{}

func (prefixSpace) rewrite(m *mapped, start, end int) {
	if m.text[start] != ' ' {
		m.put(' ', start)
	}
	m.copyRange(start, end)
}

// byteSpelling spells each byte as a character.
type byteSpelling struct{}

func (byteSpelling) rewrite(m *mapped, start, end int) {
	for i := start; i < end; i++ {
		m.put(charOfByte[m.text[i]], i)
	}
}

// normalize serves files that spell bytes before they cut.
func (b byteSpelling) normalize(m *mapped) {
	m.begin()
	b.rewrite(m, 0, len(m.text))
	m.commit()
}

func (byteSpelling) growth() int { return 2 }

// lossyUTF8 is bytes as text: each maximal part of a broken character becomes
// one U+FFFD, as Unicode recommends.
func lossyUTF8(bytes []byte) string {
	if utf8.Valid(bytes) {
		return string(bytes)
	}
	out := make([]byte, 0, len(bytes)+8)
	for len(bytes) > 0 {
		r, size := utf8.DecodeRune(bytes)
		if r == utf8.RuneError && size == 1 {
			size = brokenLength(bytes)
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, bytes[:size]...)
		}
		bytes = bytes[size:]
	}
	return string(out)
}

// brokenLength is how many bytes at the start could have begun a character.
func brokenLength(bytes []byte) int {
	for n := min(len(bytes), utf8.UTFMax-1); n > 1; n-- {
		if utf8.RuneStart(bytes[0]) && !utf8.FullRune(bytes[:n]) {
			return n
		}
	}
	return 1
}
