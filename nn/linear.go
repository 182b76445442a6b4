package nn

import (
	"math"

	"github.com/sinterml/sinter"
)

// Linear is x W' + b over the last axis.
type Linear struct {
	In, Out int
	NoBias  bool

	Weight *sinter.Variable `weight:"weight"` // [Out, In]
	Bias   *sinter.Variable `weight:"bias"`   // [Out]

	path     string
	zeroBias bool // at first
}

// Make is for Init.
func (l *Linear) Make(b *Builder) error {
	l.path = b.Path()
	if err := checkSizes(size{"In", l.In}, size{"Out", l.Out}); err != nil {
		return err
	}
	b.Variable(&l.Weight, KaimingUniform(math.Sqrt(5)), l.Out, l.In)
	bias := fanUniform(l.In)
	if l.zeroBias {
		bias = Constant(0)
	}
	b.optional(!l.NoBias, &l.Bias, bias, l.Out)
	return nil
}

// Forward maps x [..., In] to [..., Out].
func (l *Linear) Forward(x sinter.Tensor) sinter.Tensor {
	y := sinter.Linear(x, read(l.Weight), readIf(!l.NoBias, l.Bias))
	return layer{"Linear", l.path}.named(y, x)
}

// fanUniform is how PyTorch begins biases: uniform up to 1/sqrt(fan in).
func fanUniform(in int) Initializer {
	bound := 1 / math.Sqrt(float64(in))
	return Uniform(-bound, bound)
}

// Embedding is a table of vectors by number.
type Embedding struct {
	Count, Width int
	// Padding is a number whose vector begins at 0 and is not trained; nil: none.
	Padding *int

	Weight *sinter.Variable `weight:"weight"` // [Count, Width]

	path string
}

// Make is for Init.
func (e *Embedding) Make(b *Builder) error {
	e.path = b.Path()
	if err := checkSizes(size{"Count", e.Count}, size{"Width", e.Width}); err != nil {
		return err
	}
	init := Normal(0, 1)
	if e.Padding != nil {
		init = func(r *sinter.Rand, sizes []int) sinter.Tensor {
			row := sinter.Iota(sinter.I64, 0, sinter.Dims(e.Count, 1)...)
			x := Normal(0, 1)(r, sizes)
			return sinter.Where(row.Equal(sinter.Scalar(float64(*e.Padding))), sinter.Scalar(0), x)
		}
	}
	b.Variable(&e.Weight, init, e.Count, e.Width)
	return nil
}

// Forward looks up ids, integers [...], and gives [..., Width].
func (e *Embedding) Forward(ids sinter.Tensor) sinter.Tensor {
	y := read(e.Weight).Take(ids, 0)
	if e.Padding != nil {
		padding := ids.Equal(sinter.Scalar(float64(*e.Padding))).Unsqueeze(-1)
		y = sinter.Where(padding, y.Detach(), y)
	}
	return layer{"Embedding", e.path}.named(y, ids)
}

// Logits compares x [..., Width] with every vector: [..., Count]. It is a last
// layer whose weights are tied to the first.
func (e *Embedding) Logits(x sinter.Tensor) sinter.Tensor {
	return layer{"Embedding", e.path}.named(sinter.Linear(x, read(e.Weight), sinter.Tensor{}), x)
}
