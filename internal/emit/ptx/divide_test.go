package ptx

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestReciprocal divides numbers around multiples of a divisor, where a factor that is
// not near enough is found out first.
func TestReciprocal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	check := func(x, by uint64) {
		factor, shift, more := reciprocal(by)
		q, _ := bits.Mul64(x, factor)
		if more {
			q += (x - q) >> 1
		}
		if q >>= shift; q != x/by {
			t.Fatalf("%d / %d is %d, not %d (%#x, %d, %v)", x, by, x/by, q, factor, shift, more)
		}
	}
	add := 0
	for i := range uint64(200000) {
		by := i + 3
		if i > 20000 {
			by = rng.Uint64() >> rng.IntN(62)
		}
		if by&(by-1) == 0 {
			continue
		}
		if _, _, more := reciprocal(by); more {
			add++
		}
		last := ^uint64(0) / by * by
		for _, x := range []uint64{0, by - 1, by, last - 1, last, ^uint64(0), last - by - 1, rng.Uint64(), rng.Uint64() / by * by, rng.Uint64()/by*by - 1} {
			check(x, by)
		}
	}
	if add == 0 {
		t.Error("no factor of 65 bits")
	}
}
