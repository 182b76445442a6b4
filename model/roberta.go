package model

import "fmt"

// robertaConfig is config.json of RoBERTa and XLM-RoBERTa: BERT whose positions
// are counted from behind the padding token's. Source: Liu et al., "RoBERTa: A
// Robustly Optimized BERT Pretraining Approach", 2019.
type robertaConfig struct {
	bertConfig
	Pad int `json:"pad_token_id"`
}

func newRobertaConfig() configuration {
	return &robertaConfig{bertConfig: bertConfig{Activation: "gelu", Eps: defaultEps}, Pad: 1}
}

func (c *robertaConfig) check() error {
	if err := c.bertConfig.check(); err != nil {
		return err
	}
	return checkPad(c.Pad, c.Positions)
}

// checkPad wants room for a token behind the padding token's position.
func checkPad(pad, positions int) error {
	if pad < 0 || pad > positions-2 {
		return fmt.Errorf("pad_token_id is %d, want 0 to %d, as positions are counted from behind it and max_position_embeddings is %d", pad, positions-2, positions)
	}
	return nil
}

func (c *robertaConfig) network() network {
	m := c.encoder()
	m.first = c.Pad + 1
	m.names = with(bertNames, map[string]string{"head dense": "classifier.dense", "head out": "classifier.out_proj"})
	return m
}
