package nn

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// Positions is a learned vector for each place in a sequence.
type Positions struct {
	Count, Width int

	Weight *sinter.Variable `weight:"weight"` // [Count, Width]

	path string
}

// Make is for Init.
func (p *Positions) Make(b *Builder) error {
	p.path = b.Path()
	b.Variable(&p.Weight, Normal(0, 1), p.Count, p.Width)
	return checkSizes(size{"Count", p.Count}, size{"Width", p.Width})
}

// Forward adds to x [..., places, Width] the vectors of its places.
func (p *Positions) Forward(x sinter.Tensor) sinter.Tensor {
	at := layer{"Positions", p.path}
	if x.Err() == nil && x.Rank() < 2 {
		return at.failf([]sinter.Tensor{x}, "want [..., places, %d]", p.Width)
	}
	return at.named(x.Add(read(p.Weight).Narrow(0, sinter.N(0), x.Dim(-2))), x)
}

// Sinusoidal is a table of positions without weights [count, width]: sine and
// cosine in turn, of the place times 10000^(-i/width) for the even i (Vaswani
// et al., Attention is all you need, 2017).
func Sinusoidal(dt sinter.DType, count, width int) sinter.Tensor {
	if err := checkSizes(size{"count", count}, size{"width", width}); err != nil {
		return sinter.Fail(err)
	}
	if width%2 != 0 {
		return sinter.Fail(fmt.Errorf("a width of %d does not divide into sines and cosines", width))
	}
	angles := angles(sinter.Iota(sinter.F64, 0, sinter.N(count)), width, 10000)
	return sinter.Stack(-1, angles.Sin(), angles.Cos()).Reshape(count, width).Cast(dt)
}

// angles are places times base^(-i/width) for the even i: [..., width/2], F64,
// since the angle of a place far behind has many turns.
func angles(places sinter.Tensor, width int, base float64) sinter.Tensor {
	rates := make([]float64, width/2)
	for i := range rates {
		rates[i] = math.Pow(base, -float64(2*i)/float64(width))
	}
	return places.Unsqueeze(-1).Mul(sinter.Of(rates, width/2))
}

// Rotary turns pairs of elements of queries and keys by angles that grow with
// their place, so that their products depend on distance alone (Su et al.,
// RoFormer, 2021).
type Rotary struct {
	Base float64 // of the angles; 0: 10000
	// Interleaved pairs neighbours, as GPT-J does, instead of the halves of a
	// vector, as Llama and most others do.
	Interleaved bool
}

// Rotate turns x [..., places, width] by the places given, integers [places], or
// by 0, 1, ... for the zero Tensor.
func (r Rotary) Rotate(x, places sinter.Tensor) sinter.Tensor {
	at := layer{kind: "Rotary"}
	if x.Err() != nil {
		return x
	}
	width, ok := x.Dim(-1).Const()
	if !ok || width%2 != 0 || width > maxSize || x.Rank() < 2 {
		return at.failf([]sinter.Tensor{x}, "want [..., places, an even width]")
	}
	if !(orDefault(r.Base, 10000) > 0) {
		return at.failf([]sinter.Tensor{x}, "Base is %v", r.Base)
	}
	if !given(places) {
		places = sinter.Iota(sinter.F64, 0, x.Dim(-2))
	}
	a := angles(places.Cast(sinter.F64), width, orDefault(r.Base, 10000))
	cos, sin := a.Cos().Cast(x.DType()), a.Sin().Cast(x.DType())
	half := sinter.N(width / 2)
	first, second := x.Narrow(-1, sinter.N(0), half), x.Narrow(-1, half, half)
	if r.Interleaved {
		pairs := x.ReshapeDims(append(x.Shape()[:x.Rank()-1], half, sinter.N(2))...)
		first, second = pairs.Index(-1, 0), pairs.Index(-1, 1)
	}
	turned := []sinter.Tensor{first.Mul(cos).Sub(second.Mul(sin)), second.Mul(cos).Add(first.Mul(sin))}
	if r.Interleaved {
		return at.named(sinter.Stack(-1, turned...).ReshapeDims(x.Shape()...), x, places)
	}
	return at.named(sinter.Concat(-1, turned...), x, places)
}
