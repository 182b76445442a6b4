package x86

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Woven copies keep the order of any two instructions of which one writes what
// the other reads or writes. Copies that the emitter makes hardly ever share a
// register, so random ones are tried.
func TestMergeKeepsOrder(t *testing.T) {
	const registers = 12
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		some := func() reg { return reg(1 + rng.IntN(registers)) }
		var copies [][]*inst
		var straight []*inst
		for range 2 + rng.IntN(3) {
			var code []*inst
			for range 1 + rng.IntN(6) {
				in := &inst{dst: some(), n: uint8(1 + rng.IntN(2))}
				in.src[0] = r(some())
				in.src[1] = operand{kind: memOperand, reg: some(), index: some()}
				if rng.IntN(3) == 0 {
					in.dst = 0 // a store
				}
				if rng.IntN(3) == 0 {
					in.mask, in.early = some(), rng.IntN(2) == 0
				}
				code = append(code, in)
			}
			copies, straight = append(copies, code), append(straight, code...)
		}
		woven := (&emitter{}).merge(copies)
		if len(woven) != len(straight) {
			t.Fatalf("seed %d: %d instructions of %d", seed, len(woven), len(straight))
		}
		for i, first := range straight {
			for _, second := range straight[i+1:] {
				if meet(first, second) && slices.Index(woven, first) > slices.Index(woven, second) {
					t.Fatalf("seed %d: instruction %d comes behind %d", seed, i, slices.Index(straight, second))
				}
			}
		}
	}
}

// meet tells whether one of two instructions writes what the other touches.
func meet(a, b *inst) bool {
	touches := func(in *inst, x reg) bool {
		found := x == in.dst
		in.Uses(func(y reg) { found = found || x == y })
		return found
	}
	writes := func(in, other *inst) bool {
		return in.dst != 0 && touches(other, in.dst) || in.early && in.mask != 0 && touches(other, in.mask)
	}
	return writes(a, b) || writes(b, a)
}
