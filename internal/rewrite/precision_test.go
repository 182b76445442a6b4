package rewrite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// productCase is a random graph around one product of data with weights: its
// outputs are what becomes of the product, and both operands.
type productCase struct {
	rng  *rand.Rand
	b    *ir.Builder
	data map[string][]byte
	err  error

	batch, m, k, n int
	wild           bool // operands over many magnitudes, some of them zero
}

func newProductCase(seed uint64) *productCase {
	rng := rand.New(rand.NewPCG(seed, 3))
	side := func() int { return minProductSide + rng.IntN(30) }
	c := &productCase{rng: rng, b: ir.NewBuilder(nil), data: map[string][]byte{}, batch: 1, m: 1 + rng.IntN(7), k: side(), n: side(), wild: seed%4 == 1}
	if seed%3 == 0 {
		c.batch = 1 + rng.IntN(3)
	}
	return c
}

func (c *productCase) add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Add(op, a, in...)
	c.err = err
	return n
}

// leaf is one of random numbers; floats are spread around an offset, as
// activations are.
func (c *productCase) leaf(kind ir.Op, d ir.DType, sizes ...int) *ir.Node {
	if c.err != nil {
		return nil
	}
	shape := ir.Static(sizes...)
	count, _ := shape.Numel().Const()
	name := fmt.Sprintf("x%d", len(c.data))
	var data []byte
	offset, spread := c.rng.NormFloat64(), math.Exp(2*c.rng.NormFloat64())
	for range count {
		v := offset + spread*c.rng.NormFloat64()
		if c.wild {
			v = math.Ldexp(c.rng.NormFloat64(), c.rng.IntN(60)-30) * float64(c.rng.IntN(2))
		}
		switch d {
		case ir.I8:
			data = append(data, byte(c.rng.IntN(256)))
		case ir.BF16:
			data = binary.LittleEndian.AppendUint16(data, ir.BF16FromFloat32(float32(v)))
		default:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}
	c.data[name] = data
	n, err := c.b.AddLeaf(ir.Leaf{Kind: kind, Name: name, Type: ir.Type{DType: d, Shape: shape}})
	c.err = err
	return n
}

func (c *productCase) cast(d ir.DType, x *ir.Node) *ir.Node {
	return c.add(ir.Cast, ir.Attr{DType: d}, x)
}

func (c *productCase) permute(x *ir.Node, axes ...int) *ir.Node {
	return c.add(ir.Permute, ir.Attr{Axes: axes}, x)
}

func (c *productCase) reshape(x *ir.Node, sizes ...int) *ir.Node {
	return c.add(ir.Reshape, ir.Attr{Shape: ir.Static(sizes...)}, x)
}

// rows is the data, [batch, m, k], in one of the ways data comes.
func (c *productCase) rows(way int) *ir.Node {
	switch way {
	case 0:
		return c.leaf(ir.Input, ir.F32, c.batch, c.m, c.k)
	case 1: // the other way round
		return c.permute(c.leaf(ir.Input, ir.F32, c.batch, c.k, c.m), 0, 2, 1)
	case 2: // heads, put together
		c.k = 4 * (4 + c.k/8)
		return c.reshape(c.permute(c.leaf(ir.Input, ir.F32, c.batch, 4, c.m, c.k/4), 0, 2, 1, 3), c.batch, c.m, c.k)
	case 3: // rows of several sizes that a reshape takes apart
		return c.reshape(c.leaf(ir.Input, ir.F32, c.batch*c.m*c.k), c.batch, c.m, c.k)
	case 4: // one side of 0
		x := c.leaf(ir.Input, ir.F32, c.batch, c.m, c.k)
		return c.add(ir.Abs, ir.Attr{}, x)
	}
	return c.cast(ir.F32, c.leaf(ir.Input, ir.BF16, c.batch, c.m, c.k))
}

// weights is [batch, k, n], in one of the ways weights are stored.
func (c *productCase) weights(way int) *ir.Node {
	each := ir.Attr{Shape: ir.Static(c.batch, c.k, c.n)}
	switch way {
	case 0:
		return c.leaf(ir.Weight, ir.F32, c.batch, c.k, c.n)
	case 1: // one for all batches
		return c.add(ir.Expand, each, c.leaf(ir.Bound, ir.F32, 1, c.k, c.n))
	case 2: // bytes with a scale for each column, stored by columns
		w := c.cast(ir.F32, c.leaf(ir.Weight, ir.I8, 1, c.n, c.k))
		s := c.add(ir.Expand, ir.Attr{Shape: ir.Static(1, c.n, c.k)}, c.leaf(ir.Weight, ir.F32, 1, c.n, 1))
		return c.add(ir.Expand, each, c.permute(c.add(ir.Mul, ir.Attr{}, s, w), 0, 2, 1))
	case 3:
		return c.cast(ir.F32, c.leaf(ir.Weight, ir.I8, c.batch, c.k, c.n))
	case 4: // bytes with a scale for each row, which no column has
		w := c.cast(ir.F32, c.leaf(ir.Weight, ir.I8, c.batch, c.k, c.n))
		return c.add(ir.Mul, ir.Attr{}, w, c.add(ir.Expand, each, c.leaf(ir.Weight, ir.F32, c.batch, c.k, 1)))
	}
	return c.cast(ir.F32, c.leaf(ir.Weight, ir.BF16, c.batch, c.k, c.n))
}

func (c *productCase) graph(t *testing.T, x, w int) (*ir.Graph, [][]byte) {
	t.Helper()
	rows := c.rows(x)
	columns := c.weights(w)
	y := c.add(ir.MatMul, ir.Attr{}, rows, columns)
	g := c.b.Finish(y, rows, columns)
	if c.err != nil {
		t.Fatal(c.err)
	}
	var data [][]byte
	for _, l := range g.Leaves {
		data = append(data, c.data[l.Name])
	}
	return g, data
}

const dataWays, weightWays = 6, 6

// errorBound is what a product in a precision may differ by from the exact one:
// for element (row, col) by what the formats of docs/precision.md lose.
func (c *productCase) errorBound(p ir.DType, x, w []float64, batch, row, col int) (exact, limit float64) {
	const ulp = 0x1p-24
	low, high, top := 0.0, 0.0, 0.0
	sum, sumX, sumW := 0.0, 0.0, 0.0
	for k := range c.k {
		xv, wv := x[(batch*c.m+row)*c.k+k], w[(batch*c.k+k)*c.n+col]
		exact += xv * wv
		sum += math.Abs(xv * wv)
		low, high, top = min(low, xv), max(high, xv), max(top, math.Abs(wv))
		sumX, sumW = sumX+math.Abs(xv), sumW+math.Abs(wv)
	}
	switch p {
	case ir.BF16:
		return exact, (0x1p-7+0x1p-16+float64(c.k)*ulp)*sum + 0x1p-140
	case ir.F16: // beyond its range infinite, towards 0 in steps of 2^-24
		const half, step = 0x1p-11, 0x1p-25
		limit = (2*half+half*half+float64(c.k)*ulp)*sum + 2*step*(sumX+sumW) + float64(c.k)*step*step
		if max(high, -low, top, math.Abs(exact)+limit) > 65504 {
			return exact, math.Inf(1)
		}
		return exact, limit + half*(math.Abs(exact)+limit) + step
	}
	s, t := max((high-low)/255, minScale), max(top/127, minScale)
	perX, perW := s*(0.5+0x1p-13), t*(0.5+0x1p-13)
	limit = perX*(sumW+float64(c.k)*perW) + perW*sumX
	return exact, limit + 6*ulp*(math.Abs(exact)+limit) + 0x1p-140
}

// Results in another precision are within the bounds that can be computed of
// the operands, and a second run of the passes finds nothing to do.
func TestPrecisionStaysWithinBounds(t *testing.T) {
	for _, p := range []ir.DType{ir.BF16, ir.F16, ir.I8} {
		t.Run(p.String(), func(t *testing.T) {
			f := narrow{dtype: p}
			used := 0.0 // of the bound, at most
			for seed := range 12 * graphs() / 10 {
				c := newProductCase(seed)
				g, data := c.graph(t, int(seed)%dataWays, int(seed/dataWays)%weightWays)
				o := Options{Precision: p, Check: true}
				if seed%2 == 0 {
					o.NoOpt = []string{"all"}
				}
				after := runTwice(t, g, o)
				if already := p != ir.I8 && f.has(g.Outputs[1]) && f.has(g.Outputs[2]); !computesIn(after, p) && !already {
					t.Fatalf("seed %d: no product in %v\n%v", seed, p, after)
				}
				want, _ := evaluate(t, g, nil, data)
				got, _ := evaluate(t, after, nil, dataFor(g, after, data))
				x, w := floats(want[1]), floats(want[2])
				for i, v := range floats(got[0]) {
					col, row, batch := i%c.n, i/c.n%c.m, i/c.n/c.m
					exact, limit := c.errorBound(p, x, w, batch, row, col)
					if math.IsInf(limit, 1) {
						continue
					}
					if !(math.Abs(v-exact) <= limit) {
						t.Fatalf("seed %d: element %d %d %d is %v, the product %v, which is more than %v off\n%v", seed, batch, row, col, v, exact, limit, after)
					}
					used = max(used, math.Abs(v-exact)/limit)
				}
			}
			t.Logf("at most %.2f of the bound is used", used)
			if used < 0.1 {
				t.Error("the bound says nothing")
			}
		})
	}
}

// computesIn tells whether a product of g is one of a precision.
func computesIn(g *ir.Graph, p ir.DType) bool {
	for _, n := range g.Nodes {
		if n.Op == ir.MatMul && (p == ir.I8 && n.DType == ir.I32 || p != ir.I8 && !narrow{dtype: p}.changes(n.In)) {
			return true
		}
	}
	return false
}

func floats(b []byte) []float64 {
	all := make([]float64, len(b)/4)
	for i := range all {
		all[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return all
}

// What cannot be quantised is NaN in its row or column, and leaves the others
// as they are. So is a range that no scale holds; magnitudes at the ends of f32
// and zeros give what they should.
func TestInt8SpecialValues(t *testing.T) {
	const m, k, n = 12, 16, 17
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := make([]float32, m*k)
	w := make([]float32, k*n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	fill := func(row int, v float32) {
		for i := range k {
			x[row*k+i] = v
		}
	}
	x[0*k+3], x[1*k+5], x[2*k], x[3*k], x[3*k+1] = nan, inf, -inf, inf, -inf
	fill(4, 0)
	fill(5, 1e-44)
	fill(6, -3e38)
	x[7*k], x[7*k+1] = 3e38, -3e38
	fill(8, 2)
	for i := range k { // columns: not a number, zeros, tiny, large
		w[i*n+1], w[i*n+2], w[i*n+3] = 0, 1e-44, 1e-3
	}
	w[4*n], w[5*n+4] = nan, inf

	g := parse(t, fmt.Sprintf(`graph
leaf 0 input "x" f32[%d %d]
leaf 1 weight "w" f32[%d %d]
%%x = input : f32[%d %d]
%%w = weight leaf=1 : f32[%d %d]
%%y = matmul %%x %%w : f32[%d %d]
return %%y
`, m, k, k, n, m, k, k, n, m, n))
	after := runTwice(t, g, Options{Precision: ir.I8, Check: true})
	out, _ := evaluate(t, after, nil, dataFor(g, after, [][]byte{bytesOf(x), bytesOf(w)}))
	y := floats(out[0])
	for i, v := range y {
		row, col := i/n, i%n
		wantNaN := row < 4 || col == 0 || col == 4
		if math.IsNaN(v) != wantNaN {
			t.Errorf("row %d, column %d: %v, should be NaN: %v", row, col, v, wantNaN)
		}
		if wantNaN {
			continue
		}
		exact, size, sizeX, sizeW := 0.0, 0.0, 0.0, 0.0
		for j := range k {
			xv, wv := float64(x[row*k+j]), float64(w[j*n+col])
			exact, size = exact+xv*wv, size+math.Abs(xv*wv)
			sizeX, sizeW = sizeX+math.Abs(xv), sizeW+math.Abs(wv)
		}
		switch {
		case (row == 4 || col == 1) && v != 0:
			t.Errorf("row %d, column %d: %v, want 0", row, col, v)
		case row == 5 || col == 2: // subnormal: the least step there is, times what it meets
			if !(math.Abs(v-exact) <= 0x1p-126*(sizeX+sizeW)) {
				t.Errorf("row %d, column %d: %v, want %v", row, col, v, exact)
			}
		case row == 6 || row == 7: // sums at the end of f32, of a range beyond it
			if math.IsInf(v, 0) && math.Abs(exact) < 3e38 || !math.IsInf(v, 0) && !(math.Abs(v-exact) <= size/16+3e36*sizeW) {
				t.Errorf("row %d, column %d: %v, want %v", row, col, v, exact)
			}
		case !(math.Abs(v-exact) <= size/16+0.2):
			t.Errorf("row %d, column %d: %v, want %v", row, col, v, exact)
		}
	}
}

func bytesOf(v []float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func TestUnknownPrecisionIsAnError(t *testing.T) {
	for _, p := range []ir.DType{ir.F64, ir.U8} {
		if _, _, err := Run(parse(t, double), Options{Precision: p}); err == nil || !strings.Contains(err.Error(), p.String()) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// TF32 is a permission: nothing is rounded, so that results have the bits that
// they have without, on the referee; but every product of data says it, after all
// other passes too, and read back from its text.
func TestTF32IsAPermission(t *testing.T) {
	for seed := range 12 * graphs() / 10 {
		c := newProductCase(seed)
		g, data := c.graph(t, int(seed)%dataWays, int(seed/dataWays)%weightWays)
		plain, _, err := Run(g, Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		after := runTwice(t, g, Options{Precision: ir.TF32, Check: true})
		again, err := ir.Parse(after.String())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, g := range []*ir.Graph{after, again} {
			for _, n := range g.Nodes {
				if n.Op == ir.MatMul && !n.Attr.TF32 {
					t.Fatalf("seed %d: %v may not be rounded\n%v", seed, n, g)
				}
			}
		}
		if after.Hash() == plain.Hash() {
			t.Fatalf("seed %d: the hash is that of another program\n%v", seed, after)
		}
		want, _ := evaluate(t, plain, nil, dataFor(g, plain, data))
		got, _ := evaluate(t, after, nil, dataFor(g, after, data))
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("seed %d: output %d differs\n%v", seed, i, after)
			}
		}
	}
}

// Products of one matrix become one where they may be rounded alike, and stay so.
func TestTF32SurvivesMerging(t *testing.T) {
	text := `graph
leaf 0 input "x" f32[5 32]
leaf 1 weight "a" f32[32 16]
leaf 2 weight "b" f32[32 16]
%x = input : f32[5 32]
%a = weight leaf=1 : f32[32 16]
%b = weight leaf=2 : f32[32 16]
%p = matmul %x %a tf32 : f32[5 16]
%q = matmul %x %b tf32 : f32[5 16]
return %p %q
`
	for _, c := range []struct {
		text, want string
		products   int
	}{{text, " tf32 : f32[5 32]", 1}, {strings.Replace(text, "%b tf32", "%b", 1), " tf32 : f32[5 16]", 2}} {
		g, _, err := Run(parse(t, c.text), Options{Check: true})
		if err != nil || strings.Count(g.String(), c.want) != 1 || strings.Count(g.String(), "matmul") != c.products {
			t.Errorf("%v\n%v", err, g)
		}
	}
}
