package model

import "github.com/sinterml/sinter"

// headWeights are what a cross-encoder has behind its encoder: a layer of the
// same width, in some a normalisation, and the layer of one number a label.
type headWeights struct {
	Dense struct {
		Weight sinter.Tensor `weight:"weight" shape:"hidden hidden"`
		Bias   sinter.Tensor `weight:"bias" shape:"hidden" when:"dense bias"`
	} `weight:"head dense"`
	Norm optionalNorm `weight:"head norm" when:"head norm"`
	Out  struct {
		Weight sinter.Tensor `weight:"weight" shape:"labels hidden"`
		Bias   sinter.Tensor `weight:"bias" shape:"labels"`
	} `weight:"head out"`
}

// optionalNorm is a normalisation whose bias may be left out.
type optionalNorm struct {
	Weight sinter.Tensor `weight:"weight" shape:"hidden"`
	Bias   sinter.Tensor `weight:"bias" shape:"hidden" when:"norm bias"`
}

// bindHead reads a head. Names that begin with a dot stand below the
// encoder's prefix, the others at the top.
func (b *binder) bindHead(h *headWeights) error { return b.bind("", h) }

// logits turns pooled states [B, hidden] into [B, labels].
func (h *headWeights) logits(x sinter.Tensor, activation func(sinter.Tensor) sinter.Tensor, eps float64) sinter.Tensor {
	x = activation(sinter.Linear(x, h.Dense.Weight, h.Dense.Bias))
	if h.Norm.Weight != (sinter.Tensor{}) {
		x = sinter.LayerNorm(x, h.Norm.Weight, h.Norm.Bias, eps)
	}
	return sinter.Linear(x, h.Out.Weight, h.Out.Bias)
}
