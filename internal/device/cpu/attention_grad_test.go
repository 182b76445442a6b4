package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// randomGradient draws an attention whose gradients are wanted, most often all.
func randomGradient(rng *rand.Rand, longest int) *attentionTest {
	a := randomAttention(rng, longest)
	a.grads = rng.Perm(3)
	if rng.IntN(3) == 0 {
		a.grads = a.grads[:1+rng.IntN(2)]
	}
	return a
}

// Every attribute, layout and length, on every instruction set, against the
// referee.
func TestGradientForms(t *testing.T) {
	n := 250
	if testing.Short() {
		n = 60
	}
	devices := machines(t)
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 25))
		a := randomGradient(rng, 90)
		a.build(rng)
		a.check(t, fmt.Sprintf("seed %d", seed), devices[seed%len(devices)])
		if t.Failed() {
			return
		}
	}
}

// Lengths beyond one block of queries and of keys.
func TestGradientLong(t *testing.T) {
	for _, d := range machines(t) {
		if d.ISA() == Generic {
			continue
		}
		for i, a := range []*attentionTest{
			{attr: ir.AttentionAttr{Ragged: true}, qLens: []int{3, 200}, kLens: []int{300, 129}},
			{attr: ir.AttentionAttr{Ragged: true, Causal: true}, qLens: []int{300}, kLens: []int{400}},
			{attr: ir.AttentionAttr{Causal: true}, qLens: []int{257, 257}, kLens: []int{257, 257}},
			{attr: ir.AttentionAttr{Ragged: true, Causal: true, Window: 100}, qLens: []int{400}, kLens: []int{400}},
			{attr: ir.AttentionAttr{Window: 30}, qLens: []int{290}, kLens: []int{310}},
			{attr: ir.AttentionAttr{Mask: true, SoftCap: 5}, qLens: []int{130, 130}, kLens: []int{200, 200}},
		} {
			rng := rand.New(rand.NewPCG(uint64(i), 26))
			a.heads, a.kvHeads, a.width, a.vWidth, a.layout = 4, 2, 20, 24, "own"
			a.grads = []int{0, 1, 2}
			a.build(rng)
			a.check(t, fmt.Sprint(i), d)
		}
	}
}
