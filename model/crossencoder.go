package model

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/tokenizer"
)

// CrossEncoder reads two texts at once and says how well the second answers
// the first.
type CrossEncoder struct {
	// Tokenizer is nil where the folder holds none.
	Tokenizer *tokenizer.Tokenizer
	// MaxTokens is the length, special tokens included, that pairs are cut to.
	MaxTokens int
	// Sigmoid tells whether scores are between 0 and 1; else they are what the
	// network gives, of any size.
	Sigmoid bool

	net   network
	files *weightFiles
}

// OpenCrossEncoder reads the cross-encoder in a folder.
func OpenCrossEncoder(dir string) (*CrossEncoder, error) {
	s, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return loadCrossEncoder(s)
}

// OpenCrossEncoderFS reads the cross-encoder at the root of fsys, as OpenFS
// does an Encoder.
func OpenCrossEncoderFS(fsys fs.FS) (*CrossEncoder, error) {
	if fsys == nil {
		return nil, errors.New("model: no file system")
	}
	return loadCrossEncoder(&source{name: "model", fsys: fsys})
}

func loadCrossEncoder(s *source) (*CrossEncoder, error) {
	c := &CrossEncoder{}
	err := c.readAround(s)
	if err != nil {
		return nil, err
	}
	if c.files, err = s.weights(); err != nil {
		return nil, err
	}
	b := &binder{files: c.files}
	if err = c.net.bind(b); err == nil {
		err = c.net.bindHead(b)
	}
	if err != nil {
		return nil, errors.Join(err, c.files.close())
	}
	return c, nil
}

// readAround reads everything but the weights.
func (c *CrossEncoder) readAround(s *source) error {
	h, a, net, err := readConfig(s)
	if err != nil {
		return err
	}
	if err := h.checkClassifier(a); err != nil {
		return fmt.Errorf("model: %s: %w", s.path("config.json"), err)
	}
	c.net = net
	if err := c.readActivation(s, h); err != nil {
		return err
	}
	if err := checkAlone(s); err != nil {
		return err
	}
	d := net.dims()
	if c.MaxTokens, err = readMaxTokens(s, d.tokens); err != nil {
		return err
	}
	c.Tokenizer, err = readTokenizer(s, d.vocab)
	return err
}

// checkClassifier wants a head that gives one number.
func (h *header) checkClassifier(a *architecture) error {
	switch {
	case len(h.Architectures) == 0:
		return fmt.Errorf("architectures is missing: a cross-encoder has %.80q there", a.classifier)
	case h.Architectures[0] != a.classifier:
		return fmt.Errorf("%s is no cross-encoder, which would be %s: is it a sentence encoder?", h.Architectures[0], a.classifier)
	case h.labels() != 1:
		return fmt.Errorf("id2label has %d labels: a cross-encoder that ranks has 1", h.labels())
	}
	return nil
}

// checkAlone wants no module behind the network.
func checkAlone(s *source) error {
	const file = "modules.json"
	var modules []module
	if _, err := s.config(file, &modules); err != nil {
		return err
	}
	for i, m := range modules {
		if i > 0 || m.Path != "" || !strings.HasSuffix(m.Type, ".Transformer") {
			return fmt.Errorf("model: %s: module %.80q is not supported: a cross-encoder has a Transformer alone, beside it", s.path(file), m.Type)
		}
	}
	return nil
}

// readActivation finds what is applied to the network's number: a sigmoid
// unless one of three places says otherwise.
func (c *CrossEncoder) readActivation(s *source, h *header) error {
	var own settings
	if _, err := s.config(settingsFile, &own); err != nil {
		return err
	}
	c.Sigmoid = true
	for _, at := range []struct {
		file, key string
		class     *string
	}{
		{settingsFile, "activation_fn", own.Activation},
		{"config.json", "sentence_transformers: activation_fn", h.Transformers.Activation},
		{"config.json", "sbert_ce_default_activation_function", h.OldActivation},
	} {
		if at.class == nil {
			continue
		}
		switch (*at.class)[strings.LastIndexByte(*at.class, '.')+1:] {
		case "Sigmoid":
		case "Identity":
			c.Sigmoid = false
		default:
			return fmt.Errorf("model: %s: %s %.80q is not supported: Sigmoid or Identity", s.path(at.file), at.key, *at.class)
		}
		return nil
	}
	return nil
}

// UsesTypes tells whether the network looks at Inputs.TypeIDs.
func (c *CrossEncoder) UsesTypes() bool {
	return c != nil && c.net != nil && c.net.dims().types
}

// Forward builds the graph of the scores, [B], of pairs given as one text
// each, their tokens told apart by type ids.
func (c *CrossEncoder) Forward(in Inputs) sinter.Tensor {
	if c == nil || c.net == nil { // the zero Tensor says so when it is used
		return sinter.Tensor{}
	}
	hidden := c.net.forward(in)
	x := c.net.logits(hidden[len(hidden)-1], in.Offsets).Index(1, 0)
	if c.Sigmoid {
		x = x.Sigmoid()
	}
	return x
}

// Close gives the weights back. Nothing made from them may run afterwards.
func (c *CrossEncoder) Close() error {
	if c == nil || c.files == nil {
		return errors.New("model: the zero CrossEncoder has nothing to close: make one with OpenCrossEncoder")
	}
	return c.files.close()
}
