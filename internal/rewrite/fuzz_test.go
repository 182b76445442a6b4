package rewrite

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// graphs is how many random graphs a rule set is tried on.
func graphs() uint64 { return effort.Of[uint64](120, 120, 250, 20_000) }

var drawings = map[string]irtest.Config{
	"all":      {MaxNodes: 16, MaxElements: 256, Special: 0.1},
	"f32":      {MaxNodes: 16, MaxElements: 256, Special: 0.2, DTypes: []ir.DType{ir.F32, ir.I32}},
	"symbolic": {MaxNodes: 16, MaxElements: 512, Special: 0.05, Symbolic: true, DTypes: []ir.DType{ir.F32, ir.I64, ir.BF16}},
	"integers": {MaxNodes: 16, MaxElements: 256, DTypes: []ir.DType{ir.I8, ir.U8, ir.I32, ir.U64, ir.Bool}},
	"views": {MaxNodes: 20, MaxElements: 256, DTypes: []ir.DType{ir.F32}, Ops: []ir.Op{ir.Reshape, ir.Permute, ir.Expand, ir.Pad,
		ir.Slice, ir.Flip, ir.Concat, ir.Add, ir.Neg, ir.Where, ir.ReduceSum, ir.ReduceMax}},
	"few": {MaxNodes: 12, MaxElements: 64, Special: 0.1, Chain: 0.4},
	"signs": {MaxNodes: 12, MaxElements: 32, Special: 0.3, Chain: 0.5, DTypes: []ir.DType{ir.F32, ir.F64, ir.I16},
		Ops: []ir.Op{ir.Neg, ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Abs, ir.Pow}},
	"conditions": {MaxNodes: 12, MaxElements: 32, Chain: 0.5, DTypes: []ir.DType{ir.Bool, ir.U16},
		Ops: []ir.Op{ir.Where, ir.Xor, ir.Less, ir.Equal}},
	"casts": {MaxNodes: 12, MaxElements: 32, Chain: 0.7, Special: 0.2, Ops: []ir.Op{ir.Cast, ir.Bitcast}},
	"cuts":  {MaxNodes: 12, MaxElements: 256, Chain: 0.7, DTypes: []ir.DType{ir.F32}, Ops: []ir.Op{ir.Slice, ir.Pad, ir.Concat, ir.Flip}},
	"sums": {MaxNodes: 12, MaxElements: 256, Special: 0.02, Chain: 0.3, DTypes: []ir.DType{ir.F32, ir.F64, ir.F16},
		Ops: []ir.Op{ir.ReduceSum, ir.ReduceProd, ir.ReduceMax, ir.Add, ir.Mul, ir.Sub}},
	"products":   {MaxNodes: 12, MaxElements: 512, Special: 0.02, DTypes: []ir.DType{ir.F32, ir.I32}, Ops: []ir.Op{ir.MatMul, ir.Add, ir.Sub, ir.Mul, ir.Neg}},
	"arithmetic": {MaxNodes: 16, MaxElements: 64, Special: 0.3, DTypes: []ir.DType{ir.F32, ir.F16, ir.F64}, Ops: pointwiseOps},
}

// draw makes graphs of a few operations, so that these often meet, in a quarter
// of the cases.
func draw(seed uint64, c irtest.Config) (*ir.Graph, [][]byte, ir.Env) {
	rng := rand.New(rand.NewPCG(seed, 7))
	if ops := c.Ops; seed%4 == 0 {
		if ops == nil {
			ops = drawable
		}
		c.Ops = nil
		for range 2 + rng.IntN(4) {
			c.Ops = append(c.Ops, ops[rng.IntN(len(ops))])
		}
	}
	return irtest.Random(rng, c)
}

// drawable are the operations that irtest draws.
var drawable = slices.DeleteFunc(ir.Ops(), func(op ir.Op) bool {
	return op.Class() == ir.ClassLeaf && op != ir.Iota && op != ir.Rand || op == ir.Get
})

// Every pass alone, and all exact ones together, leave every bit as it is; a
// second run finds nothing to do; a graph on which nothing applies comes back
// itself.
func TestExactPassesKeepBits(t *testing.T) {
	sets := map[string][]string{"together": nil}
	for _, p := range passes {
		switch p.kind {
		case Exact:
			sets[p.name] = without(p.name)
		case Reassociating:
			sets["together"] = append(sets["together"], p.name)
		}
	}
	for set, off := range sets {
		for drawing, c := range drawings {
			t.Run(set+"/"+drawing, func(t *testing.T) {
				for seed := range graphs() {
					g, data, env := draw(seed, c)
					after := runTwice(t, g, Options{NoOpt: off, Check: true})
					if after == g {
						continue
					}
					want, _ := evaluate(t, g, env, data)
					got, _ := evaluate(t, after, env, dataFor(g, after, data))
					for i := range want {
						if at := differ(g.Outputs[i].DType, want[i], got[i]); at >= 0 {
							t.Fatalf("seed %d: output %d differs at %d\nbefore %vafter %v", seed, i, at, g, after)
						}
					}
				}
			})
		}
	}
}

// runTwice runs the passes and checks that a second run changes nothing.
func runTwice(t *testing.T, g *ir.Graph, o Options) *ir.Graph {
	t.Helper()
	text := g.String()
	after, stats, err := Run(g, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if g.String() != text {
		t.Fatalf("the graph handed in has changed from\n%s\nto\n%v", text, g)
	}
	if after != g && after.String() == text {
		t.Fatalf("nothing has changed, and yet the graph is another: %v\n%s", stats, text)
	}
	again, stats, err := Run(after, o)
	if err != nil {
		t.Fatalf("second run: %v\n%v", err, after)
	}
	if again != after {
		t.Fatalf("a second run changes more: %v\nfirst %v\nsecond %v\nbefore %v", stats, after, again, text)
	}
	return after
}

func evaluate(t *testing.T, g *ir.Graph, env ir.Env, data [][]byte) ([][]byte, [][]float64) {
	t.Helper()
	out, bounds, err := interp.Evaluate(context.Background(), g, env, data)
	if err != nil {
		t.Fatalf("%v\n%v", err, g)
	}
	return out, bounds
}

// dataFor orders the data of g's leaves as h numbers them.
func dataFor(g, h *ir.Graph, data [][]byte) [][]byte {
	var out [][]byte
	for _, l := range h.Leaves {
		for i, k := range g.Leaves {
			if k.Name == l.Name {
				out = append(out, data[i])
			}
		}
	}
	return out
}

// differ gives the first element whose bits differ, all NaNs taken as one; -1
// if there is none.
func differ(d ir.DType, a, b []byte) int {
	if len(a) != len(b) {
		return 0
	}
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range len(a) / d.Size() {
		x, y := element(d, a, i), element(d, b, i)
		if x != y && !(d.IsFloat() && math.IsNaN(ir.Float(d, x)) && math.IsNaN(ir.Float(d, y))) {
			return i
		}
	}
	return -1
}

func element(d ir.DType, b []byte, i int) uint64 {
	var bits uint64
	for j := range d.Size() {
		bits |= uint64(b[i*d.Size()+j]) << (8 * j)
	}
	return bits
}

// Each rule must have been tried, or the fuzzing above says nothing about it.
func TestEveryRuleApplies(t *testing.T) {
	count := map[string]int{}
	for seed := range max(8*graphs(), 2000) {
		for _, c := range drawings {
			g, _, _ := draw(seed, c)
			_, stats, err := Run(g, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range stats {
				for rule, n := range s.Rules {
					count[rule] += n
				}
			}
		}
		if seed%100 == 99 && len(rare(count)) == 0 {
			return
		}
	}
	for _, name := range rare(count) {
		t.Errorf("%s was applied %d times", name, count[name])
	}
}

// rare lists the rules, and the passes without rules, that were applied less
// than ten times. Passes that must be asked for have graphs of their own.
func rare(count map[string]int) []string {
	var all []string
	for _, p := range Passes() {
		names := []string{p.Name}
		if len(p.Rules) > 0 || p.Asked {
			names = nil
		}
		for _, r := range p.Rules {
			names = append(names, r.Name)
		}
		for _, name := range names {
			if count[name] < 10 {
				all = append(all, name)
			}
		}
	}
	return all
}

// Passes that may change the last places stay within what the referee's bounds
// allow to two correct devices, and leave everything but floats alone.
func TestReassociatingPassesStayWithinBounds(t *testing.T) {
	var off []string
	for _, p := range passes {
		if p.kind == Exact {
			off = append(off, p.name)
		}
	}
	for drawing, c := range drawings {
		t.Run(drawing, func(t *testing.T) {
			judged := 0
			for seed := range graphs() {
				g, data, env := draw(seed, c)
				after := runTwice(t, g, Options{NoOpt: off, Check: true})
				if after == g {
					continue
				}
				want, bound1 := evaluate(t, g, env, data)
				got, bound2 := evaluate(t, after, env, dataFor(g, after, data))
				for i, o := range g.Outputs {
					for j := range bound1[i] {
						x, y := ir.Float(o.DType, element(o.DType, want[i], j)), ir.Float(o.DType, element(o.DType, got[i], j))
						limit := bound1[i][j] + bound2[i][j]
						if x == y || math.IsInf(limit, 1) || math.IsNaN(limit) || math.IsNaN(x) && math.IsNaN(y) {
							continue
						}
						judged++
						if !(math.Abs(x-y) <= limit) {
							t.Fatalf("seed %d: output %d differs at %d: %v and %v, more than %v\nbefore %vafter %v", seed, i, j, x, y, limit, g, after)
						}
					}
				}
			}
			t.Log(judged, "elements differ within the bounds")
		})
	}
}
