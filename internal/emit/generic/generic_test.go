package generic

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// toGeneric turns the interpreter's arguments into ours, over the same memory.
func toGeneric(k *loop.Kernel, a *loop.Args) *Args {
	g := &Args{Params: a.Buffers, Start: a.Start, End: a.End, Status: a.Status}
	for _, s := range k.Symbols() {
		g.Sizes = append(g.Sizes, int64(a.Sizes[s.Name]))
	}
	return g
}

func TestRandomKernels(t *testing.T) {
	configs := []looptest.Config{
		{},
		{WildIndices: true},
		{DTypes: []ir.DType{ir.F32, ir.I32, ir.Bool, ir.I64}},
		{DTypes: []ir.DType{ir.F16, ir.BF16, ir.F32}},
	}
	for seed := range uint64(100) {
		for i, config := range configs {
			c := looptest.Random(rand.New(rand.NewPCG(seed, uint64(i))), config)
			want, got := c.Copy(), c.Copy()
			if err := loop.Interpret(c.Kernel, want); err != nil {
				t.Fatalf("seed %d, config %d: %v\n%v", seed, i, err, c.Kernel)
			}
			f, err := Compile(c.Kernel)
			if err != nil {
				t.Fatalf("seed %d, config %d: %v\n%v", seed, i, err, c.Kernel)
			}
			if err := f.Run(toGeneric(c.Kernel, got)); err != nil {
				t.Fatalf("seed %d, config %d: %v\n%v", seed, i, err, c.Kernel)
			}
			if err := c.Same(got, want); err != nil {
				t.Fatalf("seed %d, config %d: %v\n%v", seed, i, err, c.Kernel)
			}
		}
	}
}
