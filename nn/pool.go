package nn

import (
	"fmt"
	"slices"

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
		if !ok {
			return sinter.Fail(fmt.Errorf("axis %d is %v, a symbol: it can become 1 wide, not %d", axis, x.Dim(axis), n), x)
		}
		if n < 1 || n > maxSize || s > maxSize {
			return sinter.Fail(fmt.Errorf("axis %d cannot become %d wide", axis, n), x)
		}
		if s%n == 0 {
			shape := x.Shape()
			x = x.ReshapeDims(slices.Concat(shape[:axis], sinter.Dims(n, s/n), shape[axis+1:])...).Mean(axis + 1)
			continue
		}
		x = averages(x, axis, s, n)
	}
	return x
}

// averages makes the s places of an axis n averages of those that each covers,
// and of no others: an infinity elsewhere is none of theirs.
func averages(x sinter.Tensor, axis, s, n int) sinter.Tensor {
	most := (s+n-1)/n + 1 // places that one covers
	places, covers, counts := make([]int64, 0, n*most), make([]bool, 0, n*most), make([]float32, 0, n)
	for i := range n {
		from, to := i*s/n, ((i+1)*s+n-1)/n
		for at := from; at < from+most; at++ {
			places, covers = append(places, int64(min(at, to-1))), append(covers, at < to)
		}
		counts = append(counts, float32(to-from))
	}
	behind := make([]int, x.Rank()-axis-1)
	for i := range behind {
		behind[i] = 1
	}
	dt := x.DType()
	x = widened(x)
	inside := sinter.Of(covers, append([]int{n, most}, behind...)...)
	sum := sinter.Where(inside, x.Take(sinter.Of(places, n, most), axis), sinter.Scalar(0)).Sum(axis + 1)
	return sum.Div(sinter.Of(counts, append([]int{n}, behind...)...).Cast(x.DType())).Cast(dt)
}
