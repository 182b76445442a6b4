package model

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	// Prompt stands before each query; "" is none. LowerCase tells that both texts
	// are to be put in lower case before they are tokenized.
	Prompt    string
	LowerCase bool

	net     network
	untyped bool // the tokenizer gives the network no type ids
	files   *weightFiles
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
	if err := c.readTexts(s); err != nil {
		return err
	}
	if err := checkAlone(s); err != nil {
		return err
	}
	d := net.dims()
	if c.MaxTokens, err = readMaxTokens(s, d.tokens); err != nil {
		return err
	}
	if c.untyped, err = readUntyped(s, h.ModelType); err != nil {
		return err
	}
	c.Tokenizer, err = readTokenizer(s, d.vocab)
	return err
}

// readTexts finds what is done to texts before they are tokenized.
func (c *CrossEncoder) readTexts(s *source) error {
	var own settings
	if _, err := s.config(settingsFile, &own); err != nil {
		return err
	}
	name, err := own.defaultPrompt(s)
	if err != nil {
		return err
	}
	c.Prompt = own.Prompts[name]
	in, err := s.readInput(scoring)
	c.LowerCase = in.LowerCase
	return err
}

// untypedClasses are the tokenizers of the reference implementation that give no
// type ids unless a file says so, less "Fast" at the end of their names.
var untypedClasses = []string{"BartTokenizer", "CamembertTokenizer", "DistilBertTokenizer", "MPNetTokenizer", "RobertaTokenizer", "TokenizersBackend", "XLMRobertaTokenizer"}

// readUntyped tells whether the network was trained without type ids, though it
// may have a table of them and tokenizer.json has some: tokenizer_config.json says
// what a tokenizer gives, or its class does, which is that of the architecture
// where none is named.
func readUntyped(s *source, architecture string) (bool, error) {
	var t struct {
		Inputs []string `json:"model_input_names"`
		Class  *string  `json:"tokenizer_class"`
	}
	if _, err := s.config(tokenizerConfig, &t); err != nil {
		return false, err
	}
	switch {
	case t.Inputs != nil:
		return !slices.Contains(t.Inputs, "token_type_ids"), nil
	case t.Class != nil:
		return slices.Contains(untypedClasses, strings.TrimSuffix(*t.Class, "Fast")), nil
	}
	return architecture != "bert", nil
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

// UsesTypes tells whether Forward looks at Inputs.TypeIDs: where the network has no
// table of types, or its tokenizer gives none, all are 0.
func (c *CrossEncoder) UsesTypes() bool {
	return c != nil && c.net != nil && c.net.dims().types && !c.untyped
}

// Forward builds the graph of the scores, [B], of pairs given as one text
// each, their tokens told apart by type ids.
func (c *CrossEncoder) Forward(in Inputs) sinter.Tensor {
	if c == nil || c.net == nil { // the zero Tensor says so when it is used
		return sinter.Tensor{}
	}
	if !c.UsesTypes() {
		in.TypeIDs = sinter.Tensor{}
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
