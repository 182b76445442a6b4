package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// commonCase is products of rows by the same matrix.
type commonCase struct {
	dtype   ir.DType // of operands, or I8: of U8 by I8
	k, cols int
	turned  bool   // the matrix lies by columns
	batch   int    // of the first product
	from    string // what the matrix is: an input, or made of one
	rows    []int  // of each product; the first has a symbol
	part    bool   // there are as many again by a half of the matrix
}

func drawCommon(rng *rand.Rand) commonCase {
	c := commonCase{
		dtype: []ir.DType{ir.F32, ir.F32, ir.BF16, ir.F16, ir.F64, ir.I8}[rng.IntN(6)], k: 1 + rng.IntN(200), cols: 1 + rng.IntN(150),
		turned: rng.IntN(2) == 0, batch: 1 + rng.IntN(6)/5, from: []string{"input", "input", "temp"}[rng.IntN(3)],
		part: rng.IntN(4) == 0,
	}
	if rng.IntN(4) == 0 { // several blocks of k
		c.k += 512 * (1 + rng.IntN(2))
	}
	for range 3 + rng.IntN(3) {
		c.rows = append(c.rows, []int{1, 5, 16, 40, 1 + rng.IntN(60), 100 + rng.IntN(300)}[rng.IntN(6)])
	}
	return c
}

func (c commonCase) suiteCase(rng *rand.Rand) *suite.Case {
	r := ir.Sym("R", 0, 1000)
	sizes := []ir.Env{{"R": c.rows[0]}, {"R": 0}, {"R": c.rows[0]}, {"R": 1 + rng.IntN(30)}}
	return &suite.Case{Name: fmt.Sprintf("%+v", c), Sizes: sizes, Build: func(b *suite.Builder) (out []*ir.Node) {
		left, right := c.dtype, c.dtype
		if c.dtype == ir.I8 {
			left = ir.U8
		}
		wide := func(x *ir.Node) *ir.Node {
			if c.dtype != ir.I8 {
				return x
			}
			return b.Add(ir.Cast, ir.Attr{DType: ir.I32}, x)
		}
		shape := []ir.Dim{ir.N(c.k), ir.N(c.cols)}
		if c.turned {
			shape = []ir.Dim{ir.N(c.cols), ir.N(c.k)}
		}
		y := b.Input(right, suite.Ordinary, shape...)
		if c.from == "temp" && c.dtype != ir.I8 {
			y = b.Add(ir.ReduceMax, ir.Attr{Axes: []int{0}}, b.Input(right, suite.Ordinary, append([]ir.Dim{ir.N(2)}, shape...)...))
			y = b.Add(ir.Reshape, ir.Attr{Shape: shape}, y)
		}
		if c.turned {
			y = b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, y)
		}
		y = wide(y)
		for i, n := range c.rows {
			rows := ir.N(n)
			if i == 0 {
				rows = r
			}
			x := b.Input(left, suite.Ordinary, rows, ir.N(c.k))
			if i == 0 && c.batch > 1 {
				x = b.Input(left, suite.Ordinary, ir.N(c.batch), rows, ir.N(c.k))
				many := b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{ir.N(c.batch), ir.N(c.k), ir.N(c.cols)}}, b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{ir.N(1), ir.N(c.k), ir.N(c.cols)}}, y))
				out = append(out, b.Add(ir.MatMul, ir.Attr{}, wide(x), many))
				continue
			}
			out = append(out, b.Add(ir.MatMul, ir.Attr{}, wide(x), y))
			if half := (c.k + 1) / 2; c.part {
				rows := b.Input(left, suite.Ordinary, ir.N(n), ir.N(half))
				above := b.Add(ir.Slice, ir.Attr{Starts: []ir.Dim{ir.N(0), ir.N(0)}, Steps: []int{1, 1}, Shape: ir.Static(half, c.cols)}, y)
				out = append(out, b.Add(ir.MatMul, ir.Attr{}, wide(rows), above))
			}
		}
		return out
	}}
}

// TestCommonY: products that have a right operand in common have the results of
// products that each pack it, whoever packs it for all, from run to run.
func TestCommonY(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	all := machines(t)
	products, common := 0, 0
	for i := range effort.Of(40, 40, 120, 3000) {
		c := drawCommon(rng)
		cs := c.suiteCase(rng)
		for _, d := range all {
			if d.isa == Generic || d.isa == NEON || i%4 > 0 && d.isa != AVX2 && effort.Less() {
				continue
			}
			g, _, err := cs.Prepare()
			if err != nil {
				t.Fatal(err)
			}
			m, err := d.CompileGraph(context.Background(), g, device.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range m.(*module).common {
				products, common = products+1, common+min(n, 1)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
				t.Fatalf("%v: %v", d.isa, err)
			}
		}
	}
	if t.Logf("%d of %d products have a right operand in common", common, products); common < products*3/4 {
		t.Error("few of them have")
	}
}

// TestCommonYLimit: a run that memory is too scarce for what products have in common
// packs as if they had nothing.
func TestCommonYLimit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each worker has memory of its own
	g, err := ir.Parse(`graph
	leaf 0 input "x" f32[8 1024]
	leaf 1 input "w" f32[1024 1024]
	%x = input leaf=0 : f32[8 1024]
	%w = input leaf=1 : f32[1024 1024]
	%p = matmul %x %w : f32[8 1024]
	%q = matmul %p %w : f32[8 1024]
	%r = matmul %q %w : f32[8 1024]
	return %r
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range machines(t) {
		if d.isa == Generic || d.isa == NEON {
			continue
		}
		m, err := d.CompileGraph(context.Background(), g, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := &device.Bound{Module: m, Outputs: []device.Buffer{makeBuffer(make([]byte, 8*1024*4), nil)}}
		for _, n := range []int{8 * 1024 * 4, 1024 * 1024 * 4} {
			b.Leaves = append(b.Leaves, makeBuffer(make([]byte, n), nil))
		}
		temps, err := m.(*module).RunBytes(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []int64{3 << 20, 4<<20 + 90<<10, 16 << 20} { // no room for it, none beside it, some
			d.SetMemoryLimit(d.alloc.Stats().Live + temps + more)
			event, err := d.Submit(context.Background(), b)
			if err == nil {
				err = event.Wait(context.Background())
			}
			if err != nil {
				t.Errorf("%v, %d bytes: %v", d.isa, more, err)
			}
		}
		d.SetMemoryLimit(0)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
