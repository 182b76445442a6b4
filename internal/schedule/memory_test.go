package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// TestPack places random temps: those that hold values at the same time do
// not overlap, all lie within the arena and on lines of their own.
func TestPack(t *testing.T) {
	for seed := range 500 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		p := &Plan{}
		for range rng.IntN(30) {
			first := rng.IntN(20)
			n := ir.N(rng.IntN(5000))
			if rng.IntN(2) == 0 {
				n = n.Mul(ir.Sym("N", 0, 10))
			}
			p.Buffers = append(p.Buffers, Buffer{Kind: TempBuffer, DType: ir.F32, Len: n, First: first, Last: first + rng.IntN(6)})
		}
		env := ir.Env{"N": rng.IntN(11)}
		for _, share := range []bool{true, false} {
			a, err := p.Pack(env, share)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.CheckPacking(a, env, share); err != nil {
				t.Fatalf("seed %d, share %v: %v", seed, share, err)
			}
		}
	}
}

// TestPackShares packs a chain of equal temps, of which two are alive at any
// time, into two of them.
func TestPackShares(t *testing.T) {
	p := &Plan{}
	for i := range 10 {
		p.Buffers = append(p.Buffers, Buffer{Kind: TempBuffer, DType: ir.F32, Len: ir.N(4096), First: i, Last: i + 1})
	}
	a, err := p.Pack(nil, true)
	if err != nil || a.Size != 2*4*4096 {
		t.Errorf("arena of %d bytes, want %d: %v", a.Size, 2*4*4096, err)
	}
}

// TestRoundUp keeps what rounding up promises: an eighth more at most, and few
// different sizes.
func TestRoundUp(t *testing.T) {
	sizes := map[int]bool{}
	for n := range 1 << 16 {
		r := Room(n)
		if r < n || n > 8*Alignment && r > n+n/8+Alignment || r%Alignment != 0 {
			t.Fatalf("%d is rounded to %d", n, r)
		}
		sizes[r] = true
	}
	if len(sizes) > 8*9 {
		t.Errorf("%d sizes", len(sizes))
	}
}
