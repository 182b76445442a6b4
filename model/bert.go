package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
)

// bertConfig is config.json of a BERT encoder.
type bertConfig struct {
	ModelType    string  `json:"model_type"`
	VocabSize    int     `json:"vocab_size"`
	Hidden       int     `json:"hidden_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	Inner        int     `json:"intermediate_size"`
	Activation   string  `json:"hidden_act"`
	Positions    int     `json:"max_position_embeddings"`
	Types        int     `json:"type_vocab_size"`
	LayerNormEps float64 `json:"layer_norm_eps"`
	PositionType string  `json:"position_embedding_type"`
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

func (c *bertConfig) check() error {
	for _, s := range []struct {
		name  string
		value int
		limit int
	}{
		{"vocab_size", c.VocabSize, maxSize}, {"hidden_size", c.Hidden, maxSize}, {"num_hidden_layers", c.Layers, maxLayers},
		{"num_attention_heads", c.Heads, maxSize}, {"intermediate_size", c.Inner, maxSize},
		{"max_position_embeddings", c.Positions, maxSize}, {"type_vocab_size", c.Types, maxSize},
	} {
		if s.value < 1 || s.value > s.limit {
			return fmt.Errorf("%s is %d, want 1 to %d", s.name, s.value, s.limit)
		}
	}
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden_size %d does not divide into %d heads", c.Hidden, c.Heads)
	}
	if activations[c.Activation] == nil {
		return fmt.Errorf("hidden_act %q is not known: one of %s", c.Activation, strings.Join(slices.Sorted(maps.Keys(activations)), ", "))
	}
	if c.PositionType != "" && c.PositionType != "absolute" {
		return fmt.Errorf("position_embedding_type %q is not supported: only absolute", c.PositionType)
	}
	if !(c.LayerNormEps >= 0 && c.LayerNormEps < 1) {
		return fmt.Errorf("layer_norm_eps %v is not between 0 and 1", c.LayerNormEps)
	}
	return nil
}

// linear is a weight [out, in] with its bias, as PyTorch stores it. The sizes
// stand in the parent's tags, so each form has a type of its own.
type (
	hiddenLinear struct {
		Weight sinter.Tensor `weight:"weight" shape:"hidden hidden"`
		Bias   sinter.Tensor `weight:"bias" shape:"hidden"`
	}
	innerLinear struct {
		Weight sinter.Tensor `weight:"weight" shape:"inner hidden"`
		Bias   sinter.Tensor `weight:"bias" shape:"inner"`
	}
	outerLinear struct {
		Weight sinter.Tensor `weight:"weight" shape:"hidden inner"`
		Bias   sinter.Tensor `weight:"bias" shape:"hidden"`
	}
	layerNorm struct {
		Weight sinter.Tensor `weight:"weight" shape:"hidden"`
		Bias   sinter.Tensor `weight:"bias" shape:"hidden"`
	}
	bertLayer struct {
		Query      hiddenLinear `weight:"attention.self.query"`
		Key        hiddenLinear `weight:"attention.self.key"`
		Value      hiddenLinear `weight:"attention.self.value"`
		Output     hiddenLinear `weight:"attention.output.dense"`
		OutputNorm layerNorm    `weight:"attention.output.LayerNorm"`
		Inner      innerLinear  `weight:"intermediate.dense"`
		Outer      outerLinear  `weight:"output.dense"`
		OuterNorm  layerNorm    `weight:"output.LayerNorm"`
	}
	bertWeights struct {
		Words     sinter.Tensor `weight:"embeddings.word_embeddings.weight" shape:"vocab hidden"`
		Positions sinter.Tensor `weight:"embeddings.position_embeddings.weight" shape:"positions hidden"`
		Types     sinter.Tensor `weight:"embeddings.token_type_embeddings.weight" shape:"types hidden"`
		Norm      layerNorm     `weight:"embeddings.LayerNorm"`
		Layers    []bertLayer   `weight:"encoder.layer" count:"layers"`
	}
)

func (c *bertConfig) sizes() map[string]int {
	return map[string]int{"vocab": c.VocabSize, "hidden": c.Hidden, "inner": c.Inner, "layers": c.Layers, "positions": c.Positions, "types": c.Types}
}

// bert is an encoder with post-norm blocks. Source: Devlin et al., "BERT:
// Pre-training of Deep Bidirectional Transformers", 2018.
type bert struct {
	config  bertConfig
	weights bertWeights
}

// forward returns the hidden state after the embedding layer and after each
// block, [N, hidden] each.
func (m *bert) forward(in Inputs) []sinter.Tensor {
	w := &m.weights
	x := w.Words.Take(in.IDs, 0).Add(w.Positions.Take(sinter.Positions(in.Offsets, in.IDs.Dim(0)), 0))
	if in.TypeIDs == (sinter.Tensor{}) {
		x = x.Add(w.Types.Index(0, 0))
	} else {
		x = x.Add(w.Types.Take(in.TypeIDs, 0))
	}
	x = m.norm(x, w.Norm)
	hidden := []sinter.Tensor{x}
	for i := range w.Layers {
		x = m.block(x, &w.Layers[i], in.Offsets)
		hidden = append(hidden, x)
	}
	return hidden
}

func (m *bert) block(x sinter.Tensor, w *bertLayer, offsets sinter.Tensor) sinter.Tensor {
	heads := func(l hiddenLinear) sinter.Tensor {
		return sinter.Linear(x, l.Weight, l.Bias).Reshape(-1, m.config.Heads, m.config.Hidden/m.config.Heads)
	}
	a, _ := sinter.Attention(heads(w.Query), heads(w.Key), heads(w.Value), sinter.AttentionOptions{QOffsets: offsets, KOffsets: offsets})
	a = sinter.Linear(a.Reshape(-1, m.config.Hidden), w.Output.Weight, w.Output.Bias)
	x = m.norm(x.Add(a), w.OutputNorm)
	y := activations[m.config.Activation](sinter.Linear(x, w.Inner.Weight, w.Inner.Bias))
	return m.norm(x.Add(sinter.Linear(y, w.Outer.Weight, w.Outer.Bias)), w.OuterNorm)
}

func (m *bert) norm(x sinter.Tensor, w layerNorm) sinter.Tensor {
	return sinter.LayerNorm(x, w.Weight, w.Bias, m.config.LayerNormEps)
}
