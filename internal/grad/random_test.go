package grad_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// TestRandomGraphs compares gradients of random graphs with the difference
// that a small step makes along a random direction.
func TestRandomGraphs(t *testing.T) {
	n := effort.Of(300, 1200, 3000, 3000)
	compared, ops := 0, map[ir.Op]int{}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := irtest.Config{MaxNodes: 8, MaxElements: 128, DTypes: []ir.DType{ir.F64, ir.I32, ir.I64}, Symbolic: seed%2 == 0}
		g, leaves, env := irtest.Random(rng, c)
		p := newProblem(t, g, leaves, env, rng)
		if p == nil {
			continue
		}
		got, scale := p.slope(t, rng)
		want, smooth := p.difference(t)
		if !smooth {
			continue
		}
		compared++
		for _, n := range g.Nodes {
			ops[n.Op]++
		}
		if limit := 1e-5*scale + 1e-7; !(math.Abs(got-want) <= limit) {
			t.Errorf("seed %d: slope %v by gradients, %v by differences (limit %v) of\n%v", seed, got, want, limit, g)
		}
	}
	if compared < n/4 {
		t.Errorf("%d of %d graphs were compared", compared, n)
	}
	for _, op := range ir.Ops() {
		if n == 3000 && grad.HasRule(op) && ops[op] == 0 {
			t.Errorf("no graph with %v was compared", op)
		}
	}
	t.Logf("%d of %d graphs compared", compared, n)
}

// problem is a graph whose float outputs, weighed by random cotangents, are
// one number: a function of its f64 leaves.
type problem struct {
	grads     *ir.Graph // outputs: by wrt, then the loss
	env       ir.Env
	leaves    [][]byte
	wrt       []int // leaves
	direction [][]float64
}

// newProblem is nil for a graph that has no gradient.
func newProblem(t *testing.T, g *ir.Graph, leaves [][]byte, env ir.Env, rng *rand.Rand) *problem {
	t.Helper()
	p := &problem{env: env, leaves: leaves}
	b := ir.NewBuilder(g.Leaves)
	made := make([]*ir.Node, len(g.Nodes))
	add := func(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
		n, err := b.Add(op, a, in...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var wrt []*ir.Node
	for i, n := range g.Nodes {
		in := make([]*ir.Node, len(n.In))
		for j, x := range n.In {
			in[j] = made[x.ID]
		}
		made[i] = add(n.Op, n.Attr, in...)
		if n.Op.HasLeaf() && n.Op != ir.Assign && n.DType == ir.F64 {
			wrt, p.wrt = append(wrt, made[i]), append(p.wrt, n.Attr.Leaf)
		}
	}
	var loss *ir.Node
	for _, out := range g.Outputs {
		x := made[out.ID]
		if !x.DType.IsFloat() {
			continue
		}
		axes := make([]int, len(x.Shape))
		weight := add(ir.Const, ir.Attr{DType: ir.F64, Value: math.Float64bits(1 + float64(rng.IntN(8))/4)})
		ones := make(ir.Shape, len(x.Shape))
		for i := range axes {
			axes[i], ones[i] = i, ir.N(1)
		}
		// The weight of an element depends on its place.
		w := add(ir.Expand, ir.Attr{Shape: x.Shape}, add(ir.Reshape, ir.Attr{Shape: ones}, weight))
		for _, axis := range axes {
			w = add(ir.Add, ir.Attr{}, w, add(ir.Sin, ir.Attr{}, add(ir.Iota, ir.Attr{DType: ir.F64, Shape: x.Shape, Axes: []int{axis}})))
		}
		term := add(ir.Mul, ir.Attr{}, x, w)
		if len(axes) > 0 {
			term = add(ir.Reshape, ir.Attr{Shape: ir.Shape{}}, add(ir.ReduceSum, ir.Attr{Axes: axes}, term))
		}
		if loss != nil {
			term = add(ir.Add, ir.Attr{}, loss, term)
		}
		loss = term
	}
	if loss == nil || len(wrt) == 0 {
		return nil
	}
	one := add(ir.Const, ir.Attr{DType: ir.F64, Value: math.Float64bits(1)})
	grads, missing, err := grad.Of(b, grad.Problem{Outputs: []*ir.Node{loss}, Cotangents: []*ir.Node{one}, Wrt: wrt})
	if err != nil {
		t.Fatalf("%v, of\n%v", err, g)
	}
	var outs []*ir.Node
	var with []int
	for i, n := range grads {
		if missing[i] == nil {
			outs, with = append(outs, n), append(with, p.wrt[i])
		}
	}
	if len(outs) == 0 {
		return nil
	}
	p.wrt = with
	whole := b.Finish(append(outs, loss)...)
	p.grads = whole
	p.leaves = make([][]byte, len(whole.Leaves))
	place := map[string]int{}
	for i, l := range whole.Leaves {
		place[l.Name] = i
		for j, old := range g.Leaves {
			if old.Name == l.Name {
				p.leaves[i] = leaves[j]
			}
		}
	}
	for i, leaf := range p.wrt {
		at, ok := place[g.Leaves[leaf].Name]
		if !ok { // in no path that is left: its gradient is a constant
			at = -1
		}
		p.wrt[i] = at
	}
	return p
}

func floats(b []byte) []float64 {
	f := make([]float64, len(b)/8)
	for i := range f {
		f[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return f
}

// slope is the derivative along a random direction, by gradients, and the
// sum of its terms' magnitudes.
func (p *problem) slope(t *testing.T, rng *rand.Rand) (slope, scale float64) {
	outs, _, err := interp.Evaluate(context.Background(), p.grads, p.env, p.leaves)
	if err != nil {
		t.Fatalf("%v, of\n%v", err, p.grads)
	}
	for i := range p.wrt {
		g := floats(outs[i])
		d := make([]float64, len(g))
		for j := range d {
			d[j] = rng.Float64()*2 - 1
			slope += g[j] * d[j]
			scale += math.Abs(g[j] * d[j])
		}
		p.direction = append(p.direction, d)
	}
	return slope, scale
}

// at is the loss a step along the direction.
func (p *problem) at(t *testing.T, step float64) float64 {
	leaves := append([][]byte{}, p.leaves...)
	for i, leaf := range p.wrt {
		if leaf < 0 {
			continue
		}
		moved := make([]byte, len(leaves[leaf]))
		for j, v := range floats(leaves[leaf]) {
			binary.LittleEndian.PutUint64(moved[8*j:], math.Float64bits(v+step*p.direction[i][j]))
		}
		leaves[leaf] = moved
	}
	outs, _, err := interp.Evaluate(context.Background(), p.grads, p.env, leaves)
	if err != nil {
		t.Fatal(err)
	}
	return floats(outs[len(outs)-1])[0]
}

// difference is the slope by central differences. The function is not smooth
// here if steps of two sizes do not agree.
func (p *problem) difference(t *testing.T) (slope float64, smooth bool) {
	const h = 1e-5
	wide := (p.at(t, h) - p.at(t, -h)) / (2 * h)
	near := (p.at(t, h/2) - p.at(t, -h/2)) / h
	tiny := (p.at(t, h/128) - p.at(t, -h/128)) / (h / 64) // between the steps of a floor
	noise := math.Abs(p.at(t, 0)) * 1e-15 / h
	scale := max(1, math.Abs(wide))
	smooth = math.Abs(wide-near) <= 1e-7*scale+noise && math.Abs(tiny-wide) <= 1e-4*scale+128*noise && noise < 1e-8*scale
	return near + (near-wide)/3, smooth
}
