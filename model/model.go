// Package model reads sentence encoders and cross-encoders as their publishers
// lay them out: weights, configuration, pooling, prompts, length limit and
// tokenizer of one folder.
package model

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/tokenizer"
)

// Encoder turns token ids into hidden states and one embedding a text.
type Encoder struct {
	// Tokenizer is nil where the folder holds none.
	Tokenizer *tokenizer.Tokenizer
	// MaxTokens is the length, special tokens included, that texts are cut to.
	MaxTokens int
	// Pooling says how hidden states become an embedding: the vectors of
	// several stand one after another. Normalize tells whether it has unit
	// length.
	Pooling   []Pooling
	Normalize bool
	// AssumedPooling tells that the folder has no modules.json: it is that of a
	// plain network, whose states nobody trained to have a mean that says much.
	AssumedPooling bool
	// Prompts stand before texts, by what a text is for: "query", "passage" and
	// the like. DefaultPrompt names the one for texts of which nothing is said;
	// "" is none.
	Prompts       map[string]string
	DefaultPrompt string
	// LowerCase tells that texts are to be put in lower case before they are
	// tokenized.
	LowerCase bool
	// Similarity is how vectors are meant to be compared, "cosine" or "dot"
	// mostly; "" where the folder does not say.
	Similarity string

	net            network
	steps          []step // behind pooling
	width          int    // of an embedding
	excludesPrompt bool   // pooling leaves the tokens of a prompt out
	files          []*weightFiles
}

// Inputs are the operands of Forward: texts as rows of ids, one after another.
type Inputs struct {
	IDs     sinter.Tensor // i32 or i64 [N]
	TypeIDs sinter.Tensor // the same shape; the zero Tensor for all 0
	Offsets sinter.Tensor // i32 [B+1]: text b has the ids from Offsets[b] to Offsets[b+1]
}

// Outputs are what Forward gives.
type Outputs struct {
	Hidden    []sinter.Tensor // after the embedding layer and each block, [N, width]
	Embedding sinter.Tensor   // [B, width], pooled and, where the model says so, of unit length
}

// Open reads the model in a folder.
func Open(dir string) (*Encoder, error) {
	s, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return load(s)
}

// OpenFS reads the model at the root of fsys. If fsys has a method
// Bytes(name string) ([]byte, bool), weights are used where they lie.
func OpenFS(fsys fs.FS) (*Encoder, error) {
	if fsys == nil {
		return nil, errors.New("model: no file system")
	}
	return load(&source{name: "model", fsys: fsys})
}

func load(s *source) (*Encoder, error) {
	h, _, net, err := readConfig(s)
	if err != nil {
		return nil, err
	}
	e := &Encoder{net: net}
	if err := e.read(s, h); err != nil {
		return nil, errors.Join(err, e.closeFiles())
	}
	return e, nil
}

// read reads everything but config.json.
func (e *Encoder) read(s *source, h *header) error {
	if err := e.readAround(s, h); err != nil {
		return err
	}
	w, err := s.weights()
	if err != nil {
		return err
	}
	e.files = append(e.files, w)
	return e.net.bind(&binder{files: w})
}

// readAround reads what stands around the network.
func (e *Encoder) readAround(s *source, h *header) error {
	if err := e.readModules(s); err != nil {
		return err
	}
	if e.AssumedPooling && h.generates() {
		return fmt.Errorf("model: %s: %s generates text, and there is no modules.json, which would say how to make vectors of it: give a sentence encoder", s.path("config.json"), h.Architectures[0])
	}
	if h.isClassifier() && e.AssumedPooling {
		return fmt.Errorf("model: %s: %s is a cross-encoder, which scores pairs of texts: use it to rerank", s.path("config.json"), h.Architectures[0])
	}
	if err := e.readSettings(s); err != nil {
		return err
	}
	c, err := s.readInput(encoding)
	if err != nil {
		return err
	}
	e.LowerCase = c.LowerCase
	d := e.net.dims()
	if e.MaxTokens, err = readMaxTokens(s, d.tokens); err != nil {
		return err
	}
	e.Tokenizer, err = readTokenizer(s, d.vocab)
	return err
}

// Width is the length of an embedding; 0 for the zero Encoder.
func (e *Encoder) Width() int {
	if e == nil || e.net == nil {
		return 0
	}
	return e.width
}

// ExcludesPrompt tells whether pooling leaves the tokens of a prompt out, which
// Forward does not know of.
func (e *Encoder) ExcludesPrompt() bool { return e != nil && e.excludesPrompt }

// Shorten makes embeddings of their first dim components, of unit length where
// the whole ones are: for models trained to have what matters most there.
func (e *Encoder) Shorten(dim int) error {
	if e == nil || e.net == nil {
		return errZero
	}
	if dim < 1 || dim > e.width {
		return fmt.Errorf("model: vectors of %d numbers cannot be made of %d", dim, e.width)
	}
	if dim < e.width {
		e.steps = append(e.steps, shorter(dim))
		if e.Normalize {
			e.steps = append(e.steps, unitLength{})
		}
		e.width = dim
	}
	return nil
}

var errZero = errors.New("model: the zero Encoder has nothing in it: make one with Open")

// Forward builds the graph for in. Nothing runs until a value is asked for.
func (e *Encoder) Forward(in Inputs) Outputs {
	if e == nil || e.net == nil { // the zero Tensor says so when it is used
		return Outputs{}
	}
	hidden := e.net.forward(in)
	x := pool(e.Pooling, hidden[len(hidden)-1], in.Offsets)
	for _, s := range e.steps {
		x = s.apply(x)
	}
	return Outputs{hidden, x}
}

// Close gives the weights back. Nothing made from them may run afterwards.
func (e *Encoder) Close() error {
	if e == nil || e.net == nil {
		return errZero
	}
	return e.closeFiles()
}

func (e *Encoder) closeFiles() error {
	var err error
	for _, f := range e.files {
		err = errors.Join(err, f.close())
	}
	return err
}
