package irtest

import (
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
)

// Leaves are random numbers for the leaves of g, which has no indices: floats some
// of which are special, if asked for, and integers from 1 to 100.
func Leaves(rng *rand.Rand, g *ir.Graph, env ir.Env, special bool) [][]byte {
	var leaves [][]byte
	for _, l := range g.Leaves {
		d := l.Type.DType
		n, err := l.Type.Shape.Numel().Eval(env)
		if err != nil {
			panic(err)
		}
		b := make([]byte, 0, n*d.Size())
		for range n {
			f := rng.NormFloat64() * 2
			if special && rng.IntN(20) == 0 {
				f = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e-40, 3e38}[rng.IntN(6)]
			}
			bits := uint64(1 + rng.IntN(100))
			switch {
			case d == ir.Bool:
				bits &= 1
			case d.IsFloat():
				bits = encode(d, f)
			}
			b = appendElement(b, d, bits)
		}
		leaves = append(leaves, b)
	}
	return leaves
}
