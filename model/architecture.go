package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
)

// architecture is a row of what this package can read.
type architecture struct {
	name string // model_type of config.json
	// classifier is the class that cross-encoders of this kind name among the
	// architectures of config.json.
	classifier string
	// config is a new configuration with the defaults of the reference
	// implementation, for config.json to be read into.
	config func() configuration
}

// configuration is config.json of one architecture.
type configuration interface {
	// check refuses what cannot be, by the key, before anything is allocated.
	check() error
	// network is called after check.
	network() network
}

// network is an architecture of checked sizes, with or without its weights.
type network interface {
	dims() dims
	// bind reads the weights of the encoder, bindHead those behind it.
	bind(b *binder) error
	bindHead(b *binder) error
	// forward gives the hidden state after the embedding layer and after each
	// block, [N, hidden] each.
	forward(in Inputs) []sinter.Tensor
	// logits gives those of a cross-encoder, [B, labels], from the last hidden
	// state.
	logits(x, offsets sinter.Tensor) sinter.Tensor
}

// dims are the sizes that what stands around a network has to know.
type dims struct {
	vocab, hidden int
	tokens        int  // of a text, at most
	types         bool // the network looks at type ids
}

// architectures are all that can be read.
var architectures = []architecture{
	{"bert", "BertForSequenceClassification", func() configuration { return &bertConfig{Activation: "gelu", Eps: defaultEps} }},
	{"distilbert", "DistilBertForSequenceClassification", func() configuration { return &distilBertConfig{Activation: "gelu"} }},
	{"modernbert", "ModernBertForSequenceClassification", newModernBertConfig},
	{"mpnet", "MPNetForSequenceClassification", newMPNetConfig},
	{"roberta", "RobertaForSequenceClassification", newRobertaConfig},
	{"xlm-roberta", "XLMRobertaForSequenceClassification", newRobertaConfig},
}

// defaultEps is what the reference implementation takes for a layer_norm_eps
// that is not given.
const defaultEps = 1e-12

// header is what config.json says whatever the architecture.
type header struct {
	ModelType     string            `json:"model_type"`
	Architectures []string          `json:"architectures"`
	Labels        map[string]string `json:"id2label"`
	LabelCount    *int              `json:"num_labels"`
	// Transformers is what sentence-transformers keeps there.
	Transformers struct {
		Activation *string `json:"activation_fn"`
	} `json:"sentence_transformers"`
	OldActivation *string `json:"sbert_ce_default_activation_function"`
}

// readConfig reads config.json and gives the network that it describes.
func readConfig(s *source) (*header, *architecture, network, error) {
	const file = "config.json"
	var h header
	ok, err := s.config(file, &h)
	if err != nil {
		return nil, nil, nil, err
	}
	if !ok {
		return nil, nil, nil, fmt.Errorf("model: %s has no %s: is it the folder of a model?", s.name, file)
	}
	a := findArchitecture(h.ModelType)
	if a == nil {
		return nil, nil, nil, fmt.Errorf("model: %s: architecture %.80q is not supported: only %s", s.path(file), h.ModelType, strings.Join(architectureNames(), ", "))
	}
	c := a.config()
	if _, err := s.config(file, c); err != nil {
		return nil, nil, nil, err
	}
	if err := c.check(); err != nil {
		return nil, nil, nil, fmt.Errorf("model: %s: %w", s.path(file), err)
	}
	return &h, a, c.network(), nil
}

func findArchitecture(name string) *architecture {
	for i := range architectures {
		if architectures[i].name == name {
			return &architectures[i]
		}
	}
	return nil
}

func architectureNames() []string {
	var names []string
	for _, a := range architectures {
		names = append(names, a.name)
	}
	return names
}

// isClassifier tells whether config.json is that of a network with a
// classification head.
func (h *header) isClassifier() bool {
	return len(h.Architectures) > 0 && strings.HasSuffix(h.Architectures[0], "ForSequenceClassification")
}

// generates tells whether config.json is that of a network which gives one token
// after another.
func (h *header) generates() bool {
	return len(h.Architectures) > 0 && (strings.HasSuffix(h.Architectures[0], "ForCausalLM") || strings.HasSuffix(h.Architectures[0], "LMHeadModel"))
}

// labels is how many numbers a classification head gives; the reference
// implementation takes two where nothing is said.
func (h *header) labels() int {
	switch {
	case len(h.Labels) > 0:
		return len(h.Labels)
	case h.LabelCount != nil:
		return *h.LabelCount
	}
	return 2
}

// activations are the functions config.json may name.
var activations = map[string]func(sinter.Tensor) sinter.Tensor{
	"gelu":              sinter.Tensor.GELU,
	"gelu_new":          sinter.Tensor.GELUTanh,
	"gelu_pytorch_tanh": sinter.Tensor.GELUTanh,
	"relu":              sinter.Tensor.ReLU,
	"silu":              sinter.Tensor.SiLU,
	"swish":             sinter.Tensor.SiLU,
	"tanh":              sinter.Tensor.Tanh,
}

const maxLayers, maxSize = 1000, 1 << 24

// size is a number of config.json with its bounds.
type size struct {
	key                string
	value, least, most int
}

func checkSizes(sizes ...size) error {
	for _, s := range sizes {
		if s.value < s.least || s.value > s.most {
			return fmt.Errorf("%s is %d, want %d to %d", s.key, s.value, s.least, s.most)
		}
	}
	return nil
}

// checkHeads wants heads of equal width; keys are the names of the two.
func checkHeads(hiddenKey, headsKey string, hidden, heads int) error {
	if hidden%heads != 0 {
		return fmt.Errorf("%s %d does not divide into the %d heads of %s", hiddenKey, hidden, heads, headsKey)
	}
	return nil
}

func checkActivation(key, name string) error {
	if activations[name] == nil {
		return fmt.Errorf("%s %.80q is not known: one of %s", key, name, strings.Join(slices.Sorted(maps.Keys(activations)), ", "))
	}
	return nil
}

func checkEps(key string, eps float64) error {
	if !(eps >= 0 && eps < 1) {
		return fmt.Errorf("%s %v is not between 0 and 1", key, eps)
	}
	return nil
}
