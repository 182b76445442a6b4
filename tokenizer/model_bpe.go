package tokenizer

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// bpe is byte-pair encoding: a word starts as its characters, and of all pairs
// of neighbours that the list of merges has, the earliest of the list becomes
// one token, until no pair is left.
type bpe struct {
	tokens []string            // by id
	ids    map[string]int32    // of all tokens
	merges map[tokenPair]merge // by the ids of a pair

	unknown      int32 // the token for characters without one, negative for none
	fuseUnknown  bool  // a run of unknown characters is one token
	ignoreMerges bool  // a word that is in the vocabulary is that token
	prefix       string
	suffix       string // of the last character

	// fallback are the tokens of bytes, which a character without a token is
	// spelt with; negative for none. Nil without byte_fallback.
	fallback *[256]int32

	// symbols are, when words come as bytes, the tokens that each byte starts
	// as, negative for none, and whole, with ignoreMerges, the tokens by the
	// bytes that they spell.
	symbols *[256]int32
	whole   map[string]int32

	// cutsAtSpace says that no token goes on past the character that stands
	// for a space: a text that no stage has cut falls into its words there, and
	// the tokens are the same.
	cutsAtSpace bool

	cache wordCache
}

// spaceChar is what SentencePiece writes for a space.
const spaceChar = "▁"

type tokenPair struct{ left, right int32 }

// merge is what a pair becomes, and its place in the list.
type merge struct{ rank, id int32 }

func (m *bpe) id(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

func (m *bpe) vocabulary() []string { return m.tokens }

// readBytes has words come as bytes, not as the characters that spell them.
func (m *bpe) readBytes() {
	m.cutsAtSpace = false // that character is three symbols now
	m.symbols = new([256]int32)
	for b := range m.symbols {
		m.symbols[b] = m.lookUp(string(charOfByte[b]))
	}
	if !m.ignoreMerges {
		return
	}
	m.whole = make(map[string]int32, len(m.tokens))
	for id, token := range m.tokens {
		if bytes, ok := spelledBytes(token); ok {
			m.whole[string(bytes)] = int32(id)
		}
	}
}

// readsBytes tells whether that leaves nothing out: a prefix or suffix is
// joined to characters.
func (m *bpe) readsBytes() bool { return m.prefix == "" && m.suffix == "" && m.fallback == nil }

func (m *bpe) lookUp(token string) int32 {
	if id, ok := m.ids[token]; ok {
		return id
	}
	return -1
}

func (m *bpe) tokenize(word []byte, out []piece, s *modelScratch) []piece {
	if len(word) == 0 {
		return out
	}
	if m.ignoreMerges {
		table := m.ids
		if m.symbols != nil {
			table = m.whole
		}
		if id, ok := table[string(word)]; ok {
			return append(out, piece{id: id, end: len(word)})
		}
	}
	if !m.cutsAtSpace {
		return m.tokenizeWord(word, out, s)
	}
	for start := 0; start < len(word); {
		end := nextWord(word, start)
		first := len(out)
		out = m.tokenizeWord(word[start:end], out, s)
		for i := range out[first:] {
			out[first+i].start += start
			out[first+i].end += start
		}
		start = end
	}
	return out
}

// nextWord is the end of the word that starts at text[start]: any number of
// spaces, then other characters.
func nextWord(text []byte, start int) int {
	i := start
	for bytes.HasPrefix(text[i:], []byte(spaceChar)) {
		i += len(spaceChar)
	}
	if n := bytes.Index(text[i:], []byte(spaceChar)); n >= 0 {
		return i + n
	}
	return len(text)
}

// findCuts finds out whether words may be cut at spaces: the space must be a
// token, and no token made by a merge may have one after another character.
func (m *bpe) findCuts() {
	if m.ignoreMerges || m.prefix != "" || m.suffix != "" || m.lookUp(spaceChar) < 0 {
		return
	}
	for _, merge := range m.merges {
		if strings.Contains(strings.TrimLeft(m.tokens[merge.id], spaceChar), spaceChar) {
			return
		}
	}
	m.cutsAtSpace = true
}

// tokenizeWord is tokenize for a word without spaces but at its start.
func (m *bpe) tokenizeWord(word []byte, out []piece, s *modelScratch) []piece {
	if known := m.cache.get(word); known != nil {
		return append(out, known.pieces...)
	}
	s.symbols = m.start(word, s.symbols[:0])
	s.symbols = m.mergeAll(s.symbols, s)
	first := len(out)
	out = appendSymbols(out, s.symbols, len(word))
	m.cache.put(word, out[first:])
	return out
}

// symbol is a token on its way and how many bytes of the word it stands for.
type symbol struct{ id, bytes int32 }

// appendSymbols gives each symbol its place. Characters that have no token at
// all move those after them to the left, as in the library; what is spelt with
// more bytes than it has ends with the word, of which the symbols that begin
// beyond its end have the last byte.
func appendSymbols(out []piece, symbols []symbol, wordLen int) []piece {
	at := 0
	for _, s := range symbols {
		end := min(at+int(s.bytes), wordLen)
		out = append(out, piece{id: s.id, start: min(at, wordLen-1), end: end})
		at = end
	}
	return out
}

// start appends the symbols that a word starts as.
func (m *bpe) start(word []byte, out []symbol) []symbol {
	unknown := int32(0) // bytes of unknown characters not yet appended
	char := make([]byte, 0, 64)
	for at := 0; at < len(word); {
		size := 1
		var id int32
		if m.symbols != nil {
			id = m.symbols[word[at]]
		} else {
			if word[at] >= utf8.RuneSelf {
				_, size = utf8.DecodeRune(word[at:])
			}
			char = m.affixed(char[:0], word, at, at+size)
			id = m.lookUpBytes(char)
		}
		at += size
		if id >= 0 {
			if unknown > 0 {
				out = append(out, symbol{m.unknown, unknown})
				unknown = 0
			}
			out = append(out, symbol{id, int32(size)})
			continue
		}
		if m.fallback != nil {
			n := len(out)
			if out = m.spell(out, char); len(out) > n {
				continue
			}
		}
		if m.unknown < 0 {
			continue
		}
		if unknown > 0 && !m.fuseUnknown {
			out = append(out, symbol{m.unknown, unknown})
			unknown = 0
		}
		unknown += int32(size)
	}
	if unknown > 0 {
		out = append(out, symbol{m.unknown, unknown})
	}
	return out
}

// affixed appends the character word[start:end] with what the model joins to
// it at its place in the word.
func (m *bpe) affixed(out, word []byte, start, end int) []byte {
	if start > 0 {
		out = append(out, m.prefix...)
	}
	out = append(out, word[start:end]...)
	if end == len(word) {
		out = append(out, m.suffix...)
	}
	return out
}

func (m *bpe) lookUpBytes(token []byte) int32 {
	if id, ok := m.ids[string(token)]; ok {
		return id
	}
	return -1
}

// spell appends the tokens of the bytes of a character, or, when one has none,
// nothing.
func (m *bpe) spell(out []symbol, char []byte) []symbol {
	if slices.ContainsFunc(char, func(b byte) bool { return m.fallback[b] < 0 }) {
		return out
	}
	for _, b := range char {
		out = append(out, symbol{m.fallback[b], 1})
	}
	return out
}
