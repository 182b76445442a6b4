package flattest

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// TestOften compares what is done for all work-items at once with Eval.
func TestOften(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	draw := func(typ flat.Type) uint64 {
		x := rng.Uint64()
		if rng.IntN(3) == 0 {
			x = uint64(int64(rng.IntN(5)) - 2)
		}
		return x & mask(typ)
	}
	known := 0
	for op := flat.Add; op <= flat.FloatToHalf; op++ {
		for _, from := range []flat.Type{flat.Bool, flat.I32, flat.I64, flat.F32, flat.F64} {
			to := from
			switch op {
			case flat.Equal, flat.NotEqual, flat.Less, flat.LessU:
				to = flat.Bool
			case flat.ExtendS, flat.ExtendU:
				to = flat.I64
			case flat.Narrow:
				to = flat.I32
			}
			f := often(op, from, to)
			if f == nil || (op == flat.ExtendS || op == flat.ExtendU) && from != flat.I32 || op == flat.Narrow && from != flat.I64 {
				continue
			}
			known++
			var in [3][]uint64
			for i := range in {
				for range 500 {
					typ := from
					if op == flat.Select && i == 0 {
						typ = flat.Bool
					}
					in[i] = append(in[i], draw(typ))
				}
			}
			got := make([]uint64, len(in[0]))
			f(got, in[0], in[1], in[2])
			for i, g := range got {
				args := []uint64{in[0][i], in[1][i], in[2][i]}
				want, err := Eval(op, from, to, args)
				nan := from == flat.F32 && number(from, g) != number(from, g) && number(from, want) != number(from, want)
				if err != nil || g != want && !nan {
					t.Errorf("%v of %v: %#x: %#x, not %#x: %v", op, from, args, g, want, err)
					break
				}
			}
		}
	}
	if known < 30 {
		t.Errorf("%d operations", known)
	}
}
