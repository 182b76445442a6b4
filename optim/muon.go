package optim

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// Muon follows a momentum whose singular values are brought close to 1, by five
// steps of a Newton-Schulz iteration. It is for matrices within a network;
// embeddings, output layers and vectors want another method beside it. Source:
// Jordan et al., "Muon: An optimizer for hidden layers in neural networks",
// 2024.
type Muon struct {
	Momentum    float64 // share of the old momentum that is kept; 0: 0.95
	Plain       bool    // do not look ahead along the momentum, as Nesterov does
	WeightDecay float64 // share of the parameter that a step at learning rate 1 takes away
	// MatchAdam scales steps to the size of AdamW's, so that its learning rates
	// serve (Liu et al., 2025): by 0.2 * sqrt(max(rows, columns)). Else tall
	// matrices alone make larger steps: sqrt(rows/columns).
	MatchAdam bool
}

func (m Muon) check(p sinter.Tensor) error {
	if p.Rank() != 2 {
		return fmt.Errorf("it has rank %d: Muon is for matrices; put it into a group with AdamW", p.Rank())
	}
	return firstOf(within("Momentum", m.Momentum, 0, 1), within("WeightDecay", m.WeightDecay, 0, math.Inf(1)))
}

func (m Muon) state() []slot { return []slot{{name: "muon.momentum"}} }

func (m Muon) update(s step) (sinter.Tensor, []sinter.Tensor) {
	keep := or(m.Momentum, 0.95)
	v := mix(s.state[0], s.grad, keep)
	way := v
	if !m.Plain {
		way = mix(v, s.grad, keep)
	}
	way = orthogonal(way)
	rows, _ := s.param.Dim(0).Const()
	columns, _ := s.param.Dim(1).Const()
	size := math.Sqrt(max(1, float64(rows)/float64(columns)))
	if m.MatchAdam {
		size = 0.2 * math.Sqrt(float64(max(rows, columns)))
	}
	return s.shrunk(m.WeightDecay).Sub(way.Mul(scale(s.rate, size))), []sinter.Tensor{v}
}

// orthogonal is u v^T of a matrix u s v^T, roughly: its singular values lie
// between 0.7 and 1.2. Each step is a x + (b g + c g g) x with g = x x^T.
func orthogonal(x sinter.Tensor) sinter.Tensor {
	const a, b, c, steps = 3.4445, -4.7750, 2.0315, 5
	rows, _ := x.Dim(0).Const()
	columns, _ := x.Dim(1).Const()
	tall := rows > columns
	if tall {
		x = x.T()
	}
	x = x.Div(Norm(x).Maximum(sinter.Scalar(1e-7)))
	for range steps {
		g := x.MatMul(x.T())
		x = x.Mul(sinter.Scalar(a)).Add(g.Mul(sinter.Scalar(b)).Add(g.MatMul(g).Mul(sinter.Scalar(c))).MatMul(x))
	}
	if tall {
		return x.T()
	}
	return x
}
