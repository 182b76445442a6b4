package cpu

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// Keys of 32 bits order as those of 64, equal and NaN ones included.
func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []uint64{0, 1, 0x3c00, 0x7c00, 0x7c01, 0x8000, 0xfc00, 0xffff, 0x7f80, 0xff80, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x80000000, 0x3f800000, 0x7fffffff, 0xffffffff}
	for _, d := range []ir.DType{ir.F32, ir.F16, ir.BF16, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.Bool} {
		mask := uint64(1)<<(8*d.Size()) - 1
		if d == ir.Bool {
			mask = 1
		}
		draw := func() uint64 {
			if rng.IntN(2) == 0 {
				return special[rng.IntN(len(special))] & mask
			}
			return rng.Uint64() & mask
		}
		for range 10000 {
			a, b, down := draw(), draw(), rng.IntN(2) == 0
			got, want := cmp.Compare(shortKey(d, a, down), shortKey(d, b, down)), cmp.Compare(sortKey(d, a, down), sortKey(d, b, down))
			if got != want {
				t.Fatalf("%v: %#x beside %#x, descending %v: %d, want %d", d, a, b, down, got, want)
			}
		}
	}
}

// The smallest of some numbers are those that sorting them has first.
func TestSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := rng.IntN(60)
		room := rng.IntN(n + 1)
		all := make([]uint64, n)
		h := make(smallest, 0, room)
		for i := range all {
			all[i] = rng.Uint64N(1 << (1 + rng.IntN(40)))
			h.add(all[i], n)
		}
		slices.Sort(all)
		slices.Sort(h)
		if !slices.Equal(h, all[:room]) {
			t.Fatalf("the %d smallest of %v are not %v", room, all, h)
		}
	}
}
