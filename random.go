package sinter

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/ir"
)

// Rand draws random tensors. A draw's values depend on the seed, on how many
// draws were made before it, and on nothing else: not on threads, devices or
// how often it is computed. The seed is not part of programs: bind another and
// the same program draws anew. It may be used from many goroutines.
type Rand struct {
	seed  Tensor
	draws atomic.Uint64
}

// NewRand draws from a seed: an integer of rank 0, given by Of, by an Input
// that changes from step to step, or by a Scalar.
func NewRand(seed Tensor) *Rand {
	v := seed.load()
	switch {
	case v.err != nil:
		return &Rand{seed: pass(nil, seed)}
	case v.scalar:
		if _, err := ir.Bits(I64, v.number); err != nil {
			return &Rand{seed: fail(err, seed)}
		}
		return &Rand{seed: Of([]int64{int64(v.number)})} // bound, not a constant
	case !v.DType.IsInt() || len(v.Shape) != 0:
		return &Rand{seed: fail(fmt.Errorf("the seed is an integer of rank 0, not %v", v.Type), seed)}
	}
	return &Rand{seed: seed}
}

// Err is the error of the seed.
func (r *Rand) Err() error {
	if r == nil || r.seed.v == nil {
		return errZeroRand
	}
	return r.seed.Err()
}

var errZeroRand = errors.New("the zero Rand has no seed: make one with NewRand")

// Bits are uniform U32, all bits random.
func (r *Rand) Bits(shape ...Dim) Tensor {
	if err := r.Err(); err != nil {
		if r == nil || r.seed.v == nil {
			return fail(err)
		}
		return r.seed
	}
	if err := checkSymbols(shape); err != nil {
		return fail(err)
	}
	// The key is the seed and the number of the draw, each the lower half
	// first. The number is bound: a program built again is the same program.
	n := r.draws.Add(1) - 1
	wide := r.seed.Cast(I64)
	low := wide.Cast(U32).Unsqueeze(0)
	high := wide.Shr(Scalar(32)).Cast(U32).Unsqueeze(0)
	key := Concat(0, low, high, Of([]uint32{uint32(n), uint32(n >> 32)}, 2))
	return apply(ir.Rand, ir.Attr{Shape: append(ir.Shape{}, shape...)}, key)
}

// Uniform is F32 in [0, 1), multiples of 2^-24.
func (r *Rand) Uniform(shape ...Dim) Tensor {
	return r.Bits(shape...).Shr(Scalar(8)).Cast(F32).Mul(Scalar(0x1p-24))
}

// Normal is F32 of mean 0 and variance 1, by the transform of Box and Muller.
func (r *Rand) Normal(shape ...Dim) Tensor {
	bits := r.Bits(append([]Dim{N(2)}, shape...)...)
	if bad, ok := firstErr(bits); ok {
		return bad
	}
	half := bits.Index(0, 0).Cast(F32).Add(Scalar(0.5)).Mul(Scalar(0x1p-32)) // in (0, 1]
	turn := bits.Index(0, 1).Shr(Scalar(8)).Cast(F32).Mul(Scalar(2 * math.Pi * 0x1p-24))
	return half.Log().Mul(Scalar(-2)).Sqrt().Mul(turn.Cos())
}

// Bernoulli is a Bool that is true with probability p.
func (r *Rand) Bernoulli(p float64, shape ...Dim) Tensor {
	if !(p >= 0 && p <= 1) {
		return failf(nil, "probability %v is outside 0 to 1", p)
	}
	return r.Uniform(shape...).Less(Scalar(p))
}

// Dropout puts 0 in place of each element of x with probability p, and
// multiplies the others by 1/(1-p).
func (r *Rand) Dropout(x Tensor, p float64) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if !(p >= 0 && p < 1) {
		return failf([]Tensor{x}, "probability %v is not from 0 to below 1", p)
	}
	if p == 0 {
		return x
	}
	// In the half types the factor alone would be off by as much as a digit is, always to one side.
	scaled := x.float("Dropout", func(x Tensor) Tensor { return x.Mul(Scalar(1 / (1 - p))) })
	return Where(r.Bernoulli(1-p, x.v.Shape...), scaled, x.like(0))
}
