package suite

import (
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
)

// Fill draws the bits of n elements of type d for a run with the given sizes.
type Fill func(rng *rand.Rand, d ir.DType, n int, env ir.Env) []uint64

// each makes a Fill that draws every element alike.
func each(f func(rng *rand.Rand, d ir.DType) uint64) Fill {
	return func(rng *rand.Rand, d ir.DType, n int, _ ir.Env) []uint64 {
		all := make([]uint64, n)
		for i := range all {
			all[i] = f(rng, d)
		}
		return all
	}
}

var (
	// Ordinary is numbers around 0.
	Ordinary = each(ordinary)
	// Special is ordinary numbers and, a third of all, those on which
	// shortcuts go wrong.
	Special = each(func(rng *rand.Rand, d ir.DType) uint64 {
		if rng.IntN(3) == 0 {
			return special(rng, d)
		}
		return ordinary(rng, d)
	})
	// Anything is any bits.
	Anything = each(anything)
	// Divisors has no 0.
	Divisors = each(func(rng *rand.Rand, d ir.DType) uint64 {
		for {
			if v := ordinary(rng, d); v != 0 {
				return v
			}
		}
	})
	// Shifts is counts, some below 0 and some past the width.
	Shifts = each(func(rng *rand.Rand, d ir.DType) uint64 {
		n := rng.IntN(8*d.Size() + 4)
		if !d.IsUnsigned() && rng.IntN(8) == 0 {
			n = -1 - rng.IntN(100)
		}
		return uint64(n) & mask(d)
	})
)

// Below is whole numbers from 0 to limit-1, for indices.
func Below(limit int) Fill {
	return each(func(rng *rand.Rand, d ir.DType) uint64 { return uint64(rng.IntN(limit)) })
}

// Given is the values, again and again.
func Given(values ...float64) Fill {
	return func(_ *rand.Rand, d ir.DType, n int, _ ir.Env) []uint64 {
		all := make([]uint64, n)
		for i := range all {
			bits, err := ir.Bits(d, values[i%len(values)])
			if err != nil {
				panic("devicetest: " + err.Error()) // the case itself is wrong
			}
			all[i] = bits
		}
		return all
	}
}

// Offsets cuts rows into segments, some of them empty.
func Offsets(rows ir.Dim) Fill {
	return func(rng *rand.Rand, _ ir.DType, n int, env ir.Env) []uint64 {
		total, err := rows.Eval(env)
		if err != nil {
			panic("devicetest: " + err.Error()) // the case itself is wrong
		}
		all := make([]uint64, n)
		at := 0
		for i := 1; i < n; i++ {
			if left := total - at; rng.IntN(3) > 0 && left > 0 {
				at += rng.IntN(left + 1)
			}
			all[i] = uint64(at)
		}
		all[n-1] = uint64(total)
		return all
	}
}

func mask(d ir.DType) uint64 { return ^uint64(0) >> (64 - 8*d.Size()) }

func anything(rng *rand.Rand, d ir.DType) uint64 {
	if d == ir.Bool {
		return rng.Uint64() & 1
	}
	return rng.Uint64() & mask(d)
}

func ordinary(rng *rand.Rand, d ir.DType) uint64 {
	switch {
	case d.IsFloat():
		bits, _ := ir.Bits(d, rng.NormFloat64()*[...]float64{0.25, 0.5, 1, 2, 4}[rng.IntN(5)])
		return bits
	case d == ir.Bool:
		return rng.Uint64() & 1
	}
	switch rng.IntN(8) {
	case 0:
		return rng.Uint64() & mask(d)
	case 1:
		return [...]uint64{ir.Lowest(d), ir.Highest(d), mask(d), 0, 1}[rng.IntN(5)]
	}
	n := rng.IntN(21) - 10
	if d.IsUnsigned() {
		n += 10
	}
	return uint64(n) & mask(d)
}

// special draws a float that is NaN of either kind, infinite, a zero of either sign, at an end
// of the subnormals, the largest, whole, or just outside an integer type.
func special(rng *rand.Rand, d ir.DType) uint64 {
	if !d.IsFloat() {
		return ordinary(rng, d)
	}
	sign := (rng.Uint64() & 1) << (8*d.Size() - 1)
	inf := ir.Highest(d)
	mantissa := uint64(1)<<mantissaBits(d) - 1
	one, _ := ir.Bits(d, float64(1+rng.IntN(3)))
	half, _ := ir.Bits(d, float64(rng.IntN(4))+0.5)
	end, _ := ir.Bits(d, math.Exp2([...]float64{7, 8, 15, 16, 31, 32, 63, 64}[rng.IntN(8)])) // infinite in f16
	quiet := inf | (mantissa+1)/2
	signalling := inf | 1
	if d.Size() == 2 { // the referee widens these, and then they are quiet
		signalling = quiet
	}
	return sign | [...]uint64{inf, quiet, 0, 1, mantissa, mantissa + 1, inf - 1, one, half, end, signalling}[rng.IntN(11)]
}

func mantissaBits(d ir.DType) int {
	switch d {
	case ir.F64:
		return 52
	case ir.F32:
		return 23
	case ir.BF16:
		return 7
	}
	return 10
}
