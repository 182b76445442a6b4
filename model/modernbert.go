package model

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// modernBertConfig is config.json of a ModernBERT encoder: blocks that
// normalise before each step, gated layers, rotary positions, and attention to
// a window of neighbours in all blocks but each third. Source: Warner et al.,
// "Smarter, Better, Faster, Longer", 2024.
type modernBertConfig struct {
	VocabSize  int     `json:"vocab_size"`
	Hidden     int     `json:"hidden_size"`
	Layers     int     `json:"num_hidden_layers"`
	Heads      int     `json:"num_attention_heads"`
	Inner      int     `json:"intermediate_size"`
	Activation string  `json:"hidden_activation"`
	Positions  int     `json:"max_position_embeddings"`
	Eps        float64 `json:"norm_eps"`

	NormBias      bool `json:"norm_bias"`
	AttentionBias bool `json:"attention_bias"`
	InnerBias     bool `json:"mlp_bias"`

	Window      *int     `json:"local_attention"` // tokens that a query sees, half on each side
	HalfWindow  *int     `json:"sliding_window"`  // that half, in files without the other
	GlobalEvery int      `json:"global_attn_every_n_layers"`
	LayerTypes  []string `json:"layer_types"` // newer files have a name for each block instead
	GlobalTheta float64  `json:"global_rope_theta"`
	LocalTheta  float64  `json:"local_rope_theta"`
	Rope        struct {
		Global *ropeConfig `json:"full_attention"`
		Local  *ropeConfig `json:"sliding_attention"`
		ropeConfig
	} `json:"rope_parameters"` // and the two angles here
	RopeScaling *struct{} `json:"rope_scaling"`

	HeadPooling    string `json:"classifier_pooling"`
	HeadBias       bool   `json:"classifier_bias"`
	HeadActivation string `json:"classifier_activation"`
}

type ropeConfig struct {
	Type    string   `json:"rope_type"`
	OldType string   `json:"type"`
	Theta   *float64 `json:"rope_theta"`
	Partial *float64 `json:"partial_rotary_factor"`
}

// check refuses what is not the plain kind.
func (r *ropeConfig) check() error {
	if kind := cmp.Or(r.Type, r.OldType); kind != "" && kind != "default" {
		return fmt.Errorf("rope_type %.80q is not supported: only default", kind)
	}
	if r.Partial != nil && *r.Partial != 1 {
		return fmt.Errorf("partial_rotary_factor %v is not supported: only 1", *r.Partial)
	}
	return nil
}

const globalLayer, localLayer = "full_attention", "sliding_attention"

func newModernBertConfig() configuration {
	return &modernBertConfig{
		Activation: "gelu", Eps: 1e-5, GlobalEvery: 3, GlobalTheta: 160000, LocalTheta: 10000,
		HeadPooling: "cls", HeadActivation: "gelu",
	}
}

func (c *modernBertConfig) check() error {
	if err := c.checkWindow(); err != nil {
		return err
	}
	if err := checkSizes(
		size{"vocab_size", c.VocabSize, 1, maxSize}, size{"hidden_size", c.Hidden, 1, maxSize}, size{"num_hidden_layers", c.Layers, 1, maxLayers},
		size{"num_attention_heads", c.Heads, 1, maxSize}, size{"intermediate_size", c.Inner, 1, maxSize},
		size{"max_position_embeddings", c.Positions, 1, maxSize}, size{"local_attention", *c.Window, 1, maxSize},
		size{"global_attn_every_n_layers", c.GlobalEvery, 1, maxLayers},
	); err != nil {
		return err
	}
	if err := checkHeads("hidden_size", "num_attention_heads", c.Hidden, c.Heads); err != nil {
		return err
	}
	if c.Hidden/c.Heads%2 != 0 {
		return fmt.Errorf("hidden_size %d over num_attention_heads %d is odd: rotary positions turn pairs", c.Hidden, c.Heads)
	}
	if err := checkActivation("hidden_activation", c.Activation); err != nil {
		return err
	}
	if err := checkActivation("classifier_activation", c.HeadActivation); err != nil {
		return err
	}
	if c.HeadPooling != "cls" && c.HeadPooling != "mean" {
		return fmt.Errorf("classifier_pooling %.80q is not known: cls or mean", c.HeadPooling)
	}
	if err := checkEps("norm_eps", c.Eps); err != nil {
		return err
	}
	if err := c.checkLayerTypes(); err != nil {
		return err
	}
	return c.checkRope()
}

// checkWindow takes the window over from where some files have it.
func (c *modernBertConfig) checkWindow() error {
	switch {
	case c.HalfWindow == nil && c.Window == nil:
		c.Window = new(128)
	case c.HalfWindow == nil:
	case *c.HalfWindow < 0 || *c.HalfWindow > maxSize/2:
		return fmt.Errorf("sliding_window is %d, want 0 to %d", *c.HalfWindow, maxSize/2)
	case c.Window == nil:
		c.Window = new(max(2**c.HalfWindow, 1))
	case *c.Window/2 != *c.HalfWindow:
		return fmt.Errorf("sliding_window is %d and local_attention %d: want half of it", *c.HalfWindow, *c.Window)
	}
	return nil
}

func (c *modernBertConfig) checkLayerTypes() error {
	if c.LayerTypes == nil {
		return nil
	}
	if len(c.LayerTypes) != c.Layers {
		return fmt.Errorf("layer_types has %d entries for the %d blocks of num_hidden_layers", len(c.LayerTypes), c.Layers)
	}
	for i, t := range c.LayerTypes {
		if t != globalLayer && t != localLayer {
			return fmt.Errorf("layer_types: %.80q of block %d is not known: %s or %s", t, i, globalLayer, localLayer)
		}
	}
	return nil
}

// checkRope also takes the angles over from where newer files have them.
func (c *modernBertConfig) checkRope() error {
	if c.RopeScaling != nil {
		return fmt.Errorf("rope_scaling is not supported")
	}
	if c.Rope.ropeConfig != (ropeConfig{}) {
		return fmt.Errorf("rope_parameters has angles for all blocks alike: want those of %s and %s", globalLayer, localLayer)
	}
	for _, r := range []struct {
		key, old string
		rope     *ropeConfig
		theta    *float64
	}{
		{"rope_parameters.full_attention", "global_rope_theta", c.Rope.Global, &c.GlobalTheta},
		{"rope_parameters.sliding_attention", "local_rope_theta", c.Rope.Local, &c.LocalTheta},
	} {
		key := r.old
		if r.rope != nil {
			if err := r.rope.check(); err != nil {
				return fmt.Errorf("%s: %w", r.key, err)
			}
			if r.rope.Theta != nil {
				key, *r.theta = r.key+": rope_theta", *r.rope.Theta
			}
		}
		if !(*r.theta >= 1 && *r.theta <= 1e12) {
			return fmt.Errorf("%s is %v, want 1 to 1e12", key, *r.theta)
		}
	}
	return nil
}

// local tells whether block i sees a window alone.
func (c *modernBertConfig) local(i int) bool {
	if c.LayerTypes != nil {
		return c.LayerTypes[i] == localLayer
	}
	return i%c.GlobalEvery != 0
}

func (c *modernBertConfig) network() network { return &modernBert{config: *c} }

type (
	modernLayer struct {
		AttentionNorm optionalNorm `weight:"attn_norm" when:"index"` // the first block has none: the embeddings are normalised
		QKV           struct {
			Weight sinter.Tensor `weight:"weight" shape:"qkv hidden"`
			Bias   sinter.Tensor `weight:"bias" shape:"qkv" when:"attention bias"`
		} `weight:"attn.Wqkv"`
		Output struct {
			Weight sinter.Tensor `weight:"weight" shape:"hidden hidden"`
			Bias   sinter.Tensor `weight:"bias" shape:"hidden" when:"attention bias"`
		} `weight:"attn.Wo"`
		InnerNorm optionalNorm `weight:"mlp_norm"`
		Inner     struct {
			Weight sinter.Tensor `weight:"weight" shape:"gated hidden"`
			Bias   sinter.Tensor `weight:"bias" shape:"gated" when:"inner bias"`
		} `weight:"mlp.Wi"`
		Outer struct {
			Weight sinter.Tensor `weight:"weight" shape:"hidden inner"`
			Bias   sinter.Tensor `weight:"bias" shape:"hidden" when:"inner bias"`
		} `weight:"mlp.Wo"`
	}
	modernWeights struct {
		Words  sinter.Tensor `weight:"embeddings.tok_embeddings.weight" shape:"vocab hidden"`
		Norm   optionalNorm  `weight:"embeddings.norm"`
		Layers []modernLayer `weight:"layers" count:"layers"`
		Last   optionalNorm  `weight:"final_norm"`
	}
)

type modernBert struct {
	config  modernBertConfig
	weights modernWeights
	head    headWeights
}

func (m *modernBert) dims() dims {
	return dims{vocab: m.config.VocabSize, hidden: m.config.Hidden, tokens: m.config.Positions}
}

func (m *modernBert) bind(b *binder) error {
	c := &m.config
	b.names = map[string]string{"head dense": "head.dense", "head norm": "head.norm", "head out": "classifier"}
	b.sizes = map[string]int{
		"vocab": c.VocabSize, "hidden": c.Hidden, "qkv": 3 * c.Hidden, "inner": c.Inner, "gated": 2 * c.Inner, "layers": c.Layers,
		"norm bias": one(c.NormBias), "attention bias": one(c.AttentionBias), "inner bias": one(c.InnerBias),
		"head norm": 1, "dense bias": one(c.HeadBias), "labels": 1,
	}
	if err := b.findPrefix("embeddings.tok_embeddings.weight"); err != nil {
		return err
	}
	return b.bind(b.prefix, &m.weights)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *modernBert) bindHead(b *binder) error { return b.bindHead(&m.head) }

func (m *modernBert) forward(in Inputs) []sinter.Tensor {
	w, c := &m.weights, &m.config
	positions := sinter.Positions(in.Offsets, in.IDs.Dim(0)).Cast(sinter.F32)
	width := c.Hidden / c.Heads
	global, local := newRotary(positions, c.GlobalTheta, width), newRotary(positions, c.LocalTheta, width)
	x := m.norm(w.Words.Take(in.IDs, 0), w.Norm)
	hidden := []sinter.Tensor{x}
	for i := range w.Layers {
		o, turn := sinter.AttentionOptions{QOffsets: in.Offsets, KOffsets: in.Offsets}, global
		if c.local(i) {
			turn = local
			o.Window = *c.Window/2 + 1 // a query sees half the window on each side, itself not counted
		}
		x = m.block(x, &w.Layers[i], turn, o)
		if i == len(w.Layers)-1 {
			x = m.norm(x, w.Last)
		}
		hidden = append(hidden, x)
	}
	return hidden
}

func (m *modernBert) block(x sinter.Tensor, w *modernLayer, turn rotary, o sinter.AttentionOptions) sinter.Tensor {
	c := &m.config
	y := x
	if w.AttentionNorm.Weight != (sinter.Tensor{}) {
		y = m.norm(x, w.AttentionNorm)
	}
	qkv := sinter.Linear(y, w.QKV.Weight, w.QKV.Bias).Reshape(-1, 3, c.Heads, c.Hidden/c.Heads)
	a, _ := sinter.Attention(turn.apply(qkv.Index(1, 0)), turn.apply(qkv.Index(1, 1)), qkv.Index(1, 2), o)
	x = x.Add(sinter.Linear(a.Reshape(-1, c.Hidden), w.Output.Weight, w.Output.Bias))
	parts := sinter.Linear(m.norm(x, w.InnerNorm), w.Inner.Weight, w.Inner.Bias).Split(1, c.Inner, c.Inner)
	y = activations[c.Activation](parts[0]).Mul(parts[1])
	return x.Add(sinter.Linear(y, w.Outer.Weight, w.Outer.Bias))
}

func (m *modernBert) norm(x sinter.Tensor, w optionalNorm) sinter.Tensor {
	return sinter.LayerNorm(x, w.Weight, w.Bias, m.config.Eps)
}

func (m *modernBert) logits(x, offsets sinter.Tensor) sinter.Tensor {
	p := PoolCLS
	if m.config.HeadPooling == "mean" {
		p = PoolMean
	}
	return m.head.logits(p.apply(x, offsets), activations[m.config.HeadActivation], m.config.Eps)
}

// rotary turns each pair of components of a head, i and i + width/2, by an
// angle that grows with the position. Source: Su et al., "RoFormer", 2021.
type rotary struct {
	half     int
	cos, sin sinter.Tensor // [N, 1, half]
}

func newRotary(positions sinter.Tensor, theta float64, width int) rotary {
	steps := make([]float32, width/2)
	for i := range steps {
		// Rounded at each step as in the reference implementation, so that the
		// angles of distant tokens are the same.
		steps[i] = 1 / float32(math.Pow(theta, float64(float32(2*i)/float32(width))))
	}
	angles := positions.Reshape(-1, 1, 1).Mul(sinter.Of(steps, 1, 1, len(steps)))
	return rotary{width / 2, angles.Cos(), angles.Sin()}
}

func (r rotary) apply(x sinter.Tensor) sinter.Tensor {
	halves := x.Split(-1, r.half, r.half)
	a, b := halves[0], halves[1]
	return sinter.Concat(-1, a.Mul(r.cos).Sub(b.Mul(r.sin)), b.Mul(r.cos).Add(a.Mul(r.sin)))
}
