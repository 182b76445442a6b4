package schedule

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

var layoutAnchors = map[ir.Op]bool{ir.MatMul: true, ir.Attention: true}

// Heads that a product reads side by side lie so, whoever else reads them, and
// the product finds rows without gaps.
const headsForProduct = `graph
symbol T 1 64
leaf 0 input "x" f32[2 4 T 8]
leaf 1 input "w" f32[32 6]
%x = input : f32[2 4 T 8]
%w = input leaf=1 : f32[32 6]
%y = attention %x %x %x scale=0.5 causal : f32[2 4 T 8], f32[2 4 T]
%h = get %y : f32[2 4 T 8]
%n = neg %h : f32[2 4 T 8]
%z = exp %n : f32[2 4 T 8]
%s = reshape %z : f32[8*T 8]
%r = sum %s axes=[1] : f32[8*T 1]
%t = permute %z axes=[0 2 1 3] : f32[2 T 4 8]
%f = reshape %t : f32[2*T 32]
%p = matmul %f %w : f32[2*T 6]
%ht = permute %h axes=[0 2 1 3] : f32[2 T 4 8]
%hf = reshape %ht : f32[2*T 32]
%q = matmul %hf %w : f32[2*T 6]
%ft = permute %f axes=[1 0] : f32[32 2*T]
%d = matmul %ft %p : f32[32 6]
return %r %p %q %d
`

// The same of values that are kept in bf16.
const shortHeadsForProduct = `graph
symbol T 1 64
leaf 0 input "x" f32[2 4 T 8]
leaf 1 input "w" f32[32 6]
%x = input : f32[2 4 T 8]
%w = input leaf=1 : f32[32 6]
%ws = cast %w : bf16[32 6]
%wf = cast %ws : f32[32 6]
%n = neg %x : f32[2 4 T 8]
%s = cast %n : bf16[2 4 T 8]
%z = cast %s : f32[2 4 T 8]
%t = permute %z axes=[0 2 1 3] : f32[2 T 4 8]
%f = reshape %t : f32[2*T 32]
%p = matmul %f %wf : f32[2*T 6]
return %p
`

func TestLayouts(t *testing.T) {
	t.Run("f32", func(t *testing.T) { testLayouts(t, headsForProduct) })
	t.Run("bf16", func(t *testing.T) { testLayouts(t, shortHeadsForProduct) })
}

func testLayouts(t *testing.T, text string) {
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range [][]string{nil, {"layout"}} {
		p, err := Build(g, Options{NoOpt: off, Anchors: layoutAnchors})
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range p.Kernels {
			if m, ok := k.Work.(*template.Gemm); ok {
				_, plain := m.Narrow(m.Format()).PlainX()
				if plain != (off == nil) {
					t.Errorf("off %v: rows without gaps %v\n%v", off, plain, m.Loops())
				}
			}
		}
	}
}

// Values of random sizes that products read in random orders of their axes, and
// others in other orders, have the bits of the referee.
func TestRandomLayouts(t *testing.T) {
	found := 0
	for seed := range 400 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		g := drawLayouts(t, rng)
		var leaves [][]byte
		for _, l := range g.Leaves {
			n, _ := l.Type.Shape.Numel().Const()
			var b []byte
			for range n {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(rng.IntN(9)-4)))
			}
			leaves = append(leaves, b)
		}
		want, _, err := interp.Evaluate(context.Background(), g, ir.Env{}, leaves)
		if err != nil {
			t.Fatal(err)
		}
		s := newPartition(g, Options{Anchors: layoutAnchors})
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		found += len(s.layout)
		p, err := Build(g, Options{Anchors: layoutAnchors})
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, g)
		}
		got, err := run(p, ir.Env{}, leaves, true)
		if err != nil {
			t.Fatalf("seed %d: %v\n%v\n%v", seed, err, p, g)
		}
		for i := range want {
			if at := differ(g.Outputs[i].DType, got[i], want[i]); at >= 0 {
				t.Fatalf("seed %d: output %d differs at %d\n%v\n%v", seed, i, at, p, g)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d values lie in another order", found)
	}
}

// drawLayouts makes a graph around a value of four axes, computed element by
// element or by attention.
func drawLayouts(t *testing.T, rng *rand.Rand) *ir.Graph {
	t.Helper()
	size := [4]int{1 + rng.IntN(3), 1 + rng.IntN(4), 1 + rng.IntN(4), 1 + rng.IntN(5)}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	shape := func(axes []int) string {
		return fmt.Sprint([]int{size[axes[0]], size[axes[1]], size[axes[2]], size[axes[3]]})
	}
	own := []int{0, 1, 2, 3}
	all := size[0] * size[1] * size[2] * size[3]
	say("graph\nleaf 0 input \"x\" f32%s", shape(own))
	cols := 1 + rng.IntN(3)
	orders := [][]int{{0, 2, 1, 3}, {2, 0, 1, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}}
	order := orders[rng.IntN(len(orders))]
	k := all / size[order[0]] / size[order[1]]
	rows := all / k
	say("leaf 1 input \"w\" f32[%d %d]\n%%x = input : f32%s\n%%w = input leaf=1 : f32[%d %d]", k, cols, shape(own), k, cols)
	if rng.IntN(2) == 0 {
		say("%%v = neg %%x : f32%s", shape(own))
	} else {
		say("%%y = attention %%x %%x %%x scale=0.001 : f32%s, f32[%d %d %d]\n%%v = get %%y : f32%s", shape(own), size[0], size[1], size[2], shape(own))
	}
	v := "v"
	if rng.IntN(3) == 0 {
		v = "vw"
		say("%%vs = cast %%v : bf16%s\n%%vw = cast %%vs : f32%s", shape(own), shape(own))
	}
	say("%%t = permute %%"+v+" axes=%v : f32%s\n%%f = reshape %%t : f32[%d %d]", order, shape(order), rows, k)
	say("%%p = matmul %%f %%w : f32[%d %d]\n%%ft = permute %%f axes=[1 0] : f32[%d %d]\n%%q = matmul %%ft %%p : f32[%d %d]", rows, cols, k, rows, k, cols)
	outs := "%p %q"
	if rng.IntN(2) == 0 {
		say("%%sq = mul %%v %%v : f32%s\n%%sum = sum %%sq axes=[%d] : f32%s", shape(own), 3, strings.Replace(shape(own), fmt.Sprintf(" %d]", size[3]), " 1]", 1))
		outs += " %sum"
	}
	if rng.IntN(2) == 0 {
		say("%%flat = reshape %%v : f32[%d]\n%%abs = abs %%flat : f32[%d]", all, all)
		outs += " %abs"
	}
	if rng.IntN(8) == 0 {
		outs += " %v"
	}
	if rng.IntN(2) == 0 {
		other := orders[rng.IntN(len(orders))]
		say("%%o = permute %%v axes=%v : f32%s\n%%oo = neg %%o : f32%s", other, shape(other), shape(other))
		outs += " %oo"
	}
	say("return %s", outs)
	g, err := ir.Parse(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return g
}

// TestReshapedOutputs: an output that reshapes what a kernel computes lies where that
// writes it; one that reshapes a leaf, or what is an output already, is copied.
func TestReshapedOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		kernels int
	}{
		"a sum": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = sum %0 axes=[1] : f32[4 1]
%2 = reshape %1 : f32[2 2]
return %2
`, 1},
		"a product, reshaped twice": {`leaf 0 input "x" f32[4 4]
%0 = input : f32[4 4]
%1 = matmul %0 %0 : f32[4 4]
%2 = reshape %1 : f32[16]
%3 = reshape %2 : f32[2 8]
return %3
`, 1},
		"what turns it": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = permute %0 axes=[1 0] : f32[6 4]
%2 = reshape %1 : f32[24]
return %2
`, 1},
		"beside itself": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = exp %0 : f32[4 6]
%2 = reshape %1 : f32[24]
return %1 %2
`, 2},
		"two shapes": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = exp %0 : f32[4 6]
%2 = reshape %1 : f32[24]
%3 = reshape %1 : f32[6 4]
return %2 %3
`, 2},
		"a leaf": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = reshape %0 : f32[24]
return %1
`, 1},
		"read by others": {`leaf 0 input "x" f32[4 6]
%0 = input : f32[4 6]
%1 = sum %0 axes=[1] : f32[4 1]
%2 = reshape %1 : f32[2 2]
%3 = exp %2 : f32[2 2]
return %2 %3
`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ir.Parse("graph\n" + c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(g, Options{Anchors: layoutAnchors})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Kernels) != c.kernels {
				t.Errorf("%d kernels, want %d:\n%v", len(p.Kernels), c.kernels, p)
			}
		})
	}
}

// TestFirstOf: a sort is asked for as many elements of each line as are read.
func TestFirstOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"the first": {`%3 = slice %1 starts=[0 0] steps=[1 1] : f32[4 3]
%4 = slice %2 starts=[0 0] steps=[1 1] : i64[4 5]
return %3 %4
`, 5},
		"all":         {"return %1\n", 30},
		"all indices": {"%3 = slice %1 starts=[0 0] steps=[1 1] : f32[4 3]\nreturn %3 %2\n", 30},
		"some behind": {"%3 = slice %1 starts=[0 1] steps=[1 1] : f32[4 3]\nreturn %3\n", 30},
		"some apart":  {"%3 = slice %1 starts=[0 0] steps=[1 2] : f32[4 3]\nreturn %3\n", 30},
		"rows":        {"%3 = slice %1 starts=[2 0] steps=[1 1] : f32[2 30]\nreturn %3\n", 30},
		"computed with": {`%3 = slice %1 starts=[0 0] steps=[1 1] : f32[4 3]
%4 = exp %1 : f32[4 30]
return %3 %4
`, 30},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ir.Parse(`graph
leaf 0 input "x" f32[4 30]
%0 = input : f32[4 30]
%s = sort %0 axes=[1] descending : f32[4 30], i64[4 30]
%1 = get %s : f32[4 30]
%2 = get %s out=1 : i64[4 30]
` + c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.Sort: true}})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range p.Kernels {
				if h, ok := k.Work.(*Host); ok && !h.First.IsConst(c.want) {
					t.Errorf("%v are asked for, want %d", h.First, c.want)
				}
			}
		})
	}
}
