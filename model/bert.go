package model

import "fmt"

// bertConfig is config.json of a BERT encoder, and of RoBERTa, which adds
// nothing.
type bertConfig struct {
	VocabSize    int     `json:"vocab_size"`
	Hidden       int     `json:"hidden_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	Inner        int     `json:"intermediate_size"`
	Activation   string  `json:"hidden_act"`
	Positions    int     `json:"max_position_embeddings"`
	Types        int     `json:"type_vocab_size"`
	Eps          float64 `json:"layer_norm_eps"`
	PositionType string  `json:"position_embedding_type"`
	Decoder      bool    `json:"is_decoder"`
}

func (c *bertConfig) check() error {
	if err := checkSizes(
		size{"vocab_size", c.VocabSize, 1, maxSize}, size{"hidden_size", c.Hidden, 1, maxSize}, size{"num_hidden_layers", c.Layers, 1, maxLayers},
		size{"num_attention_heads", c.Heads, 1, maxSize}, size{"intermediate_size", c.Inner, 1, maxSize},
		size{"max_position_embeddings", c.Positions, 1, maxSize}, size{"type_vocab_size", c.Types, 1, maxSize},
	); err != nil {
		return err
	}
	if err := checkHeads("hidden_size", "num_attention_heads", c.Hidden, c.Heads); err != nil {
		return err
	}
	if c.PositionType != "" && c.PositionType != "absolute" {
		return fmt.Errorf("position_embedding_type %.80q is not supported: only absolute", c.PositionType)
	}
	if c.Decoder {
		return fmt.Errorf("is_decoder is true: only encoders are supported")
	}
	if err := checkActivation("hidden_act", c.Activation); err != nil {
		return err
	}
	return checkEps("layer_norm_eps", c.Eps)
}

func (c *bertConfig) network() network { return c.encoder() }

func (c *bertConfig) encoder() *postNorm {
	return &postNorm{
		vocab: c.VocabSize, hidden: c.Hidden, layers: c.Layers, heads: c.Heads, inner: c.Inner,
		positions: c.Positions, types: c.Types, eps: c.Eps, activation: c.Activation,
		names: with(bertNames, map[string]string{"head dense": ".pooler.dense", "head out": "classifier"}),
		known: "embeddings.word_embeddings.weight", headActivation: "tanh",
	}
}
