package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// precisionCase is a layer with what stands around it in a model: work by rows
// before, a bias and a residual behind, and a second product of the same data.
type precisionCase struct {
	m, k, n int
	bytes   bool // weights are stored as bytes
	views   bool // data lies in heads
	side    int  // columns of the second product
	gelu    bool // of the data, which only products read
}

func (c precisionCase) String() string {
	return fmt.Sprintf("%dx%dx%d bytes=%v views=%v", c.m, c.n, c.k, c.bytes, c.views)
}

func (c precisionCase) graph(t *testing.T) *ir.Graph {
	t.Helper()
	text := fmt.Sprintf(`graph
symbol M 0 4096
leaf 0 input "x" f32[M %[1]d]
leaf 1 weight "b" f32[1 %[2]d]
leaf 2 weight "w" f32[%[1]d %[2]d]
leaf 3 weight "v" f32[%[1]d %[4]d]
leaf 4 weight "wb" i8[%[2]d %[1]d]
leaf 5 weight "ws" f32[%[2]d 1]
leaf 6 input "heads" f32[2 M %[3]d]
`, c.k, c.n, c.k/2, c.side)
	if c.views {
		text += fmt.Sprintf("%%h = input leaf=6 : f32[2 M %[1]d]\n%%p = permute %%h axes=[1 0 2] : f32[M 2 %[1]d]\n%%x = reshape %%p : f32[M %[2]d]\n", c.k/2, c.k)
	} else {
		text += fmt.Sprintf("%%x = input : f32[M %d]\n", c.k)
	}
	if c.bytes {
		text += fmt.Sprintf("%%wb = weight leaf=4 : i8[%[1]d %[2]d]\n%%wf = cast %%wb : f32[%[1]d %[2]d]\n%%ws = weight leaf=5 : f32[%[1]d 1]\n%%we = expand %%ws : f32[%[1]d %[2]d]\n%%wm = mul %%wf %%we : f32[%[1]d %[2]d]\n%%w = permute %%wm axes=[1 0] : f32[%[2]d %[1]d]\n", c.n, c.k)
	} else {
		text += fmt.Sprintf("%%w = weight leaf=2 : f32[%d %d]\n", c.k, c.n)
	}
	if c.gelu {
		text += fmt.Sprintf(`%%c1 = const value=0x3f000000 : f32[]
%%c2 = reshape %%c1 : f32[1 1]
%%half = expand %%c2 : f32[M %[1]d]
%%c3 = const value=0x3f3504f3 : f32[]
%%c4 = reshape %%c3 : f32[1 1]
%%root = expand %%c4 : f32[M %[1]d]
%%c5 = const value=0x3f800000 : f32[]
%%c6 = reshape %%c5 : f32[1 1]
%%one = expand %%c6 : f32[M %[1]d]
%%g1 = mul %%x %%half : f32[M %[1]d]
%%g2 = mul %%x %%root : f32[M %[1]d]
%%g3 = erf %%g2 : f32[M %[1]d]
%%g4 = add %%g3 %%one : f32[M %[1]d]
%%z = mul %%g1 %%g4 : f32[M %[1]d]
`, c.k)
	} else {
		text += fmt.Sprintf("%%y = abs %%x : f32[M %[1]d]\n%%z = sub %%y %%x : f32[M %[1]d]\n", c.k)
	}
	text += fmt.Sprintf(`%%mm = matmul %%z %%w : f32[M %[2]d]
%%b = weight leaf=1 : f32[1 %[2]d]
%%e = expand %%b : f32[M %[2]d]
%%s = add %%mm %%e : f32[M %[2]d]
%%r = mul %%s %%s : f32[M %[2]d]
%%v = weight leaf=3 : f32[%[1]d %[3]d]
%%q = matmul %%z %%v : f32[M %[3]d]
return %%r %%q
`, c.k, c.n, c.side)
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return g
}

// data draws the leaves of g for m rows; row i is the same whatever m is.
func (c precisionCase) data(g *ir.Graph, m int) [][]byte {
	all := make([][]byte, len(g.Leaves))
	float := func(r *rand.Rand) float32 { return float32(r.NormFloat64() * math.Exp(r.NormFloat64())) }
	row := func(i int) []byte {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		var b []byte
		for range c.k {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float(r)))
		}
		return b
	}
	for i, l := range g.Leaves {
		switch l.Name {
		case "x":
			for j := range m {
				all[i] = append(all[i], row(j)...)
			}
		case "heads":
			for h := range 2 {
				for j := range m {
					all[i] = append(all[i], row(j)[h*2*c.k:(h+1)*2*c.k]...)
				}
			}
		default:
			r := rand.New(rand.NewPCG(uint64(i), 6))
			n, _ := l.Type.Shape.Numel().Const()
			for range n {
				if l.Type.DType == ir.I8 {
					all[i] = append(all[i], byte(r.IntN(256)))
				} else {
					all[i] = binary.LittleEndian.AppendUint32(all[i], math.Float32bits(float(r)))
				}
			}
		}
	}
	return all
}

// inPrecision is g after the pass of a precision alone, and with every integer
// that it computes on the way to a product among the outputs.
func inPrecision(t *testing.T, g *ir.Graph, p ir.DType) *ir.Graph {
	t.Helper()
	g, _, err := rewrite.Run(g, rewrite.Options{NoOpt: []string{"all"}, Precision: p, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	shown := *g
	shown.Outputs = append([]*ir.Node(nil), g.Outputs...)
	for _, n := range g.Nodes {
		if n.DType == ir.I32 && (n.Op == ir.MatMul || n.Op == ir.Sub) || n.DType == ir.U8 {
			shown.Outputs = append(shown.Outputs, n)
		}
	}
	return &shown
}

var precisionCases = []precisionCase{
	{1, 16, 16, false, false, 16, false}, {5, 18, 17, false, true, 20, false}, {33, 64, 48, true, false, 5, false}, {7, 130, 67, true, true, 33, false}, {70, 514, 33, false, true, 16, false}, {0, 20, 20, true, false, 16, false},
	{37, 96, 33, true, false, 16, true}, {6, 18, 17, false, true, 20, true},
}

// TestInt8SameEverywhere compares the integers of quantised products with the
// referee's, bit for bit, on every instruction set; and the results of whole
// programs, merged and fused, with one another, for any number of threads and
// of rows.
func TestInt8SameEverywhere(t *testing.T) {
	for _, c := range precisionCases {
		g := c.graph(t)
		data := c.data(g, c.m)
		env := ir.Env{"M": c.m}
		shown := inPrecision(t, g, ir.I8)
		if len(shown.Outputs) < len(g.Outputs)+3 {
			t.Fatalf("%v: few integers in\n%v", c, shown)
		}
		want, bounds, err := interp.Evaluate(context.Background(), shown, env, byName(g, shown, data))
		if err != nil {
			t.Fatal(err)
		}
		var first [][]byte
		for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2, NEON, Generic} {
			for _, threads := range []int{1, 3} {
				d, err := New(Options{ISA: isa, Threads: threads})
				if err != nil {
					t.Logf("%v: %v", isa, err)
					continue
				}
				name := fmt.Sprintf("%v, %v, %d threads", c, isa, threads)
				got, err := evaluate(d, shown, env, byName(g, shown, data), device.Options{Check: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for i, n := range shown.Outputs {
					if err := compare(n.DType, got[i], want[i], bounds[i]); err != nil {
						t.Errorf("%s: %v: %v", name, n, err)
					}
				}
				whole, err := evaluate(d, g, env, data, device.Options{Precision: ir.I8, Check: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if first == nil {
					first = whole
				}
				for i := range whole {
					inF32 := i == 1 && c.side < 16 // too small: an ordinary sum
					if !inF32 && !bytes.Equal(whole[i], first[i]) {
						t.Errorf("%s: output %d differs from that of the first device", name, i)
					}
				}
				c.rowsAlone(t, d, g, ir.I8, whole)
				_ = d.Close()
			}
		}
	}
}

// rowsAlone compares some rows with what they give alone.
func (c precisionCase) rowsAlone(t *testing.T, d *Device, g *ir.Graph, p ir.DType, whole [][]byte) {
	t.Helper()
	for m := 1; m < c.m; m += 1 + c.m/3 {
		few, err := evaluate(d, g, ir.Env{"M": m}, c.data(g, m), device.Options{Precision: p})
		if err != nil {
			t.Fatal(err)
		}
		for i := range few {
			if !bytes.HasPrefix(whole[i], few[i]) {
				t.Errorf("%v, %v: output %d of %d rows differs from that of all", c, d.ISA(), i, m)
			}
		}
	}
}

// byName orders the data of g's leaves as h numbers them.
func byName(g, h *ir.Graph, data [][]byte) [][]byte {
	all := make([][]byte, len(h.Leaves))
	for i, l := range h.Leaves {
		for j, k := range g.Leaves {
			if k.Name == l.Name {
				all[i] = data[j]
			}
		}
	}
	return all
}

// TestBF16WithinBounds compares products of bf16 with the referee's of the same
// graph: they are sums in f32 of the same terms.
func TestBF16WithinBounds(t *testing.T) {
	for _, c := range precisionCases {
		g := c.graph(t)
		data := c.data(g, c.m)
		env := ir.Env{"M": c.m}
		rounded := inPrecision(t, g, ir.BF16)
		want, bounds, err := interp.Evaluate(context.Background(), rounded, env, byName(g, rounded, data))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range withSlow(t) {
			got, err := evaluate(d, g, env, data, device.Options{Precision: ir.BF16, Check: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range g.Outputs {
				if err := compare(n.DType, got[i], want[i], bounds[i]); err != nil {
					t.Errorf("%v, %v: output %d: %v", c, d.ISA(), i, err)
				}
			}
			c.rowsAlone(t, d, g, ir.BF16, got)
		}
	}
}

// TestGradientsInNarrowFormats does the same for the gradients of such layers: the
// operands of their products lie by rows and by columns.
func TestGradientsInNarrowFormats(t *testing.T) {
	all, loose := 0, 0
	for seed := range uint64(40) {
		c := precisionCase{m: 1 + int(seed*11%70), k: 16 + 2*int(seed*7%40), n: 16 + int(seed*5%50), views: seed%3 == 0, side: 8 + int(seed*3%20)}
		g := c.graph(t)
		data := c.data(g, c.m)
		g, data = gradients(t, g, data)
		env := ir.Env{"M": c.m}
		p := []ir.DType{ir.BF16, ir.F16}[seed%2]
		rounded := inPrecision(t, g, p)
		want, bounds, err := interp.Evaluate(context.Background(), rounded, env, byName(g, rounded, data))
		if err != nil {
			t.Fatal(err)
		}
		for _, bound := range bounds {
			for _, b := range bound {
				all++
				if math.IsInf(b, 0) {
					loose++
				}
			}
		}
		for _, d := range machines(t) {
			if few(d, int(seed)) {
				continue
			}
			for _, off := range [][]string{nil, {"all"}} {
				got, err := evaluate(d, g, env, data, device.Options{Precision: p, NoOpt: off, Check: true})
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range g.Outputs {
					if err := compare(n.DType, got[i], want[i], bounds[i]); err != nil {
						t.Errorf("%v, %v, %v, off %v: output %d: %v", c, p, d.ISA(), off, i, err)
					}
				}
			}
		}
	}
	if loose > all/4 {
		t.Errorf("nothing is known of %d elements of %d", loose, all)
	}
}

// TestInt8PassesOff compares layers of many sizes, with passes on and off, with
// the referee's results of the graph that the one pass was run on before.
func TestInt8PassesOff(t *testing.T) {
	devices := machines(t)
	for seed := range uint64(60) {
		if few(devices[seed%uint64(len(devices))], int(seed)/len(devices)) {
			continue
		}
		c := precisionCase{m: 1 + int(seed%19), k: 16 + 2*int(seed*7%40), n: 16 + int(seed*5%50), bytes: seed%2 == 0, views: seed%3 == 0, side: 8 + int(seed*3%20)}
		g := c.graph(t)
		data := c.data(g, c.m)
		env := ir.Env{"M": c.m}
		shown := inPrecision(t, g, ir.I8)
		want, bounds, err := interp.Evaluate(context.Background(), shown, env, byName(g, shown, data))
		if err != nil {
			t.Fatal(err)
		}
		d := devices[seed%uint64(len(devices))]
		for _, off := range [][]string{nil, {"all"}, {"merge-products"}, {"fuse"}} {
			got, err := evaluate(d, g, env, data, device.Options{NoOpt: off, Precision: ir.I8, Check: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range g.Outputs {
				if err := compare(n.DType, got[i], want[i], bounds[i]); err != nil {
					t.Fatalf("%v, %v, off %v: output %d: %v", c, d.ISA(), off, i, err)
				}
			}
		}
	}
}

// TestBytesAtTheirEnds sums as many of the largest products of bytes as f32 could
// not, on every instruction set.
func TestBytesAtTheirEnds(t *testing.T) {
	const m, k, n = 2, 65793, 3
	g, err := ir.Parse(fmt.Sprintf(`graph
leaf 0 input "x" u8[%[1]d %[2]d]
leaf 1 weight "w" i8[%[2]d %[3]d]
%%x = input : u8[%[1]d %[2]d]
%%a = cast %%x : i32[%[1]d %[2]d]
%%w = weight leaf=1 : i8[%[2]d %[3]d]
%%b = cast %%w : i32[%[2]d %[3]d]
%%y = matmul %%a %%b : i32[%[1]d %[3]d]
return %%y
`, m, k, n))
	if err != nil {
		t.Fatal(err)
	}
	x, w := bytes.Repeat([]byte{255}, m*k), bytes.Repeat([]byte{0x80, 127, 1}, k)
	for _, d := range machines(t) {
		got, err := evaluate(d, g, nil, [][]byte{x, w}, device.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range m * n {
			want := 255 * k * []int{-128, 127, 1}[i%n]
			if v := int(int32(binary.LittleEndian.Uint32(got[0][4*i:]))); v != want {
				t.Errorf("%v: element %d is %d, want %d", d.ISA(), i, v, want)
			}
		}
	}
}
