package model

// distilBertConfig is config.json of a DistilBERT encoder: BERT without type
// embeddings, with names of its own. Source: Sanh et al., "DistilBERT, a
// distilled version of BERT", 2019.
type distilBertConfig struct {
	VocabSize  int    `json:"vocab_size"`
	Hidden     int    `json:"dim"`
	Layers     int    `json:"n_layers"`
	Heads      int    `json:"n_heads"`
	Inner      int    `json:"hidden_dim"`
	Activation string `json:"activation"`
	Positions  int    `json:"max_position_embeddings"`
}

func (c *distilBertConfig) check() error {
	if err := checkSizes(
		size{"vocab_size", c.VocabSize, 1, maxSize}, size{"dim", c.Hidden, 1, maxSize}, size{"n_layers", c.Layers, 1, maxLayers},
		size{"n_heads", c.Heads, 1, maxSize}, size{"hidden_dim", c.Inner, 1, maxSize}, size{"max_position_embeddings", c.Positions, 1, maxSize},
	); err != nil {
		return err
	}
	if err := checkHeads("dim", "n_heads", c.Hidden, c.Heads); err != nil {
		return err
	}
	return checkActivation("activation", c.Activation)
}

func (c *distilBertConfig) network() network {
	return &postNorm{
		vocab: c.VocabSize, hidden: c.Hidden, layers: c.Layers, heads: c.Heads, inner: c.Inner,
		positions: c.Positions, eps: defaultEps, activation: c.Activation,
		names: map[string]string{
			"layers": "transformer.layer", "query": "attention.q_lin", "key": "attention.k_lin", "value": "attention.v_lin",
			"output": "attention.out_lin", "output norm": "sa_layer_norm",
			"inner": "ffn.lin1", "outer": "ffn.lin2", "outer norm": "output_layer_norm",
			"head dense": "pre_classifier", "head out": "classifier",
		},
		known: "embeddings.word_embeddings.weight", headActivation: "relu",
	}
}
