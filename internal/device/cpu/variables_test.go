package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// A variable that a program only reads is packed as a whole once a second run finds it the
// same, and never used for other values than it was packed of.
func TestVariablesPacked(t *testing.T) {
	const text = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 variable "w" f32[64 48]
%0 = input : f32[n 64]
%1 = variable leaf=1 : f32[64 48]
%2 = matmul %0 %1 : f32[n 48]
return %2
`
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range machines(t) {
		if d.isa == Generic || d.isa == NEON {
			continue // packs what weights alone are
		}
		w := d.weight(t, rng, 64*48)
		c := newConstantTest(t, d, text, w)
		kept := func(want int, when string) {
			t.Helper()
			if got := w.Count(); got != want {
				t.Errorf("%v: %d are kept of the variable %s, want %d", d.isa, got, when, want)
			}
		}
		run := func(n int) { c.check(t, randomElements(rng, ir.F32, n*64, false), n) }
		change := func() {
			other := d.weight(t, rng, 64*48)
			if err := d.Copy(context.Background(), w, other); err != nil {
				t.Fatal(err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}
		run(3)
		kept(0, "that one run has read")
		run(3)
		kept(1, "that two have")
		run(5) // of another length
		kept(1, "that three have")
		for range 3 {
			change()
			kept(0, "that has changed")
			run(3)
			kept(0, "that changes between runs")
		}
		run(5)
		kept(1, "that stays at last")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		waitFreed(t, d)
	}
}
