package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// TestRandomGradients compares the gradients of random graphs as
// TestRandomGraphs does the graphs: a gradient has forms that no graph drawn
// at random has, such as sums of spread slices and several results that share
// almost everything.
func TestRandomGradients(t *testing.T) {
	n := effort.Of(100, 250, 1000, 300_000)
	compared := 0
	devices := append(machines(t), streaming(t)...)
	for seed := range n {
		if checkRandomGradient(t, devices[seed%len(devices)], uint64(seed)) {
			compared++
		}
	}
	if compared < n/3 {
		t.Errorf("%d of %d graphs were compared", compared, n)
	}
	t.Logf("%d of %d graphs compared", compared, n)
}

func checkRandomGradient(t *testing.T, d *Device, seed uint64) bool {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 17))
	c := irtest.Config{Smooth: true, Symbolic: seed%3 == 0, MaxElements: 300, MaxNodes: 2 + int(seed%10)}
	if seed%5 == 4 {
		c.Special = 0.1
	}
	if seed%4 > 0 { // else of all types, of which few have gradients
		c.DTypes = []ir.DType{[]ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16}[rng.IntN(4)], ir.F32, ir.I32}
	}
	if slices.Contains(c.DTypes, ir.BF16) || c.DTypes == nil {
		c.Special = 0 // products of bf16 take subnormals for 0: Inf times one is NaN
	}
	g, leaves, env := irtest.Random(rng, c)
	g, leaves = gradients(t, g, leaves)
	if g == nil {
		return false
	}
	want, bounds, err := interp.Evaluate(context.Background(), g, env, leaves)
	if err != nil {
		return false
	}
	for _, off := range [][]string{nil, {"order"}, {"all"}} {
		got, err := evaluate(d, g, env, leaves, device.Options{NoOpt: off, Check: true})
		if err != nil {
			t.Fatalf("seed %d, %v, off %v: %v\n%v", seed, d.ISA(), off, err, g)
		}
		for i := range want {
			if err := compare(g.Outputs[i].DType, got[i], want[i], bounds[i]); err != nil {
				t.Fatalf("seed %d, %v, off %v: output %d: %v\n%v", seed, d.ISA(), off, i, err, g)
			}
		}
	}
	return true
}

// gradients is the graph of the gradients of g's outputs with respect to its
// leaves, and of the outputs, with the data of its leaves; nil where there are
// none.
func gradients(t *testing.T, g *ir.Graph, leaves [][]byte) (*ir.Graph, [][]byte) {
	t.Helper()
	b := ir.NewBuilder(g.Leaves)
	made := make([]*ir.Node, len(g.Nodes))
	add := func(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
		n, err := b.Add(op, a, in...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	p := grad.Problem{}
	for i, n := range g.Nodes {
		in := make([]*ir.Node, len(n.In))
		for j, x := range n.In {
			in[j] = made[x.ID]
		}
		made[i] = add(n.Op, n.Attr, in...)
		if n.Op.HasLeaf() && n.Op != ir.Assign && n.DType.IsFloat() {
			p.Wrt = append(p.Wrt, made[i])
		}
	}
	var outs []*ir.Node
	for _, o := range g.Outputs {
		out := made[o.ID]
		if !out.DType.IsFloat() {
			continue
		}
		if out.Op.Class() != ir.ClassLeaf {
			outs = append(outs, out)
		}
		bits, err := ir.Bits(out.DType, 0.75)
		if err != nil {
			t.Fatal(err)
		}
		ones := make(ir.Shape, len(out.Shape))
		for i := range ones {
			ones[i] = ir.N(1)
		}
		dy := add(ir.Reshape, ir.Attr{Shape: ones}, add(ir.Const, ir.Attr{DType: out.DType, Value: bits}))
		p.Outputs, p.Cotangents = append(p.Outputs, out), append(p.Cotangents, add(ir.Expand, ir.Attr{Shape: out.Shape}, dy))
	}
	if len(p.Outputs) == 0 {
		return nil, nil
	}
	grads, missing, err := grad.Of(b, p)
	if err != nil {
		t.Fatalf("%v, of\n%v", err, g)
	}
	some := false
	for i, n := range grads {
		if missing[i] == nil {
			outs, some = append(outs, n), true
		}
	}
	if !some {
		return nil, nil
	}
	whole := b.Finish(distinct(outs)...)
	data := make([][]byte, len(whole.Leaves))
	for i, l := range whole.Leaves {
		for j, old := range g.Leaves {
			if old.Name == l.Name {
				data[i] = leaves[j]
			}
		}
	}
	return whole, data
}

// distinct is nodes without leaves and repetitions, which no device is given.
func distinct(nodes []*ir.Node) []*ir.Node {
	var all []*ir.Node
	seen := map[*ir.Node]bool{}
	for _, n := range nodes {
		if !seen[n] && (!n.Op.HasLeaf() || n.Op == ir.Assign) {
			all = append(all, n)
		}
		seen[n] = true
	}
	return all
}
