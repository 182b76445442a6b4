package tokenizer

import "encoding/json"

// preTokenizer cuts normalised text into words: stages one after the other,
// each working on the words of the one before.
type preTokenizer struct {
	// stages are all up to the last that rewrites its words; they need the
	// words in memory.
	stages []preStage

	// rest are the stages after those, composed: they cut, so that words go
	// straight to the model. Nil leaves words as they are.
	rest splitter

	// spellsBytes says that the last stage of the file spells each byte as a
	// character. It is not among the stages: a model that reads bytes spares
	// the detour.
	spellsBytes bool
}

// preStage is one of the two.
type preStage struct {
	splitter
	rewriter
}

type (
	// splitter finds words in a text, as pairs of start and end that rise, do
	// not overlap and are not empty. It stops when yield returns false.
	splitter interface {
		words(text []byte, yield func(start, end int) bool)
	}

	// rewriter puts what becomes of the word text[start:end] of m.
	rewriter interface {
		rewrite(m *mapped, start, end int)
	}
)

// preTokenizerTypes lists the stages that a pre_tokenizer may have.
func preTokenizerTypes() stageTypes[[]preStage] {
	return stageTypes[[]preStage]{
		"BertPreTokenizer": splitterType(bertPreTokenizer{}),
		"ByteLevel":        parseByteLevel,
		"Digits":           parseDigits,
		"Metaspace":        parseMetaspace,
		"Punctuation":      parsePunctuation,
		"Sequence":         parsePreSequence,
		"Split":            parseSplit,
		"Whitespace":       splitterType(whitespaceWords{}),
		"WhitespaceSplit":  splitterType(splitAt(isWhitespace, removed)),
	}
}

// splitterType is the parser of a splitter without settings.
func splitterType(s splitter) func([]byte) ([]preStage, error) {
	return func([]byte) ([]preStage, error) { return []preStage{{splitter: s}}, nil }
}

func parsePreSequence(raw []byte) ([]preStage, error) {
	var file struct {
		Stages []json.RawMessage `json:"pretokenizers"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	return parseSequence(file.Stages, preTokenizerTypes(), func(stages []preStage) []preStage { return stages })
}

func parsePreTokenizer(raw []byte) (*preTokenizer, error) {
	stages, err := preTokenizerTypes().parse(raw)
	if err != nil {
		return nil, err
	}
	p := &preTokenizer{}
	if n := len(stages); n > 0 {
		if _, p.spellsBytes = stages[n-1].rewriter.(byteSpelling); p.spellsBytes {
			stages = stages[:n-1]
		}
	}
	growth := 1
	first := len(stages) // of the rest
	for first > 0 && stages[first-1].rewriter == nil {
		first--
	}
	for _, s := range stages[:first] {
		if s.rewriter != nil {
			if growth *= maxRewriteGrowth; growth > maxGrowth {
				return nil, errTooMuchGrowth
			}
		}
	}
	p.stages = stages[:first]
	for _, s := range stages[first:] {
		if p.rest == nil {
			p.rest = s.splitter
		} else {
			p.rest = splitAgain{p.rest, s.splitter}
		}
	}
	return p, nil
}

// spellBytes makes the spelling of bytes a stage, for models that read
// characters.
func (p *preTokenizer) spellBytes() {
	if p.rest != nil {
		p.stages = append(p.stages, preStage{splitter: p.rest})
	}
	p.stages = append(p.stages, preStage{rewriter: byteSpelling{}})
	p.rest, p.spellsBytes = nil, false
}

// splitAgain cuts the words of one splitter with another.
type splitAgain struct{ outer, inner splitter }

func (s splitAgain) words(text []byte, yield func(start, end int) bool) {
	s.outer.words(text, func(from, to int) bool {
		more := true
		s.inner.words(text[from:to], func(start, end int) bool {
			more = yield(from+start, from+end)
			return more
		})
		return more
	})
}

// span is the place of a word in a text.
type span struct{ start, end int }

// rewrite has the stages work on m, whose text is one word, and returns the
// words of what it becomes. Their memory is that of either buffer.
func (p *preTokenizer) rewrite(m *mapped, words, spare []span) ([]span, []span) {
	words = append(words[:0], span{0, len(m.text)})
	for _, stage := range p.stages {
		spare = spare[:0]
		if stage.rewriter == nil {
			for _, w := range words {
				stage.words(m.text[w.start:w.end], func(start, end int) bool {
					spare = append(spare, span{w.start + start, w.start + end})
					return true
				})
			}
		} else {
			m.begin()
			for _, w := range words {
				start := len(m.next)
				stage.rewrite(m, w.start, w.end)
				spare = append(spare, span{start, len(m.next)})
			}
			m.commit()
		}
		words, spare = spare, words
	}
	return words, spare
}
