// Package tokenizer turns text into the token ids of a model and back, as the
// model's tokenizer.json says. It follows the Hugging Face tokenizers library
// to the id and the offset.
//
// A file names one type for each stage of the pipeline: text is normalised,
// split into words, each word becomes tokens of the vocabulary, and special
// tokens are put around them. What the file says of truncation and padding is
// left aside: the caller decides on the first, and nothing here pads.
//
// These types are known, any other is an error that names the stage:
//
//   - models: BPE (without dropout), Unigram, WordPiece;
//   - normalizers: BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD,
//     Nmt, Precompiled, Prepend, Replace, Sequence, Strip, StripAccents;
//   - pre_tokenizers: BertPreTokenizer, ByteLevel, Digits, Metaspace,
//     Punctuation, Sequence, Split, Whitespace, WhitespaceSplit;
//   - post_processors: BertProcessing, ByteLevel, RobertaProcessing, Sequence,
//     TemplateProcessing;
//   - decoders: BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace,
//     Sequence, Strip, WordPiece.
//
// Regular expressions are run by package regexp, with Oniguruma's meaning of
// \s, \w and \d. It has no lookahead: of the expressions that have one, those of
// GPT-2, Llama 3, Qwen2, cl100k and o200k are known.
//
// Files come from strangers. What would take memory or time out of proportion
// to the file or the text is refused: tokens and replacements that are too
// long, too many stages, stages that could make a text grow without end.
package tokenizer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// Tokenizer is safe for use by several goroutines at once. Parse and Load make
// one; the zero value, and nil, know no tokens and encode every text to nothing.
type Tokenizer struct {
	normalizer    normalizer
	preTokenizer  *preTokenizer
	model         model
	cutsRunes     bool // a token of the model may be a part of a character
	trims         []trim
	margins       []margins // by id, when there are trims
	postProcessor postProcessor
	decoder       decoder

	tokens     []string         // by id, added ones too; "" where there is none
	addedIDs   map[string]int32 // of the added tokens
	special    map[int32]bool   // added tokens that Decode leaves out
	raw        matcher          // added tokens to be found in the text as given
	normalized matcher          // added tokens to be found in normalised text
	scratch    sync.Pool        // of *scratch
}

// The stages. All but the model may be absent (nil).
type (
	// normalizer rewrites text before it is split.
	normalizer interface {
		normalize(m *mapped)
	}

	// model splits one word into tokens.
	model interface {
		// tokenize appends the tokens of a word, with offsets into it.
		tokenize(word []byte, out []piece, s *modelScratch) []piece
		id(token string) (int32, bool)
		// vocabulary is the tokens by id, "" for an id without one.
		vocabulary() []string
	}

	// postProcessor puts special tokens around one or two sequences.
	postProcessor interface {
		// added is how many special tokens it adds.
		added(pair bool) int
		assemble(e *Encoding, a, b []piece, pair bool)
	}

	// decoder turns tokens into the parts of a text, which are joined at the
	// end. It may write to what it gets.
	decoder interface {
		decode(tokens []string) []string
	}
)

// piece is a token and the bytes it stands for.
type piece struct {
	id         int32
	added      bool // found in the text itself, not by the model
	start, end int
}

// Load reads a tokenizer.json from a file system.
func Load(fsys fs.FS, name string) (*Tokenizer, error) {
	if fsys == nil {
		return nil, errors.New("tokenizer: no file system")
	}
	data, err := read(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %s: %w", name, err)
	}
	return t, nil
}

// maxFile bounds a tokenizer.json. The largest published ones have 40 MB.
const maxFile = 512 << 20

// read is fs.ReadFile for what may be a pipe, or of any size.
func read(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file (%v)", name, info.Mode().Type())
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: %d bytes are too many: at most %d", name, info.Size(), maxFile)
	}
	return fs.ReadFile(fsys, name)
}

// Parse reads the text of a tokenizer.json. It keeps no part of data.
func Parse(data []byte) (*Tokenizer, error) {
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// VocabSize is one more than the largest id.
func (t *Tokenizer) VocabSize() int {
	if t == nil {
		return 0
	}
	return len(t.tokens)
}

// Token is the token of an id as it stands in the vocabulary, or "" when there
// is none.
func (t *Tokenizer) Token(id int32) string {
	if id < 0 || int(id) >= t.VocabSize() {
		return ""
	}
	return t.tokens[id]
}

// ID is the id of a token, and whether there is such a token.
func (t *Tokenizer) ID(token string) (int32, bool) {
	if t == nil {
		return 0, false
	}
	if id, ok := t.addedIDs[token]; ok {
		return id, true
	}
	if t.model == nil {
		return 0, false
	}
	return t.model.id(token)
}

// Decode joins tokens to text, leaving out special tokens and ids that the
// vocabulary does not have. What normalisation took from a text stays lost.
func (t *Tokenizer) Decode(ids []int32) string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if token := t.Token(id); token != "" && !t.special[id] {
			tokens = append(tokens, token)
		}
	}
	if t == nil || t.decoder == nil {
		return strings.Join(tokens, " ")
	}
	return strings.Join(t.decoder.decode(tokens), "")
}
