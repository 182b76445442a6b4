package irtest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

var configs = map[string]Config{
	"default":   {},
	"symbolic":  {Symbolic: true, MaxNodes: 20},
	"integers":  {Integers: true, Special: 0.1, Symbolic: true, DTypes: []ir.DType{ir.F32, ir.BF16, ir.I32, ir.I64}},
	"smooth":    {Smooth: true, Special: 0.1, DTypes: []ir.DType{ir.F32, ir.I64}},
	"pointwise": {Ops: []ir.Op{ir.Add, ir.Mul, ir.Where, ir.Less}, DTypes: []ir.DType{ir.F32}, MaxElements: 64},
}

// Every graph must be valid and come back from its text, and data must fit.
func TestRandomGraphsAreValid(t *testing.T) {
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(1500) {
				g, data, env := Random(rng(seed), c)
				if err := ir.Check(g); err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, g)
				}
				for i, l := range g.Leaves {
					s, err := l.Type.Shape.Eval(env)
					if err != nil {
						t.Fatal(err)
					}
					size := l.Type.DType.Size()
					for _, n := range s {
						size *= n
					}
					if len(data[i]) != size {
						t.Fatalf("seed %d: leaf %d has %d bytes, want %d", seed, i, len(data[i]), size)
					}
				}
				text := g.String()
				again, err := ir.Parse(text)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
				if again.String() != text {
					t.Fatalf("seed %d: text changed from\n%s\nto\n%v", seed, text, again)
				}
				if err := ir.Check(again); err != nil {
					t.Fatalf("seed %d: read back: %v", seed, err)
				}
			}
		})
	}
}

func TestRandomIsDeterministic(t *testing.T) {
	c := Config{Symbolic: true, Special: 0.1}
	for seed := range uint64(50) {
		g, data, _ := Random(rng(seed), c)
		h, same, _ := Random(rng(seed), c)
		if g.Hash() != h.Hash() {
			t.Fatalf("seed %d gives two graphs", seed)
		}
		for i := range data {
			if !bytes.Equal(data[i], same[i]) {
				t.Fatalf("seed %d: leaf %d differs", seed, i)
			}
		}
	}
}

// Every operation but none else must appear, both as asked for and unasked.
func TestRandomCoversOps(t *testing.T) {
	seen := map[ir.Op]int{}
	for seed := range uint64(3000) {
		g, _, _ := Random(rng(seed), Config{Special: 0.02})
		for _, n := range g.Nodes {
			seen[n.Op]++
		}
	}
	for _, op := range ir.Ops() {
		if seen[op] < 10 {
			t.Errorf("%v came %d times in 3000 graphs", op, seen[op])
		}
	}
	allowed := map[ir.Op]bool{ir.Add: true, ir.Mul: true, ir.Where: true, ir.Less: true,
		ir.Reshape: true, ir.Expand: true, ir.Const: true, ir.Input: true, ir.Bound: true, ir.Weight: true, ir.Variable: true}
	for seed := range uint64(300) {
		g, _, _ := Random(rng(seed), configs["pointwise"])
		for _, n := range g.Nodes {
			if !allowed[n.Op] {
				t.Fatalf("seed %d: %v was not asked for", seed, n.Op)
			}
			if n.DType != ir.F32 && n.DType != ir.Bool {
				t.Fatalf("seed %d: type %v was not asked for", seed, n.DType)
			}
		}
	}
}

func BenchmarkRandom(b *testing.B) {
	for i := range b.N {
		Random(rng(uint64(i)), Config{MaxNodes: 20})
	}
}
