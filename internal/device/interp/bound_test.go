package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// chain builds random operations on floats. Built twice from one seed, in f64
// and in a narrower type, the first is the exact value of the second.
type chain struct {
	*graph
	rng *rand.Rand
	t   ir.DType
}

// source is random values, rounded to the chain's type: so errors begin.
func (c *chain) source(shape ...int) *ir.Node {
	values := make([]float64, numel(shape))
	for i := range values {
		values[i] = c.rng.NormFloat64() * 2
	}
	return c.cast(of(c.graph, values, shape...), c.t)
}

func (c *chain) cast(x *ir.Node, t ir.DType) *ir.Node {
	if x.DType == t {
		return x
	}
	return c.add(ir.Cast, ir.Attr{DType: t}, x)
}

var smooth = []ir.Op{ir.Neg, ir.Abs, ir.Recip, ir.Sqrt, ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p,
	ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Trunc, ir.Floor, ir.Round}

// step makes one operation that keeps the shape [4 6].
func (c *chain) step(x, y *ir.Node) *ir.Node {
	rows := ir.Attr{Axes: []int{0}}
	switch k := c.rng.IntN(36); {
	case k < len(smooth):
		return c.add(smooth[k], ir.Attr{}, x)
	case k < 26:
		return c.add([]ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Pow, ir.Min, ir.Max, ir.Add}[k-18], ir.Attr{}, x, y)
	case k == 26:
		return c.add(ir.FMA, ir.Attr{}, x, y, x)
	case k == 27:
		return c.add(ir.Where, ir.Attr{}, c.add(ir.Less, ir.Attr{}, x, y), y, x)
	case k < 31:
		op := []ir.Op{ir.ReduceSum, ir.ReduceProd, ir.ReduceMax}[k-28]
		return c.add(ir.Expand, ir.Attr{Shape: x.Shape}, c.add(op, rows, x))
	case k == 31:
		mode := []string{"sum", "prod", "max"}[c.rng.IntN(3)]
		return c.add(ir.Scan, ir.Attr{Axes: []int{1}, Mode: mode}, x)
	case k == 32:
		w := c.source(6, 6)
		return c.add(ir.MatMul, ir.Attr{}, x, w)
	case k == 33:
		index := of(c.graph, []int64{2, 2, 0, 5, 1, 5, 2, 2, 0, 5, 1, 5, 0, 0, 0, 0, 0, 0, 5, 4, 3, 2, 1, 0}, 4, 6)
		return c.add(ir.Scatter, ir.Attr{Axes: []int{1}, Mode: []string{"add", "set"}[c.rng.IntN(2)]}, x, index, y)
	case k == 34:
		return c.get(c.add(ir.Sort, rows, x), 0)
	default: // softmax written out
		top := c.add(ir.Expand, ir.Attr{Shape: x.Shape}, c.add(ir.ReduceMax, ir.Attr{Axes: []int{1}}, x))
		p := c.add(ir.Exp, ir.Attr{}, c.add(ir.Sub, ir.Attr{}, x, top))
		sum := c.add(ir.Expand, ir.Attr{Shape: x.Shape}, c.add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, p))
		return c.add(ir.Div, ir.Attr{}, p, sum)
	}
}

// randomChain builds a chain of n operations.
func randomChain(t testing.TB, seed uint64, dt ir.DType, n int) (*chain, *ir.Node) {
	c := &chain{graph: newGraph(t), rng: rand.New(rand.NewPCG(seed, 1)), t: dt}
	x, y := c.source(4, 6), c.source(4, 6)
	for range n {
		x, y = c.step(x, y), x
	}
	return c, x
}

// floatsOf reads an output of any float type.
func floatsOf(t ir.DType, data []byte) []float64 {
	return (&value{t: t, shape: []int{len(data) / t.Size()}, data: data}).float64s()
}

// compareWithin checks |got - want| <= bound, and returns how many elements
// had a finite bound.
func compareWithin(t *testing.T, what any, got, want, bound, more []float64) (known int) {
	t.Helper()
	for i := range got {
		b := bound[i]
		if more != nil {
			b += more[i]
		}
		if math.IsInf(b, 1) {
			continue
		}
		known++
		same := got[i] == want[i] || math.IsNaN(got[i]) && math.IsNaN(want[i])
		if d := math.Abs(got[i] - want[i]); !same && !(d <= b) {
			t.Errorf("%v, element %d: %v is %v from the exact %v, the bound is %v", what, i, got[i], d, want[i], b)
			return known
		}
	}
	return known
}

// perturb makes every transcendental function wrong by up to the promised
// accuracy, and undoes it when the test ends.
func perturb(t *testing.T, rng *rand.Rand) {
	for op, f := range functions {
		switch op {
		case ir.Sqrt, ir.Trunc, ir.Floor, ir.Round:
			continue
		}
		t.Cleanup(func() { functions[op] = f })
		functions[op] = func(x float64) float64 {
			return f(x) * (1 + (rng.Float64()*2-1)*(transcendental-1)*0x1p-24)
		}
	}
}

// Chains of random operations stay within their bounds, also where functions
// are as inexact as a device's may be.
func TestBoundsHold(t *testing.T) {
	for _, sloppy := range []bool{false, true} {
		for _, dt := range []ir.DType{ir.F32, ir.F16, ir.BF16} {
			t.Run(dt.String(), func(t *testing.T) {
				total, known := 0, 0
				for seed := range uint64(1500) {
					n := 1 + int(seed%6)
					g64, x64 := randomChain(t, seed, ir.F64, n)
					want, more, err := g64.evaluate(nil, x64)
					if err != nil {
						t.Fatal(err)
					}
					t.Run("", func(t *testing.T) {
						if sloppy {
							perturb(t, rand.New(rand.NewPCG(seed, 2)))
						}
						g, x := randomChain(t, seed, dt, n)
						got, bounds, err := g.evaluate(nil, x)
						if err != nil {
							t.Fatal(err)
						}
						total += len(bounds[0])
						known += compareWithin(t, seed, floatsOf(dt, got[0]), floatsOf(ir.F64, want[0]), bounds[0], more[0])
					})
				}
				// NaN and infinities abound in such chains; most elements
				// must still have a bound, or nothing was tested.
				if known*10 < total*6 {
					t.Errorf("only %d of %d elements have a bound", known, total)
				}
			})
		}
	}
}

// A device that sums in f32, one term after the other or by halves, in
// whatever order, stays within the bounds.
func TestBoundsCoverOtherOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const m, k, n = 3, 500, 4
	x, y := make([]float32, m*k), make([]float32, k*n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = float32(rng.NormFloat64())
	}
	g := newGraph(t)
	p := g.add(ir.MatMul, ir.Attr{}, of(g, x, m, k), of(g, y, k, n))
	outs, bounds, err := g.evaluate(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	got := elements[float32](outs[0])
	worst := 0.0
	for i := range m {
		for j := range n {
			terms := make([]float32, k)
			for q := range k {
				terms[q] = x[i*k+q] * y[q*n+j]
			}
			b := bounds[0][i*n+j]
			for range 5 {
				rng.Shuffle(k, func(a, b int) { terms[a], terms[b] = terms[b], terms[a] })
				var sum float32
				for _, v := range terms {
					sum += v
				}
				for _, other := range []float32{sum, halves(terms)} {
					d := math.Abs(float64(other) - float64(got[i*n+j]))
					worst = max(worst, d/b)
				}
			}
		}
	}
	if !(worst > 0 && worst <= 2) {
		t.Errorf("other orders differ by %v of the bound, at most 2 is allowed and some difference expected", worst)
	}
}

// The worst case of an order: a sum in f32 that begins with 1 loses all that
// follows, if each term is below half an ulp. Bounds grow with the length.
func TestBoundsOfLostTerms(t *testing.T) {
	const n = 1000
	x := make([]float32, n)
	fill(x, 0x1.fffffep-25)
	x[0] = 1
	g := newGraph(t)
	sum := g.add(ir.ReduceSum, axes(0), of(g, x))
	mean, _ := g.attend(ir.AttentionAttr{}, of(g, []float32{0}, 1, 1, 1, 1), ones(g, 1, 1, n, 1), of(g, x, 1, 1, n, 1))
	outs, bounds, err := g.evaluate(nil, sum, mean)
	if err != nil {
		t.Fatal(err)
	}
	for i, sequential := range []float64{1, 1. / n} {
		got := float64(elements[float32](outs[i])[0])
		if d := got - sequential; !(d > 0 && d <= bounds[i][0] && bounds[i][0] <= 20*d) {
			t.Errorf("%d: %v less %v is %v, the bound is %v", i, got, sequential, d, bounds[i][0])
		}
	}
}

func halves(x []float32) float32 {
	if len(x) == 1 {
		return x[0]
	}
	return halves(x[:len(x)/2]) + halves(x[len(x)/2:])
}

// Small whole numbers are exact in every order, so their bound is 0.
func TestBoundsOfWholeNumbers(t *testing.T) {
	for _, build := range []func(g *graph, x *ir.Node) *ir.Node{
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.Add, ir.Attr{}, x, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.Mul, ir.Attr{}, x, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.MatMul, ir.Attr{}, x, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.ReduceSum, ir.Attr{Axes: []int{0, 1}}, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.ReduceProd, ir.Attr{Axes: []int{1}}, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.Scan, ir.Attr{Axes: []int{1}, Mode: "sum"}, x) },
		func(g *graph, x *ir.Node) *ir.Node { return g.add(ir.Max, ir.Attr{}, x, x) },
	} {
		g := newGraph(t)
		n := build(g, of(g, []float32{1, -2, 3, 4, 0, 6, 7, -8, 9}, 3, 3))
		_, bounds, err := g.evaluate(nil, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bounds[0] {
			if b != 0 {
				t.Errorf("%v of whole numbers has bounds %v", n.Op, bounds[0])
				break
			}
		}
	}
}

// An answer that rounding could turn has no finite bound, or one that covers
// both answers.
func TestBoundsOfDecisions(t *testing.T) {
	third := func(g *graph, t ir.DType) *ir.Node { // 1/3 with an error
		return g.add(ir.Cast, ir.Attr{DType: t}, of(g, []float64{1.0 / 3, 5, -2}))
	}
	for _, c := range []struct {
		name  string
		build func(g *graph) *ir.Node
		want  []float64
	}{
		{"less", func(g *graph) *ir.Node {
			return g.add(ir.Less, ir.Attr{}, third(g, ir.F32), of(g, []float32{1.0 / 3, 4, -3}))
		}, []float64{1, 0, 0}},
		{"floor", func(g *graph) *ir.Node {
			x := g.add(ir.Mul, ir.Attr{}, third(g, ir.F32), of(g, []float32{3, 3, 3}))
			return g.add(ir.Floor, ir.Attr{}, x)
		}, []float64{1, 0, 0}},
		{"cast", func(g *graph) *ir.Node {
			x := g.add(ir.Cast, ir.Attr{DType: ir.F32}, of(g, []float64{126.9999999, 5.1, 126.9999999 + 128}))
			return g.add(ir.Cast, ir.Attr{DType: ir.I8}, g.add(ir.Cast, ir.Attr{DType: ir.I32}, x))
		}, []float64{math.Inf(1), 0, math.Inf(1)}},
		{"argmax", func(g *graph) *ir.Node {
			x := g.add(ir.Concat, ir.Attr{Axes: []int{0}}, third(g, ir.F32), of(g, []float32{5}))
			return g.add(ir.ArgMax, ir.Attr{Axes: []int{0}}, g.add(ir.Exp, ir.Attr{}, x))
		}, []float64{math.Inf(1)}},
		{"argmin", func(g *graph) *ir.Node {
			return g.add(ir.ArgMin, ir.Attr{Axes: []int{0}}, g.add(ir.Exp, ir.Attr{}, third(g, ir.F32)))
		}, []float64{0}},
	} {
		g := newGraph(t)
		_, bounds, err := g.evaluate(nil, c.build(g))
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range bounds[0] {
			if b != c.want[i] {
				t.Errorf("%s: bounds %v, want %v", c.name, bounds[0], c.want)
				break
			}
		}
	}
}

// A product whose factors meet in another order may be rounded among the
// subnormal numbers on the way, where the relative error has no bound.
func TestBoundsOfTinyProducts(t *testing.T) {
	for _, c := range []struct {
		x        any
		anything bool
	}{
		{[]float64{1e-160, 3e-149, 7}, true},
		{[]float64{1e-160, 3e-140, 7}, false},
		{[]float32{1e-20, 3e-19, 7}, true},
		{[]float32{1e-20, 3e-15, 7}, false},
	} {
		g := newGraph(t)
		var x *ir.Node
		switch v := c.x.(type) {
		case []float64:
			x = of(g, v)
		case []float32:
			x = of(g, v)
		}
		_, bounds, err := g.evaluate(nil, g.add(ir.ReduceProd, ir.Attr{Axes: []int{0}}, x))
		if err != nil {
			t.Fatal(err)
		}
		if b := bounds[0][0]; math.IsInf(b, 1) != c.anything || b == 0 {
			t.Errorf("the product of %v has the bound %v", c.x, b)
		}
	}
}
