package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// checkDefinition compares an anchor with its definition in primitives: within
// both error bounds for floats, equal else. build is called twice with equal
// random numbers; env binds the symbols it uses.
func checkDefinition(t *testing.T, seed uint64, env ir.Env, build func(g *graph, rng *rand.Rand) *ir.Node) {
	t.Helper()
	evaluate := func(define bool) ([][]float64, [][]float64) {
		g := newGraph(t)
		n := build(g, rand.New(rand.NewPCG(seed, 7)))
		outs := []*ir.Node{n}
		if define {
			var err error
			if outs, err = ir.Define(g.b, n, n.In); err != nil {
				t.Fatal(err)
			}
		} else if n.Op.Outputs() == 2 {
			outs = []*ir.Node{g.get(n, 0), g.get(n, 1)}
		}
		for i, o := range outs {
			if !o.Type.Equal(n.Out(i)) {
				t.Fatalf("output %d of %v is defined as %v", i, n, o.Type)
			}
		}
		data, bounds, err := g.evaluate(env, outs...)
		if err != nil {
			t.Fatal(err)
		}
		var values [][]float64
		for i, o := range outs {
			values = append(values, floatsOf(o.DType, data[i]))
		}
		return values, bounds
	}
	want, wantBounds := evaluate(false)
	got, gotBounds := evaluate(true)
	total, known := 0, 0
	for i := range want {
		total += len(want[i])
		known += compareWithin(t, seed, got[i], want[i], wantBounds[i], gotBounds[i])
	}
	if known*10 < total*8 { // infinities leave some open
		t.Errorf("seed %d: only %d of %d elements have a bound", seed, known, total)
	}
}

// randomInput is an input of small whole numbers for integers, of normal ones for
// floats, now and then special.
func randomInput(g *graph, rng *rand.Rand, t ir.DType, special bool, shape ...ir.Dim) *ir.Node {
	g.t.Helper()
	sizes, err := ir.Shape(shape).Eval(testEnv)
	if err != nil {
		g.t.Fatal(err)
	}
	v, err := newValue(t, sizes)
	if err != nil {
		g.t.Fatal(err)
	}
	for i := range v.len() {
		x := rng.NormFloat64()
		switch {
		case t.IsInt():
			x = float64(rng.IntN(9))
		case special && rng.IntN(6) == 0:
			x = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1}[rng.IntN(6)]
		}
		bits, err := ir.Bits(t, x)
		if err != nil {
			g.t.Fatal(err)
		}
		v.setBits(i, bits)
	}
	return g.input(t, v.data, shape)
}

// testEnv binds the symbols of this file.
var (
	testEnv = ir.Env{"a": 5, "b": 3, "none": 0}
	symA    = ir.Sym("a", 0, 16)
	symB    = ir.Sym("b", 1, 16)
	symNone = ir.Sym("none", 0, 16)
)

var anchorTypes = []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16, ir.I8, ir.I32, ir.U8}

func TestDefinitionOfMatMul(t *testing.T) {
	for seed := range uint64(40) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			dt := anchorTypes[rng.IntN(len(anchorTypes))]
			pick := func() ir.Dim { return []ir.Dim{ir.N(1 + rng.IntN(16)), symA, symB, symNone}[rng.IntN(4)] }
			m, k, n := pick(), pick(), pick()
			var batch []ir.Dim
			for range rng.IntN(3) {
				batch = append(batch, ir.N(1+rng.IntN(3)))
			}
			x := randomInput(g, rng, dt, rng.IntN(3) == 0, append(batch[:len(batch):len(batch)], m, k)...)
			y := randomInput(g, rng, dt, false, append(batch[:len(batch):len(batch)], k, n)...)
			return g.add(ir.MatMul, ir.Attr{}, x, y)
		})
	}
}

func TestDefinitionOfConv(t *testing.T) {
	for seed := range uint64(60) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			dt := anchorTypes[rng.IntN(len(anchorTypes))]
			spatial, groups := 1+rng.IntN(3), 1+rng.IntN(2)
			inC, outC := 1+rng.IntN(3), 1+rng.IntN(2)
			a := &ir.ConvAttr{Groups: groups}
			x, w := []ir.Dim{symB, ir.N(inC * groups)}, []ir.Dim{ir.N(outC * groups), ir.N(inC)}
			for range spatial {
				k, dilation := 1+rng.IntN(3), 1+rng.IntN(2)
				x = append(x, ir.N((k-1)*dilation+1+rng.IntN(3)))
				w = append(w, ir.N(k))
				a.Dilation = append(a.Dilation, dilation)
				a.Stride = append(a.Stride, 1+rng.IntN(2))
				a.Before = append(a.Before, rng.IntN(3))
				a.After = append(a.After, rng.IntN(3))
			}
			return g.add(ir.Conv, ir.Attr{Conv: a}, randomInput(g, rng, dt, false, x...), randomInput(g, rng, dt, rng.IntN(3) == 0, w...))
		})
	}
}

// offsetsOf cuts rows into segments, some of them empty.
func offsetsOf(g *graph, rng *rand.Rand, segments, rows int) *ir.Node {
	cuts := make([]int32, segments+1)
	for i := 1; i < segments; i++ {
		cuts[i] = cuts[i-1] + int32(rng.IntN(rows-int(cuts[i-1])+1)/2)
	}
	cuts[segments] = int32(rows)
	return of(g, cuts)
}

func TestDefinitionOfAttention(t *testing.T) { checkAttentions(t, ir.Attention) }

func TestDefinitionOfAttentionGrad(t *testing.T) { checkAttentions(t, ir.AttentionGrad) }

func checkAttentions(t *testing.T, op ir.Op) {
	for seed := range uint64(200) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			dt := anchorTypes[rng.IntN(4)]
			a := &ir.AttentionAttr{Scale: 0.5, Causal: rng.IntN(2) == 0, Ragged: rng.IntN(2) == 0, Mask: rng.IntN(2) == 0}
			if rng.IntN(3) == 0 {
				a.Window = 1 + rng.IntN(4)
			}
			if rng.IntN(3) == 0 {
				a.SoftCap = 2
			}
			kv, repeat := 1+rng.IntN(2), 1+rng.IntN(3)
			width, vWidth := ir.N(1+rng.IntN(8)), ir.N(1+rng.IntN(8))
			b, heads, keyHeads := ir.N(1+rng.IntN(3)), ir.N(kv*repeat), ir.N(kv)
			tq, s := []ir.Dim{ir.N(1 + rng.IntN(9)), symA}[rng.IntN(2)], []ir.Dim{ir.N(1 + rng.IntN(9)), symB, symNone}[rng.IntN(3)]
			special := rng.IntN(5) == 0 && op == ir.Attention // of a gradient nearly all would be open
			in := []*ir.Node{
				randomInput(g, rng, dt, special, b, heads, tq, width),
				randomInput(g, rng, dt, false, b, keyHeads, s, width),
				randomInput(g, rng, dt, special, b, keyHeads, s, vWidth)}
			maxQ, maxK := tq, s
			if a.Ragged {
				in = []*ir.Node{
					randomInput(g, rng, dt, special, tq, heads, width),
					randomInput(g, rng, dt, false, s, keyHeads, width),
					randomInput(g, rng, dt, special, s, keyHeads, vWidth)}
				segments, _ := b.Const()
				for _, n := range []ir.Dim{tq, s} {
					rows, err := n.Eval(testEnv)
					if err != nil {
						g.t.Fatal(err)
					}
					in = append(in, offsetsOf(g, rng, segments, rows))
				}
				maxQ, maxK = tq.Plus(1), s.Plus(2)
			}
			if a.Mask {
				shape := []ir.Dim{b, heads, maxQ, maxK}
				for i := range shape {
					if rng.IntN(2) == 0 {
						shape[i] = ir.N(1)
					}
				}
				in = append(in, randomInput(g, rng, dt, rng.IntN(3) == 0, shape...))
			}
			if op == ir.AttentionGrad {
				rows := []ir.Dim{b, heads, tq}
				if a.Ragged {
					rows = []ir.Dim{tq, heads}
				}
				sums := ir.F32
				if dt == ir.F64 {
					sums = dt
				}
				in = append(in, randomInput(g, rng, sums, false, rows...),
					randomInput(g, rng, dt, false, append(rows[:len(rows):len(rows)], vWidth)...), randomInput(g, rng, sums, false, rows...))
			}
			return g.add(op, ir.Attr{Attention: a}, in...)
		})
	}
}

func TestDefinitionOfSort(t *testing.T) {
	for seed := range uint64(40) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			dt := anchorTypes[rng.IntN(len(anchorTypes))]
			shape := []ir.Dim{ir.N(1 + rng.IntN(3)), []ir.Dim{ir.N(1 + rng.IntN(16)), symA, symNone}[rng.IntN(3)], symB}
			x := randomInput(g, rng, dt, true, shape...)
			return g.add(ir.Sort, ir.Attr{Axes: []int{rng.IntN(3)}, Descending: rng.IntN(2) == 0}, x)
		})
	}
}

func TestDefinitionOfScan(t *testing.T) {
	for seed := range uint64(60) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			dt := anchorTypes[rng.IntN(len(anchorTypes))]
			mode := []string{"sum", "prod", "max"}[rng.IntN(3)]
			x := randomInput(g, rng, dt, rng.IntN(3) == 0, ir.N(2), []ir.Dim{ir.N(1 + rng.IntN(16)), symA, symNone}[rng.IntN(3)], ir.N(3))
			return g.add(ir.Scan, ir.Attr{Axes: []int{rng.IntN(3)}, Mode: mode}, x)
		})
	}
}

func TestDefinitionOfSegments(t *testing.T) {
	for seed := range uint64(60) {
		checkDefinition(t, seed, testEnv, func(g *graph, rng *rand.Rand) *ir.Node {
			n := []ir.Dim{ir.N(1 + rng.IntN(16)), symA, symNone}[rng.IntN(3)]
			rows, err := n.Eval(testEnv)
			if err != nil {
				g.t.Fatal(err)
			}
			offsets := offsetsOf(g, rng, 1+rng.IntN(5), rows)
			if rng.IntN(4) == 0 {
				return g.add(ir.SegmentIDs, ir.Attr{Shape: ir.Shape{n}}, offsets)
			}
			dt := anchorTypes[rng.IntN(len(anchorTypes))]
			x := randomInput(g, rng, dt, rng.IntN(3) == 0, n, ir.N(1+rng.IntN(3)))
			return g.add(ir.SegmentReduce, ir.Attr{Mode: []string{"sum", "max"}[rng.IntN(2)]}, x, offsets)
		})
	}
}

func TestDefineRefusesOthers(t *testing.T) {
	g := newGraph(t)
	x := of(g, []float32{1})
	if _, err := ir.Define(g.b, g.add(ir.Exp, ir.Attr{}, x), []*ir.Node{x}); err == nil {
		t.Error("exp has a definition")
	}
}
