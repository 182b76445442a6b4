package nn

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// AdaptiveAvgPool averages x [N, C, spatial...] down to given sizes, one for
// each spatial axis or one for all: place i of n is the average of those from
// floor(i*s/n) up to ceil((i+1)*s/n) of s. Of size 1 it is the average of all.
func AdaptiveAvgPool(x sinter.Tensor, sizes ...int) sinter.Tensor {
	if x.Err() != nil {
		return x
	}
	spatial := x.Rank() - 2
	if spatial < 1 || len(sizes) != 1 && len(sizes) != spatial {
		return sinter.Fail(fmt.Errorf("want [N, C, spatial...] and a size for each spatial axis or one for all, not %v", sizes), x)
	}
	for i := range spatial {
		n, axis := sizes[min(i, len(sizes)-1)], i+2
		if n == 1 {
			x = x.MeanKeep(axis)
			continue
		}
		s, ok := x.Dim(axis).Const()
		if !ok || n < 1 || n > maxSize || s > maxSize {
			return sinter.Fail(fmt.Errorf("axis %d cannot become %d wide", axis, n), x)
		}
		x = x.Transpose(axis, -1).MatMul(averages(x.DType(), s, n)).Transpose(axis, -1)
	}
	return x
}

// averages is the matrix [s, n] whose column i has 1/count at the places of s
// that i averages.
func averages(dt sinter.DType, s, n int) sinter.Tensor {
	from, to := make([]float64, n), make([]float64, n)
	for i := range n {
		from[i] = math.Floor(float64(i) * float64(s) / float64(n))
		to[i] = math.Ceil(float64(i+1) * float64(s) / float64(n))
	}
	lo, hi := sinter.Of(from, n), sinter.Of(to, n)
	at := sinter.Iota(sinter.F64, 0, sinter.Dims(s, n)...)
	inside := at.GreaterEqual(lo).And(at.Less(hi))
	return sinter.Where(inside, hi.Sub(lo).Reciprocal(), sinter.Scalar(0).Cast(sinter.F64)).Cast(dt)
}
