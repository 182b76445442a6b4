package flattest

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/loop"
)

// lanes is an operation for all work-items at once, those too that do not take part:
// it leaves nothing open.
type lanes func(to, x, y, z []uint64)

// often gives what occurs most as lanes, which agrees with Eval, and nil for others.
func often(op flat.Op, from, to flat.Type) lanes {
	switch {
	case op == flat.Select:
		return func(to, c, x, y []uint64) {
			x, y, c = x[:len(to)], y[:len(to)], c[:len(to)]
			for i := range to {
				if to[i] = y[i]; c[i] != 0 {
					to[i] = x[i]
				}
			}
		}
	case from == flat.F32:
		return oftenFloat(op)
	case from.IsFloat():
		return nil
	case from == flat.I32 && op == flat.Less, from == flat.I32 && op == flat.ExtendS:
		return oftenSigned(op)
	case from == flat.I32 && op != flat.LessU && op != flat.Equal:
		return oftenInt32(op)
	case from == flat.Bool && op != flat.And && op != flat.Or && op != flat.Xor:
		return nil
	}
	return oftenInt(op)
}

func pairs(f func(x, y uint64) uint64) lanes {
	return func(to, x, y, _ []uint64) {
		x, y = x[:len(to)], y[:len(to)]
		for i := range to {
			to[i] = f(x[i], y[i])
		}
	}
}

// oftenInt is of integers of 64 bits; what has no more bits than its operands, of
// fewer too.
func oftenInt(op flat.Op) lanes {
	switch op {
	case flat.Add:
		return func(to, x, y, _ []uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				to[i] = x[i] + y[i]
			}
		}
	case flat.Mul:
		return func(to, x, y, _ []uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				to[i] = x[i] * y[i]
			}
		}
	case flat.Sub:
		return pairs(func(x, y uint64) uint64 { return x - y })
	case flat.And:
		return func(to, x, y, _ []uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				to[i] = x[i] & y[i]
			}
		}
	case flat.Or:
		return pairs(func(x, y uint64) uint64 { return x | y })
	case flat.Xor:
		return pairs(func(x, y uint64) uint64 { return x ^ y })
	case flat.Equal:
		return pairs(func(x, y uint64) uint64 { return truth(x == y) })
	case flat.Less:
		return pairs(func(x, y uint64) uint64 { return truth(int64(x) < int64(y)) })
	case flat.LessU:
		return pairs(func(x, y uint64) uint64 { return truth(x < y) })
	case flat.Narrow:
		return func(to, x, _, _ []uint64) {
			for i := range to {
				to[i] = uint64(uint32(x[i]))
			}
		}
	}
	return nil
}

// oftenInt32 is of integers of 32 bits whose sign makes no difference.
func oftenInt32(op flat.Op) lanes {
	switch op {
	case flat.Add:
		return func(to, x, y, _ []uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				to[i] = uint64(uint32(x[i] + y[i]))
			}
		}
	case flat.Mul:
		return func(to, x, y, _ []uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				to[i] = uint64(uint32(x[i] * y[i]))
			}
		}
	case flat.Sub:
		return pairs(func(x, y uint64) uint64 { return uint64(uint32(x - y)) })
	case flat.And, flat.Or, flat.Xor:
		return oftenInt(op)
	case flat.ExtendU:
		return func(to, x, _, _ []uint64) { copy(to, x) }
	}
	return nil
}

// oftenSigned is of integers of 32 bits with a sign.
func oftenSigned(op flat.Op) lanes {
	if op == flat.Less {
		return pairs(func(x, y uint64) uint64 { return truth(int32(x) < int32(y)) })
	}
	return func(to, x, _, _ []uint64) {
		for i := range to {
			to[i] = uint64(int64(int32(x[i])))
		}
	}
}

func oftenFloat(op flat.Op) lanes {
	number, bits := func(x uint64) float32 { return math.Float32frombits(uint32(x)) }, func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	switch op {
	case flat.Add:
		return pairs(func(x, y uint64) uint64 { return bits(number(x) + number(y)) })
	case flat.Mul:
		return pairs(func(x, y uint64) uint64 { return bits(number(x) * number(y)) })
	case flat.FMA:
		return func(to, x, y, z []uint64) {
			x, y, z = x[:len(to)], y[:len(to)], z[:len(to)]
			for i := range to {
				to[i] = bits(loop.FMA32(number(x[i]), number(y[i]), number(z[i])))
			}
		}
	}
	return nil
}
