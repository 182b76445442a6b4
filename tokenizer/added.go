package tokenizer

import (
	"fmt"
	"iter"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is looked for in the text itself, before the
// model sees it.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no letter or digit touches it
	LStrip     bool   `json:"lstrip"`      // takes the white space before it along
	RStrip     bool   `json:"rstrip"`      // and that after it
	Normalized bool   `json:"normalized"`  // both it and the text are normalised first
	Special    bool   `json:"special"`     // left out by Decode
}

// addTokens takes over the file's added tokens. Those that the model knows as
// well must have its id.
func (t *Tokenizer) addTokens(tokens []addedToken) error {
	t.addedIDs = make(map[string]int32, len(tokens))
	t.special = make(map[int32]bool)
	limit := len(t.tokens) + len(tokens) + maxIDGap
	for i := range tokens {
		token := &tokens[i]
		if token.Content == "" {
			continue // never found in a text
		}
		if _, twice := t.addedIDs[token.Content]; twice {
			return fmt.Errorf("added token %q appears twice", token.Content)
		}
		if err := t.setToken(token.ID, token.Content, limit); err != nil {
			return fmt.Errorf("added token %q: %w", token.Content, err)
		}
		t.addedIDs[token.Content] = token.ID
		if token.Special {
			t.special[token.ID] = true
		}
		if token.Normalized {
			t.normalized.add(t.normalizedContent(token.Content), token)
		} else {
			t.raw.add(token.Content, token)
		}
	}
	return nil
}

// setToken puts an added token, of an id below limit, into the table by id.
func (t *Tokenizer) setToken(id int32, content string, limit int) error {
	if known, ok := t.model.id(content); ok && known != id {
		return fmt.Errorf("its id is %d, but %d in the vocabulary", id, known)
	}
	switch n := len(t.tokens); {
	case id < 0 || int(id) >= limit:
		return fmt.Errorf("its id %d is out of range: the vocabulary ends at %d", id, n)
	case int(id) < n && t.tokens[id] != "" && t.tokens[id] != content:
		return fmt.Errorf("its id %d is that of %q", id, t.tokens[id])
	case int(id) >= n:
		t.tokens = append(t.tokens, make([]string, int(id)+1-n)...)
	}
	t.tokens[id] = content
	return nil
}

func (t *Tokenizer) normalizedContent(content string) string {
	if t.normalizer == nil {
		return content
	}
	var m mapped
	m.reset(content)
	t.normalizer.normalize(&m)
	return string(m.text)
}

// matcher finds the leftmost, longest added token: a trie over bytes.
type matcher struct {
	nodes  []trieNode // the first is the root; empty without tokens
	starts [256]bool  // bytes that a token starts with
}

type trieNode struct {
	next  map[byte]int32
	token *addedToken // that ends here, or nil
}

// add has the matcher find token where content stands. The first token of a
// content stays; an empty content is never found.
func (m *matcher) add(content string, token *addedToken) {
	if content == "" {
		return
	}
	if m.nodes == nil {
		m.nodes = []trieNode{{}}
	}
	m.starts[content[0]] = true
	at := int32(0)
	for i := range len(content) {
		next, ok := m.nodes[at].next[content[i]]
		if !ok {
			next = int32(len(m.nodes))
			m.nodes = append(m.nodes, trieNode{})
			if m.nodes[at].next == nil {
				m.nodes[at].next = make(map[byte]int32, 1)
			}
			m.nodes[at].next[content[i]] = next
		}
		at = next
	}
	if m.nodes[at].token == nil {
		m.nodes[at].token = token
	}
}

// longest is the longest token that text starts with at i, and its end.
func longest[T string | []byte](m *matcher, text T, i int) (*addedToken, int) {
	var found *addedToken
	end := i
	for at := int32(0); ; i++ {
		if token := m.nodes[at].token; token != nil {
			found, end = token, i
		}
		if i == len(text) {
			return found, end
		}
		next, ok := m.nodes[at].next[text[i]]
		if !ok {
			return found, end
		}
		at = next
	}
}

// part is a stretch of a text: an added token, or what lies between two.
type part struct {
	start, end int
	token      *addedToken
}

// parts splits a text at its added tokens, in order. As in the reference
// implementation, a token that must be a single word and is not is passed over
// as a whole, no other being looked for within it, while white space that a
// token takes along may still be the start of the next: parts then overlap.
func parts[T string | []byte](m *matcher, text T) iter.Seq[part] {
	return func(yield func(part) bool) {
		done := 0 // all before is handed out
		for i := 0; m.nodes != nil && i < len(text); {
			if !m.starts[text[i]] {
				i++
				continue
			}
			token, stop := longest(m, text, i)
			if token == nil {
				i++
				continue
			}
			start := i
			i = stop
			if token.SingleWord && (wordBefore(text[:start]) || wordAfter(text[stop:])) {
				continue
			}
			if token.LStrip {
				start = min(max(spaceBefore(text[:start]), done), stop)
			}
			if token.RStrip {
				stop += spaceAfter(text[stop:])
			}
			if done < start && !yield(part{done, start, nil}) {
				return
			}
			if !yield(part{start, stop, token}) {
				return
			}
			done = stop
		}
		if done < len(text) {
			yield(part{done, len(text), nil})
		}
	}
}

// isWord tells whether a regular expression's \w matches: Unicode's Alphabetic
// (letters, letter numbers and Other_Alphabetic), marks, decimal digits,
// connectors and joiners.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
}

func wordBefore[T string | []byte](text T) bool {
	r, size := lastRune(text)
	return size > 0 && isWord(r)
}

func wordAfter[T string | []byte](text T) bool {
	r, size := firstRune(text)
	return size > 0 && isWord(r)
}

// spaceBefore is where the white space at the end of text starts.
func spaceBefore[T string | []byte](text T) int {
	for len(text) > 0 {
		r, size := lastRune(text)
		if !unicode.IsSpace(r) {
			break
		}
		text = text[:len(text)-size]
	}
	return len(text)
}

// spaceAfter is the length of the white space at the start of text.
func spaceAfter[T string | []byte](text T) int {
	n := 0
	for n < len(text) {
		r, size := firstRune(text[n:])
		if !unicode.IsSpace(r) {
			break
		}
		n += size
	}
	return n
}

// firstRune and lastRune look at no more bytes than a rune has, so that the
// conversions stay small.
func firstRune[T string | []byte](text T) (rune, int) {
	return utf8.DecodeRuneInString(string(text[:min(len(text), utf8.UTFMax)]))
}

func lastRune[T string | []byte](text T) (rune, int) {
	return utf8.DecodeLastRuneInString(string(text[max(0, len(text)-utf8.UTFMax):]))
}
