package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/sinterml/sinter/internal/jsonread"
)

// wordPiece is the model of BERT: a word is the longest token of the
// vocabulary that it starts with, followed by the longest continuation of the
// rest, and so on. A word that this cannot spell is one unknown token.
type wordPiece struct {
	tokens   []string         // by id
	ids      map[string]int32 // of all tokens
	within   map[string]int32 // of those that go on a word, without their prefix
	longest  int              // bytes of the longest token
	unknown  int32
	maxChars int // a longer word is unknown
}

// Bounds of a word in characters, and of a token in bytes: the work for a word
// grows with both. Published files have words of 100.
const maxWord, maxWordPiece = 10_000, 256

// parseWordPiece reads the model's object of a tokenizer.json.
func parseWordPiece(r *jsonread.Reader) (model, error) {
	w := &wordPiece{maxChars: 100}
	unknown, prefix := "[UNK]", "##"
	err := r.Object(func(key string) (err error) {
		switch key {
		case "vocab":
			if w.ids != nil {
				return r.Fail("the vocabulary appears twice")
			}
			w.tokens, w.ids, err = readVocab(r)
		case "unk_token":
			unknown, err = r.String()
		case "continuing_subword_prefix":
			prefix, err = r.String()
		case "max_input_chars_per_word":
			var n int64
			if n, err = r.Int(); err == nil && (n < 0 || n > maxWord) {
				err = r.Fail("max_input_chars_per_word %d is out of range", n)
			}
			w.maxChars = int(n)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if w.ids == nil {
		return nil, r.Fail("the model has no vocabulary")
	}
	id, ok := w.ids[unknown]
	if !ok {
		return nil, r.Fail("the vocabulary lacks the unknown token %.40q", unknown)
	}
	w.unknown = id
	w.within = make(map[string]int32, len(w.ids)/4)
	for id, token := range w.tokens {
		if len(token) > maxWordPiece {
			return nil, r.Fail("token %.40q has %d bytes, more than %d", token, len(token), maxWordPiece)
		}
		w.longest = max(w.longest, len(token))
		if rest, ok := strings.CutPrefix(token, prefix); ok && rest != "" {
			w.within[rest] = int32(id)
		}
	}
	return w, nil
}

func (w *wordPiece) id(token string) (int32, bool) {
	id, ok := w.ids[token]
	return id, ok
}

func (w *wordPiece) vocabulary() []string { return w.tokens }

func (w *wordPiece) tokenize(word []byte, out []piece, _ *modelScratch) []piece {
	if len(word) > w.maxChars && utf8.RuneCount(word) > w.maxChars {
		return append(out, piece{id: w.unknown, end: len(word)})
	}
	first := len(out)
	table := w.ids
	for start := 0; start < len(word); {
		id, end := longestToken(table, word, start, w.longest)
		if end == start {
			return append(out[:first], piece{id: w.unknown, end: len(word)})
		}
		out = append(out, piece{id: id, start: start, end: end})
		start, table = end, w.within
	}
	return out
}

// longestToken finds the longest token, of at most so many bytes, that word
// has at start. Its end is start when there is none.
func longestToken(table map[string]int32, word []byte, start, longest int) (int32, int) {
	for end := min(len(word), start+longest); end > start; end-- {
		if end < len(word) && !utf8.RuneStart(word[end]) {
			continue
		}
		if id, ok := table[string(word[start:end])]; ok {
			return id, end
		}
	}
	return 0, start
}
