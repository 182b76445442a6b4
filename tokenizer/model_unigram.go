package tokenizer

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sinterml/sinter/internal/jsonread"
)

// unigram is the model of SentencePiece: each token has a score, the logarithm
// of its frequency, and a word becomes the tokens with the greatest sum.
type unigram struct {
	tokens   []string
	ids      map[string]int32
	scores   []float64
	trie     byteTrie
	unknown  int32
	penalty  float64 // the score of an unknown character
	fallback *[256]int32
	cache    wordCache
}

// unknownPenalty is how much less than that of any token the score of an
// unknown character is.
const unknownPenalty = 10

// maxUnigram bounds a token in bytes. SentencePiece makes them of at most 16
// characters where nothing else is asked for.
const maxUnigram = 256

func parseUnigram(r *jsonread.Reader) (model, error) {
	m := &unigram{unknown: -1, cache: newWordCache()}
	byteFallback := false
	unknown := int64(-1)
	err := r.Object(func(key string) (err error) {
		switch key {
		case "vocab":
			if m.ids != nil {
				return r.Fail("the vocabulary appears twice")
			}
			err = m.readVocab(r)
		case "unk_id":
			if r.Next() == 'n' {
				return r.Skip()
			}
			unknown, err = r.Int()
		case "byte_fallback":
			byteFallback, err = readBool(r)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.ids == nil {
		return nil, r.Fail("the model has no vocabulary")
	}
	if unknown < 0 || unknown >= int64(len(m.tokens)) {
		return nil, r.Fail("unk_id must be the id of one of the %d tokens, for characters that have none", len(m.tokens))
	}
	m.unknown = int32(unknown)
	m.penalty = slices.Min(m.scores) - unknownPenalty
	if byteFallback {
		m.fallback = byteTokens(m.ids)
	}
	m.trie = newByteTrie(m.tokens)
	return m, nil
}

// readVocab reads the list of pairs of token and score, in the order of the
// ids.
func (m *unigram) readVocab(r *jsonread.Reader) error {
	m.ids = map[string]int32{}
	return r.Array(func() error {
		n := 0
		err := r.Array(func() (err error) {
			switch n++; n {
			case 1:
				var token string
				if token, err = r.String(); err == nil {
					if len(token) > maxUnigram {
						return r.Fail("token %.40q has %d bytes, more than %d", token, len(token), maxUnigram)
					}
					if _, twice := m.ids[token]; twice {
						return r.Fail("token %.40q appears twice in the vocabulary", token)
					}
					m.ids[token] = int32(len(m.tokens))
					m.tokens = append(m.tokens, token)
				}
			case 2:
				var score float64
				score, err = readScore(r)
				m.scores = append(m.scores, score)
			default:
				err = r.Fail("more than a token and its score")
			}
			return err
		})
		if err == nil && n != 2 {
			err = r.Fail("a token without a score")
		}
		if len(m.tokens) > math.MaxInt32 {
			err = r.Fail("too many tokens")
		}
		return err
	})
}

func readScore(r *jsonread.Reader) (float64, error) {
	raw, err := r.Raw()
	if err != nil {
		return 0, err
	}
	score, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return 0, r.Fail("the score %.40s is not a number of 64 bits", raw)
	}
	return score, nil
}

func (m *unigram) id(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

func (m *unigram) vocabulary() []string { return m.tokens }

// pathNode is the end of the best way to spell a word up to a place: the last
// token of it.
type pathNode struct {
	score  float64
	id     int32
	length int32 // of the token in bytes; 0 where no token ends
}

func (m *unigram) tokenize(word []byte, out []piece, s *modelScratch) []piece {
	if known := m.cache.get(word); known != nil {
		return append(out, known.pieces...)
	}
	m.spell(word, s)
	first := len(out)
	for end := len(word); end > 0; {
		start := end - int(s.path[end].length)
		id := s.path[end].id
		if id == m.unknown {
			// A run of unknown characters is one.
			for start > 0 && s.path[start].id == m.unknown {
				start -= int(s.path[start].length)
			}
			out = m.appendUnknown(out, word, start, end)
		} else {
			out = append(out, piece{id: id, start: start, end: end})
		}
		end = start
	}
	slices.Reverse(out[first:])
	m.cache.put(word, out[first:])
	return out
}

// spell finds the best way to spell a word (Viterbi's algorithm). The first
// of ways with the same score stays.
func (m *unigram) spell(word []byte, s *modelScratch) {
	s.path = slices.Grow(s.path[:0], len(word)+1)[:len(word)+1]
	clear(s.path)
	path := s.path
	for at := 0; at < len(word); {
		score := path[at].score
		size := 1
		if word[at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(word[at:])
		}
		known := false // the character is a token
		node := int32(0)
		for end := at; end < len(word); {
			if node = m.trie.child(node, word[end]); node == 0 {
				break
			}
			end++
			id := m.trie.token[node]
			if id < 0 {
				continue
			}
			known = known || end == at+size
			path[end].offer(score+m.scores[id], id, end-at)
		}
		if !known {
			path[at+size].offer(score+m.penalty, m.unknown, size)
		}
		at += size
	}
}

func (n *pathNode) offer(score float64, id int32, length int) {
	if n.length == 0 || score > n.score {
		*n = pathNode{score, id, int32(length)}
	}
}

// appendUnknown appends, last first, what stands for word[start:end]: a token
// of that text, which a better way left aside, its bytes, or the unknown token.
func (m *unigram) appendUnknown(out []piece, word []byte, start, end int) []piece {
	text := word[start:end]
	if id, ok := m.ids[string(text)]; ok {
		return append(out, piece{id: id, start: start, end: end})
	}
	if m.fallback == nil || slices.ContainsFunc(text, func(b byte) bool { return m.fallback[b] < 0 }) {
		return append(out, piece{id: m.unknown, start: start, end: end})
	}
	for _, b := range slices.Backward(text) {
		out = append(out, piece{id: m.fallback[b], start: start, end: end})
	}
	return out
}

// byteTrie finds tokens by their bytes. Nodes stand in the order of their
// depth, children of one node in the order of their bytes; the root is node 0.
type byteTrie struct {
	first []int32 // the children of node n are first[n] to first[n+1]
	label []byte  // the byte that leads to a node
	token []int32 // the token that ends at a node, negative for none
	roots [256]int32
}

func newByteTrie(tokens []string) byteTrie {
	order := make([]int32, 0, len(tokens))
	for id, token := range tokens {
		if token != "" {
			order = append(order, int32(id))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(tokens[a], tokens[b]) })
	t := byteTrie{label: []byte{0}, token: []int32{-1}}
	// Of each node, the tokens that go on from it: a range of the order.
	pending := []span{{0, len(order)}}
	depths := []int32{0}
	for node := 0; node < len(pending); node++ {
		t.first = append(t.first, int32(len(t.label)))
		depth := int(depths[node])
		for at := pending[node].start; at < pending[node].end; {
			b := tokens[order[at]][depth]
			end := at
			for end < pending[node].end && tokens[order[end]][depth] == b {
				end++
			}
			token, rest := int32(-1), at
			if len(tokens[order[at]]) == depth+1 {
				token, rest = order[at], at+1
			}
			if node == 0 {
				t.roots[b] = int32(len(t.label))
			}
			t.label, t.token = append(t.label, b), append(t.token, token)
			pending, depths = append(pending, span{rest, end}), append(depths, int32(depth+1))
			at = end
		}
	}
	t.first = append(t.first, int32(len(t.label)))
	return t
}

// child is the node that a byte leads to, 0 for none.
func (t *byteTrie) child(node int32, b byte) int32 {
	if node == 0 {
		return t.roots[b]
	}
	low, high := t.first[node], t.first[node+1]
	for high-low > 8 {
		middle := (low + high) / 2
		if t.label[middle] <= b {
			low = middle
		} else {
			high = middle
		}
	}
	for ; low < high; low++ {
		if t.label[low] == b {
			return low
		}
	}
	return 0
}
