package model

import (
	"maps"

	"github.com/sinterml/sinter"
)

// postNorm is the encoder of BERT and its kin: learned positions, and blocks
// that normalise the sum after attention and after two layers. They differ in
// a few sizes and in what their files call the weights. Source: Devlin et al.,
// "BERT: Pre-training of Deep Bidirectional Transformers", 2018.
type postNorm struct {
	vocab, hidden, layers, heads, inner int
	positions                           int // rows of the table
	first                               int // the position of a text's first token
	types                               int // rows of the table of type embeddings; 0: there is none
	buckets                             int // of relative positions; 0: attention has no bias
	eps                                 float64
	activation                          string
	// names are what the file calls the parts of postNormWeights and
	// headWeights, and known is a weight that shows the prefix of all.
	names map[string]string
	known string
	// headActivation stands between the two layers of the classification head.
	headActivation string

	weights postNormWeights
	bias    sinter.Tensor // on attention's scores, or the zero Tensor
	head    headWeights
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
		Weight sinter.Tensor `weight:"weight" shape:"hidden" old:"gamma"`
		Bias   sinter.Tensor `weight:"bias" shape:"hidden" old:"beta"`
	}
	postNormLayer struct {
		Query      hiddenLinear `weight:"query"`
		Key        hiddenLinear `weight:"key"`
		Value      hiddenLinear `weight:"value"`
		Output     hiddenLinear `weight:"output"`
		OutputNorm layerNorm    `weight:"output norm"`
		Inner      innerLinear  `weight:"inner"`
		Outer      outerLinear  `weight:"outer"`
		OuterNorm  layerNorm    `weight:"outer norm"`
	}
	postNormWeights struct {
		Words     sinter.Tensor   `weight:"embeddings.word_embeddings.weight" shape:"vocab hidden"`
		Positions sinter.Tensor   `weight:"embeddings.position_embeddings.weight" shape:"positions hidden"`
		Types     sinter.Tensor   `weight:"embeddings.token_type_embeddings.weight" shape:"types hidden" when:"types"`
		Norm      layerNorm       `weight:"embeddings.LayerNorm"`
		Layers    []postNormLayer `weight:"layers" count:"layers"`
		Relative  sinter.Tensor   `weight:"encoder.relative_attention_bias.weight" shape:"buckets heads" when:"buckets"`
	}
)

// bertNames are those of BERT and RoBERTa.
var bertNames = map[string]string{
	"layers": "encoder.layer", "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
	"output": "attention.output.dense", "output norm": "attention.output.LayerNorm",
	"inner": "intermediate.dense", "outer": "output.dense", "outer norm": "output.LayerNorm",
}

// with is a copy of names with others beside them.
func with(names, more map[string]string) map[string]string {
	all := maps.Clone(names)
	maps.Copy(all, more)
	return all
}

func (m *postNorm) dims() dims {
	return dims{vocab: m.vocab, hidden: m.hidden, tokens: m.positions - m.first, types: m.types > 1}
}

func (m *postNorm) sizes() map[string]int {
	return map[string]int{
		"vocab": m.vocab, "hidden": m.hidden, "inner": m.inner, "layers": m.layers, "heads": m.heads,
		"positions": m.positions, "types": m.types, "buckets": m.buckets, "dense bias": 1, "labels": 1,
	}
}

func (m *postNorm) bind(b *binder) error {
	b.sizes, b.names = m.sizes(), m.names
	if err := b.findPrefix(m.known); err != nil {
		return err
	}
	return b.bind(b.prefix, &m.weights)
}

func (m *postNorm) bindHead(b *binder) error { return b.bindHead(&m.head) }

func (m *postNorm) forward(in Inputs) []sinter.Tensor {
	w := &m.weights
	positions := sinter.Positions(in.Offsets, in.IDs.Dim(0))
	if m.first > 0 {
		positions = positions.Add(sinter.Scalar(float64(m.first)))
	}
	x := w.Words.Take(in.IDs, 0).Add(w.Positions.Take(positions, 0))
	switch {
	case m.types == 0:
	case m.types == 1 || in.TypeIDs == (sinter.Tensor{}):
		x = x.Add(w.Types.Index(0, 0))
	default:
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

func (m *postNorm) block(x sinter.Tensor, w *postNormLayer, offsets sinter.Tensor) sinter.Tensor {
	heads := func(l hiddenLinear) sinter.Tensor {
		return sinter.Linear(x, l.Weight, l.Bias).Reshape(-1, m.heads, m.hidden/m.heads)
	}
	a, _ := sinter.Attention(heads(w.Query), heads(w.Key), heads(w.Value), sinter.AttentionOptions{QOffsets: offsets, KOffsets: offsets, Mask: m.bias})
	a = sinter.Linear(a.Reshape(-1, m.hidden), w.Output.Weight, w.Output.Bias)
	x = m.norm(x.Add(a), w.OutputNorm)
	y := activations[m.activation](sinter.Linear(x, w.Inner.Weight, w.Inner.Bias))
	return m.norm(x.Add(sinter.Linear(y, w.Outer.Weight, w.Outer.Bias)), w.OuterNorm)
}

func (m *postNorm) norm(x sinter.Tensor, w layerNorm) sinter.Tensor {
	return sinter.LayerNorm(x, w.Weight, w.Bias, m.eps)
}

func (m *postNorm) logits(x, offsets sinter.Tensor) sinter.Tensor {
	return m.head.logits(PoolCLS.apply(x, offsets), activations[m.headActivation], m.eps)
}
