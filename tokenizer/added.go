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
	next, end := newID(t.model), len(t.tokens)
	for i := range tokens {
		token := &tokens[i]
		if token.Content == "" {
			continue // never found in a text
		}
		if len(token.Content) > maxToken {
			return fmt.Errorf("added token %.40q has %d bytes, more than %d", token.Content, len(token.Content), maxToken)
		}
		if _, twice := t.addedIDs[token.Content]; twice {
			return fmt.Errorf("added token %.40q appears twice", token.Content)
		}
		if err := t.setToken(token.ID, token.Content, limit); err != nil {
			return fmt.Errorf("added token %.40q: %w", token.Content, err)
		}
		if want := next(token.Content); token.ID != want && int(token.ID) >= end {
			return fmt.Errorf("added token %.40q: its id is %d, but %d where tokens are numbered one after the other", token.Content, token.ID, want)
		}
		t.addedIDs[token.Content] = token.ID
		if token.Special {
			t.special[token.ID] = true
		}
		content, into := token.Content, &t.raw
		if token.Normalized {
			content, into = t.normalizedContent(content), &t.normalized
		}
		if len(content) > maxToken {
			return fmt.Errorf("added token %.40q has %d bytes, more than %d", content, len(content), maxToken)
		}
		into.add(content, token)
	}
	t.raw.build()
	t.normalized.build()
	return nil
}

// newID gives added tokens, in the order of the file, the ids that they have in
// the reference implementation, which does not look at those of the file: a token
// that the model lacks comes behind the others.
func newID(m model) func(content string) int32 {
	size := int32(0)
	for _, token := range m.vocabulary() {
		if token != "" {
			size++
		}
	}
	largest := int32(-1) // of the added tokens
	return func(content string) int32 {
		id, ok := m.id(content)
		if !ok {
			id = max(size, largest+1)
		}
		largest = max(largest, id)
		return id
	}
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
		return fmt.Errorf("its id %d is that of %.40q", id, t.tokens[id])
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

// matcher finds the leftmost, longest added token.
type matcher struct {
	tokens   []*addedToken
	contents []string // where the token of the same index is to be found
	trie     byteTrie // of contents, once built
}

// add has the matcher find token where content stands. An empty content is
// never found.
func (m *matcher) add(content string, token *addedToken) {
	if content != "" {
		m.tokens, m.contents = append(m.tokens, token), append(m.contents, content)
	}
}

// build comes after the last add. The first token of a content stays.
func (m *matcher) build() {
	if len(m.tokens) == 0 {
		return
	}
	seen := make(map[string]bool, len(m.contents))
	for i, c := range m.contents {
		if seen[c] {
			m.contents[i] = ""
		}
		seen[c] = true
	}
	m.trie = newByteTrie(m.contents)
}

// longest is the longest token that text starts with at i, and its end.
func longest[T string | []byte](m *matcher, text T, i int) (*addedToken, int) {
	var found *addedToken
	end := i
	for node := int32(0); i < len(text); {
		if node = m.trie.child(node, text[i]); node == 0 {
			break
		}
		i++
		if n := m.trie.token[node]; n >= 0 {
			found, end = m.tokens[n], i
		}
	}
	return found, end
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
		done := 0     // all before is handed out
		spaceEnd := 0 // of the white space that the last token took along
		for i := 0; len(m.tokens) > 0 && i < len(text); {
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
				if done < start {
					start = done + spaceBefore(text[done:start])
				} else {
					start = done
				}
			}
			if token.RStrip {
				// Tokens of white space are found within what one took along.
				if stop > spaceEnd {
					spaceEnd = stop + spaceAfter(text[stop:])
				}
				stop = spaceEnd
			}
			if done < start && !yield(part{done, start, nil}) {
				return
			}
			// A token of white space alone, that before it taken, may have none
			// left.
			if start < stop && !yield(part{start, stop, token}) {
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
