package loop_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Random kernels are valid, stay in bounds, and survive printing and parsing.
func TestRandomKernels(t *testing.T) {
	for seed := range uint64(120) {
		c := looptest.Random(rand.New(rand.NewPCG(seed, 0)), looptest.Config{})
		if err := loop.Check(c.Kernel); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, c.Kernel)
		}
		text := c.Kernel.String()
		k, err := loop.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, text)
		}
		if again := k.String(); again != text {
			t.Fatalf("seed %d: printed\n%s\nthen\n%s", seed, text, again)
		}
		want, got := c.Copy(), c.Copy()
		if err := loop.Interpret(c.Kernel, want); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, text)
		}
		if err := loop.Interpret(k, got); err != nil {
			t.Fatalf("seed %d, read back: %v\n%v", seed, err, text)
		}
		if err := c.Same(got, want); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, text)
		}
	}
}
