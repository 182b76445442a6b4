package tokenizer

import "math"

// Encoding is a text as tokens. The slices have one entry a token.
type Encoding struct {
	IDs     []int32
	TypeIDs []int32  // 0 for the first text of a pair, 1 for the second, as the file says
	Offsets [][2]int // start and end in bytes of the token's text; of a special token 0, 0

	tokenizer *Tokenizer
}

// Tokens is the tokens as they stand in the vocabulary.
func (e *Encoding) Tokens() []string {
	if e == nil {
		return nil
	}
	tokens := make([]string, len(e.IDs))
	for i, id := range e.IDs {
		if e.tokenizer != nil {
			tokens[i] = e.tokenizer.Token(id)
		}
	}
	return tokens
}

// Encode gives the tokens of a text, special tokens added. Bytes that are not
// UTF-8 count as U+FFFD.
func (t *Tokenizer) Encode(text string) Encoding { return t.EncodeMax(text, 0) }

// EncodePair gives the tokens of two texts that belong together, such as a
// question and a passage.
func (t *Tokenizer) EncodePair(a, b string) Encoding { return t.EncodePairMax(a, b, 0) }

// EncodeMax is Encode for a model that takes at most max tokens, special
// tokens counted; tokens are taken off the end of the text. With max 0 there
// is no limit.
func (t *Tokenizer) EncodeMax(text string, max int) Encoding {
	if t == nil {
		return Encoding{}
	}
	s := t.getScratch()
	defer t.putScratch(s)
	limit := t.contentLimit(max, false)
	s.a = t.pieces(text, limit, s, s.a[:0])
	t.trim(text, s.a)
	return t.assemble(s.a, nil, false, max)
}

// EncodePairMax is EncodePair for a model that takes at most max tokens,
// special tokens counted: the longer text is shortened first, and when each
// has more than half of the room both are cut to half. With max 0 there is no
// limit.
func (t *Tokenizer) EncodePairMax(a, b string, max int) Encoding {
	if t == nil {
		return Encoding{}
	}
	s := t.getScratch()
	defer t.putScratch(s)
	limit := t.contentLimit(max, true)
	// Which text is cut depends on how long both are in full.
	s.a = t.pieces(a, math.MaxInt, s, s.a[:0])
	s.b = t.pieces(b, math.MaxInt, s, s.b[:0])
	keepA, keepB := longestFirst(len(s.a), len(s.b), limit)
	s.a, s.b = s.a[:keepA], s.b[:keepB]
	t.trim(a, s.a)
	t.trim(b, s.b)
	return t.assemble(s.a, s.b, true, max)
}

// trim applies the trims of the post-processor to the tokens of a text.
func (t *Tokenizer) trim(text string, tokens []piece) {
	if len(t.trims) == 0 {
		return
	}
	for i := range tokens {
		p := &tokens[i]
		m := t.margins[p.id]
		if p.added { // it may have taken white space along
			m = marginsOf(text[p.start:p.end])
		}
		for _, trim := range t.trims {
			trim.apply(text, p, m, i == 0)
		}
	}
}

// contentLimit is how many of max tokens are left for the text itself.
func (t *Tokenizer) contentLimit(max int, pair bool) int {
	if max <= 0 {
		return math.MaxInt
	}
	if t.postProcessor != nil {
		max -= t.postProcessor.added(pair)
	}
	if max < 0 {
		return 0
	}
	return max
}

// longestFirst shares limit tokens among sequences of a and b tokens.
func longestFirst(a, b, limit int) (int, int) {
	if a <= limit && b <= limit-a {
		return a, b
	}
	short := min(a, b)
	long := limit - short
	if long < short { // each has more than half
		short = limit / 2
		long = limit - short
	}
	if a > b {
		return long, short
	}
	return short, long
}

// assemble adds the special tokens. When max is too small even for those, the
// result is cut.
func (t *Tokenizer) assemble(a, b []piece, pair bool, max int) Encoding {
	n := len(a) + len(b)
	post := t.postProcessor
	if post == nil {
		post = plainPostProcessor{}
	}
	n += post.added(pair)
	e := Encoding{
		IDs:       make([]int32, 0, n),
		TypeIDs:   make([]int32, 0, n),
		Offsets:   make([][2]int, 0, n),
		tokenizer: t,
	}
	post.assemble(&e, a, b, pair)
	if max > 0 && len(e.IDs) > max {
		e.IDs, e.TypeIDs, e.Offsets = e.IDs[:max], e.TypeIDs[:max], e.Offsets[:max]
	}
	return e
}

// add appends one special token.
func (e *Encoding) add(id, typeID int32) {
	e.IDs = append(e.IDs, id)
	e.TypeIDs = append(e.TypeIDs, typeID)
	e.Offsets = append(e.Offsets, [2]int{})
}

// addText appends the tokens of a text.
func (e *Encoding) addText(pieces []piece, typeID int32) {
	for _, p := range pieces {
		e.IDs = append(e.IDs, p.id)
		e.TypeIDs = append(e.TypeIDs, typeID)
		e.Offsets = append(e.Offsets, [2]int{p.start, p.end})
	}
}

// plainPostProcessor serves files that name none: the texts one after the
// other.
type plainPostProcessor struct{}

func (plainPostProcessor) added(bool) int { return 0 }

func (plainPostProcessor) assemble(e *Encoding, a, b []piece, _ bool) {
	e.addText(a, 0)
	e.addText(b, 1)
}

// pieces appends the tokens of a text, without special tokens around it, and
// stops at limit.
func (t *Tokenizer) pieces(text string, limit int, s *scratch, out []piece) []piece {
	for part := range parts(&t.raw, text) {
		if len(out) >= limit {
			break
		}
		if part.token != nil {
			out = append(out, piece{part.token.ID, true, part.start, part.end})
			continue
		}
		first := len(out)
		out = t.plainPieces(text[part.start:part.end], part.start == 0, limit, s, out)
		for i := first; i < len(out); i++ {
			out[i].start += part.start
			out[i].end += part.start
		}
	}
	return out[:min(len(out), limit)]
}

// plainPieces is pieces for text without raw added tokens, which may be the
// start of the whole.
func (t *Tokenizer) plainPieces(text string, atStart bool, limit int, s *scratch, out []piece) []piece {
	if t.model == nil {
		return out
	}
	m := &s.text
	m.reset(text)
	if t.normalizer != nil {
		t.normalizer.normalize(m)
	}
	for part := range parts(&t.normalized, m.text) {
		switch {
		case len(out) >= limit:
			return out
		case part.token != nil:
			out = append(out, piece{part.token.ID, true, m.sourceStart(part.start), m.sourceEnd(part.end)})
		case t.preTokenizer == nil:
			out = t.wordPieces(m, part.start, part.end, s, out)
		case len(t.preTokenizer.stages) == 0:
			out = t.splitPieces(m, span{part.start, part.end}, limit, s, out)
		default:
			s.words.cut(m, part.start, part.end)
			s.words.atStart = atStart
			s.spans, s.spare = t.preTokenizer.rewrite(&s.words, s.spans, s.spare)
			for _, word := range s.spans {
				if len(out) >= limit {
					break
				}
				out = t.splitPieces(&s.words, word, limit, s, out)
			}
		}
	}
	return out
}

// splitPieces appends the tokens of the words that the last stages of the
// pre-tokeniser find in a part of m.
func (t *Tokenizer) splitPieces(m *mapped, part span, limit int, s *scratch, out []piece) []piece {
	if t.preTokenizer.rest == nil {
		return t.wordPieces(m, part.start, part.end, s, out)
	}
	t.preTokenizer.rest.words(m.text[part.start:part.end], func(start, end int) bool {
		out = t.wordPieces(m, part.start+start, part.start+end, s, out)
		return len(out) < limit
	})
	return out
}

// wordPieces appends the tokens of the word m.text[start:end].
func (t *Tokenizer) wordPieces(m *mapped, start, end int, s *scratch, out []piece) []piece {
	first := len(out)
	out = t.model.tokenize(m.text[start:end], out, &s.model)
	added := out[first:]
	if m.origin == nil && !t.cutsRunes {
		for i := range added {
			added[i].start += start
			added[i].end += start
		}
		return out
	}
	for i := range added {
		p := &added[i]
		p.start, p.end = m.sourceStart(start+p.start), m.sourceEnd(start+p.end)
	}
	return out
}

// scratch is the memory that one call of Encode works in.
type scratch struct {
	text         mapped // a text without raw added tokens, normalised
	words        mapped // a part of it without added tokens, as its stages rewrite it
	spans, spare []span // of its words
	model        modelScratch
	a, b         []piece
}

// modelScratch is the memory that a model works in.
type modelScratch struct {
	symbols []symbol // of BPE
	ranks   []merge  // of each symbol with the one after it
	links   []link
	queue   mergeQueue
	path    []pathNode // of Unigram
}

// size is about the longest word that the memory is for.
func (s *modelScratch) size() int { return max(cap(s.symbols), cap(s.queue), cap(s.path)) }

// maxScratch bounds what a long text leaves behind in the pool, in bytes of
// text.
const maxScratch = 1 << 20

func (t *Tokenizer) getScratch() *scratch {
	if s, ok := t.scratch.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (t *Tokenizer) putScratch(s *scratch) {
	if s.size() <= maxScratch {
		s.text.source, s.words.source = "", ""
		t.scratch.Put(s)
	}
}

// size is about the longest text that the memory is for.
func (s *scratch) size() int {
	return max(cap(s.text.text), cap(s.words.text), cap(s.spans), cap(s.spare), cap(s.a)+cap(s.b), s.model.size())
}
