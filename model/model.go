// Package model reads sentence encoders as their publishers lay them out:
// weights, configuration, pooling, length limit and tokenizer of one folder.
package model

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
	"github.com/sinterml/sinter/tokenizer"
)

// Encoder turns token ids into hidden states and one embedding a text.
type Encoder struct {
	// Tokenizer is nil where the folder holds none.
	Tokenizer *tokenizer.Tokenizer
	// MaxTokens is the length, special tokens included, that texts are cut to.
	MaxTokens int
	// Pooling and Normalize say how hidden states become an embedding.
	Pooling   Pooling
	Normalize bool

	net  *bert
	file *safetensors.File
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
	e := &Encoder{}
	var config bertConfig
	ok, err := s.config("config.json", &config)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("model: %s has no config.json: is it the folder of a model?", s.name)
	case config.ModelType != "bert":
		return nil, fmt.Errorf("model: %s: architecture %q is not supported: only bert", s.path("config.json"), config.ModelType)
	}
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("model: %s: %w", s.path("config.json"), err)
	}
	if err := e.readPipeline(s, &config); err != nil {
		return nil, err
	}
	if err := e.readTokenizer(s, &config); err != nil {
		return nil, err
	}
	if e.file, err = s.weights(); err != nil {
		return nil, err
	}
	e.net = &bert{config: config}
	b := &binder{file: e.file, path: s.path("model.safetensors"), sizes: config.sizes()}
	prefix, err := namePrefix(e.file.Names(), "embeddings.word_embeddings.weight")
	if err == nil {
		err = b.bind(prefix, &e.net.weights)
	} else {
		err = fmt.Errorf("model: %s: %w", b.path, err)
	}
	if err != nil {
		_ = e.file.Close()
		return nil, err
	}
	return e, nil
}

// namePrefix is what stands before the names of the encoder's weights: files
// of whole models call them "bert.embeddings..." or the like.
func namePrefix(names []string, known string) (string, error) {
	found := 0
	prefix := ""
	for _, n := range names {
		if p, ok := strings.CutSuffix(n, known); ok && (p == "" || strings.HasSuffix(p, ".")) {
			prefix = p
			found++
		}
	}
	switch found {
	case 0:
		return "", fmt.Errorf("holds no tensor %q: it is not a BERT encoder", known)
	case 1:
		return prefix, nil
	}
	return "", fmt.Errorf("holds %d tensors called %q under different prefixes", found, known)
}

func (e *Encoder) readTokenizer(s *source, c *bertConfig) error {
	t, err := tokenizer.Load(s.fsys, "tokenizer.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("model: %s: %w", s.name, err)
	}
	if t.VocabSize() > c.VocabSize {
		return fmt.Errorf("model: %s: the tokenizer has ids up to %d, the model %d rows: they do not belong together", s.name, t.VocabSize()-1, c.VocabSize)
	}
	e.Tokenizer = t
	return nil
}

// Width is the length of an embedding; 0 for the zero Encoder.
func (e *Encoder) Width() int {
	if e == nil || e.net == nil {
		return 0
	}
	return e.net.config.Hidden
}

// Forward builds the graph for in. Nothing runs until a value is asked for.
func (e *Encoder) Forward(in Inputs) Outputs {
	if e == nil || e.net == nil { // the zero Tensor says so when it is used
		return Outputs{}
	}
	hidden := e.net.forward(in)
	x := e.Pooling.apply(hidden[len(hidden)-1], in.Offsets)
	if e.Normalize {
		norm := x.Square().SumKeep(-1).Sqrt()
		x = x.Div(norm.Maximum(sinter.Scalar(1e-12)))
	}
	return Outputs{hidden, x}
}

// Close gives the weights back. Nothing made from them may run afterwards.
func (e *Encoder) Close() error {
	if e == nil || e.file == nil {
		return errors.New("model: the zero Encoder has nothing to close: make one with Open")
	}
	return e.file.Close()
}
