package sinter

// LSTMOptions hold what an LSTM may have beside its weights. The zero Tensor
// is none.
type LSTMOptions struct {
	InputBias, HiddenBias Tensor // [4H]
	H0, C0                Tensor // [batch, H]; absent: zeros
}

// LSTM runs a long short-term memory over x [time, batch, in] with weights
// [4H, in] and [4H, H], gates in the order input, forget, cell, output (as
// PyTorch has them). It gives the outputs [time, batch, H] and the last output
// and cell [batch, H]. It unrolls, so the number of steps is a constant.
func LSTM(x, inputWeight, hiddenWeight Tensor, o LSTMOptions) (ys, h, c Tensor) {
	given := []Tensor{x, inputWeight, hiddenWeight}
	fails := func(bad Tensor) (Tensor, Tensor, Tensor) { return bad, bad, bad }
	if bad, ok := firstErr(given...); ok {
		return fails(bad)
	}
	if len(x.v.Shape) != 3 || len(hiddenWeight.v.Shape) != 2 {
		return fails(failf(given, "want x [time, batch, in] and weights of rank 2"))
	}
	steps, ok := x.v.Shape[0].Const()
	if !ok || steps < 1 {
		return fails(failf(given, "%v steps: want a constant of at least 1", x.v.Shape[0]))
	}
	hidden := hiddenWeight.v.Shape[1]
	h, c = o.H0, o.C0
	if h.v == nil {
		h = Zeros(x.v.DType, x.v.Shape[1], hidden)
	}
	if c.v == nil {
		c = Zeros(x.v.DType, x.v.Shape[1], hidden)
	}
	gates := Linear(x, inputWeight, o.InputBias) // of all steps in one product
	outs := make([]Tensor, steps)
	for t := range outs {
		g := gates.Index(0, t).Add(Linear(h, hiddenWeight, o.HiddenBias))
		gate := func(i int) Tensor { return g.Narrow(-1, hidden.Mul(N(i)), hidden) }
		c = gate(1).Sigmoid().Mul(c).Add(gate(0).Sigmoid().Mul(gate(2).Tanh()))
		h = gate(3).Sigmoid().Mul(c.Tanh())
		if bad, ok := firstErr(h, c); ok {
			return fails(bad)
		}
		outs[t] = h
	}
	return Stack(0, outs...), h, c
}
