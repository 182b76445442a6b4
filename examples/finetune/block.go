package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// tuned is the part of the encoder that is trained: its last block.
type tuned struct {
	Block nn.TransformerBlock `weight:"block"`
}

// config is what has to be known of config.json.
type config struct {
	Architecture string  `json:"model_type"`
	Hidden       int     `json:"hidden_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	Inner        int     `json:"intermediate_size"`
	Activation   string  `json:"hidden_act"`
	Eps          float64 `json:"layer_norm_eps"`
}

func readConfig(fsys fs.FS) (*config, error) {
	text, err := fs.ReadFile(fsys, "config.json")
	if err != nil {
		return nil, err
	}
	c := &config{Eps: 1e-12}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if c.Architecture != "bert" || c.Activation != "gelu" || c.Layers < 1 {
		return nil, errors.New("config.json: only encoders of type bert with the activation gelu can be tuned here")
	}
	return c, nil
}

// names are what BERT's files call the parts of a block.
var names = []struct{ block, file string }{
	{"self_attn.q_proj", "attention.self.query"},
	{"self_attn.k_proj", "attention.self.key"},
	{"self_attn.v_proj", "attention.self.value"},
	{"self_attn.out_proj", "attention.output.dense"},
	{"norm1", "attention.output.LayerNorm"},
	{"linear1", "intermediate.dense"},
	{"linear2", "output.dense"},
	{"norm2", "output.LayerNorm"},
}

// fileName is what the file calls a variable of tuned, such as
// block.linear1.weight.
func fileName(prefix, variable string) string {
	part := strings.TrimPrefix(variable, "block.")
	for _, n := range names {
		if kind, ok := strings.CutPrefix(part, n.block+"."); ok {
			return prefix + n.file + "." + kind
		}
	}
	return prefix + part
}

// blockPrefix stands before the names of the last block's weights.
func blockPrefix(f *safetensors.File, c *config) (string, error) {
	last := fmt.Sprintf("encoder.layer.%d.", c.Layers-1)
	for _, name := range f.Names() {
		if before, ok := strings.CutSuffix(name, last+names[0].file+".weight"); ok {
			return before + last, nil
		}
	}
	return "", fmt.Errorf("%s: the last block is missing", f.Name())
}

// newTuned makes the block with the weights of the file.
func newTuned(f *safetensors.File, c *config) (*tuned, error) {
	prefix, err := blockPrefix(f, c)
	if err != nil {
		return nil, err
	}
	t := &tuned{nn.TransformerBlock{Width: c.Hidden, Heads: c.Heads, Inner: c.Inner, PostNorm: true, Eps: c.Eps}}
	t.Block.Attention.Separate = true
	return t, nn.Init(t, nn.Options{Initializer: func(name string, _ []int) nn.Initializer {
		return func(*sinter.Rand, []int) sinter.Tensor { return weight(f, fileName(prefix, name)) }
	}})
}

// weight is a tensor of the file as f32. One of 8-bit integers has a factor for
// each row beside it.
func weight(f *safetensors.File, name string) sinter.Tensor {
	w, ok := f.Tensor(name)
	if !ok {
		return sinter.Fail(fmt.Errorf("%s has no tensor %s", f.Name(), name))
	}
	x := sinter.Weight(name, w.DType, w.Data, w.Shape...).Cast(sinter.F32)
	if scale, ok := f.Tensor(name + scaleSuffix); ok && w.DType == sinter.I8 {
		x = x.Mul(sinter.Weight(scale.Name, scale.DType, scale.Data, scale.Shape...))
	}
	return x
}

const scaleSuffix = ".scale"

// embed gives the vectors of texts, [texts, width], from what the block before
// the last made of their tokens: x [tokens, width], text after text.
func (t *tuned) embed(x, offsets sinter.Tensor, m *nn.Mode) sinter.Tensor {
	return sinter.SegmentMean(t.Block.Attend(x, nn.AttentionInput{Offsets: offsets}, m), offsets)
}
