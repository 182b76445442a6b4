package ptx_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// packedCase is a layer with a bias and a residual, whose result is rounded to a type:
// columns that can be taken side by side, and that cannot.
type packedCase struct {
	out    ir.DType
	cols   int
	turned bool // the residual lies by columns
	each   int  // columns at once
}

var packedCases = []packedCase{
	{ir.F32, 264, false, 4}, {ir.BF16, 136, false, 4}, {ir.I8, 260, false, 4}, {ir.F32, 262, false, 2}, {ir.F16, 134, false, 2},
	{ir.I8, 262, false, 1}, // two bytes are no word
	{ir.F32, 261, false, 1}, {ir.F64, 264, false, 1}, {ir.F32, 264, true, 1},
}

func (c packedCase) suiteCase() *suite.Case {
	const terms = 72
	sizes := []ir.Env{{"n": 0}, {"n": 1}, {"n": 150}}
	return &suite.Case{Name: fmt.Sprintf("%v %d turned %v", c.out, c.cols, c.turned), Sizes: sizes, Build: func(b *suite.Builder) []*ir.Node {
		n, cols := ir.Sym("n", 0, 512), ir.N(c.cols)
		wide := func(x *ir.Node) *ir.Node { return b.Add(ir.Cast, ir.Attr{DType: ir.F32}, x) }
		x, y := b.Input(ir.F16, suite.Ordinary, n, ir.N(terms)), b.Leaf(ir.Weight, ir.F16, suite.Ordinary, ir.N(terms), cols)
		sum := b.Add(ir.MatMul, ir.Attr{}, wide(x), wide(y))
		bias := b.Add(ir.Expand, ir.Attr{Shape: []ir.Dim{n, cols}}, b.Leaf(ir.Weight, ir.F32, suite.Ordinary, ir.N(1), cols))
		var residual *ir.Node
		if c.turned {
			residual = b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Input(ir.F32, suite.Ordinary, cols, n))
		} else {
			residual = b.Input(ir.F32, suite.Ordinary, n, cols)
		}
		sum = b.Add(ir.Add, ir.Attr{}, b.Add(ir.Add, ir.Attr{}, sum, bias), residual)
		if c.out != ir.F32 {
			sum = b.Add(ir.Cast, ir.Attr{DType: c.out}, sum)
		}
		return []*ir.Node{b.Add(ir.Neg, ir.Attr{}, sum)}
	}}
}

// TestPackedEpilogues compares products whose results are finished for several
// columns at once with the referee, and says where they are.
func TestPackedEpilogues(t *testing.T) {
	for i, target := range targets {
		for j, c := range packedCases {
			if quick() && (i+j)%3 != 0 {
				continue
			}
			cs := c.suiteCase()
			t.Run(fmt.Sprintf("%v %s", target, cs.Name), func(t *testing.T) {
				d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
				if err != nil {
					t.Fatal(err)
				}
				if err := cs.Run(t.Context(), d, device.Options{Check: true}); err != nil {
					t.Error(err)
				}
				products := 0
				for _, k := range kernelsOf(t, target, []*suite.Case{cs}) {
					if k.Gemm == nil {
						continue
					}
					products++
					each := 1
					if k.Packed != nil {
						each = k.Packed.Each
					}
					if each != c.each {
						t.Errorf("%d columns at once, not %d", each, c.each)
					}
				}
				if products != 1 {
					t.Errorf("%d products", products)
				}
			})
		}
	}
}

// TestPackedWithin: columns of a result that lies in wider rows are taken side by side
// where all of them fill such groups.
func TestPackedWithin(t *testing.T) {
	for cols, want := range map[int]int{264: 4, 262: 2, 260: 4, 261: 1} {
		g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.F16, flattest.Sizes{Batch: 1, Rows: 5, Cols: cols, K: 64}, false)
		store := *g.Epilogue[0].(*loop.Store)
		store.Index = loop.AddIndex(loop.MulIndex(g.Row.Ref(), loop.Int(512)), g.Col.Ref())
		store.Value = loop.Apply(ir.Cast, ir.F32, store.Value)
		g.Params[2].DType = ir.F32
		g.Epilogue = []loop.Stmt{&store}
		each := 1
		if k := entry.PackedProduct("k", g, 256, entry.GroupTile); k.Packed != nil {
			each = k.Packed.Each
		}
		if each != want {
			t.Errorf("%d columns in rows of 512: %d at once, not %d", cols, each, want)
		}
	}
}

// TestPackedInstructions: a bias, a residual and a result of four columns are an
// instruction each.
func TestPackedInstructions(t *testing.T) {
	for _, k := range kernelsOf(t, groupTarget, []*suite.Case{packedCases[0].suiteCase()}) {
		p, err := ptx.Write(groupTarget, []*entry.Kernel{k})
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Count(p.Source, "ld.shared.v4.f32") // by 4 and alone
		for name, want := range map[string]int{"ld.global.nc.v4.u32": 2 * rows, "st.global.v4.u32": rows, "ld.global.nc.f32": 0, "st.global.f32": 0} {
			if n := strings.Count(p.Source, name); n != want || rows == 0 {
				t.Errorf("%d of %s for %d rows, not %d", n, name, rows, want)
			}
		}
	}
}

// TestPackedInPlace: old values of columns side by side are loaded at once, and not by
// way of caches that may hold what was there before, where new ones are stored over
// them. The suite runs that graph on devices.
func TestPackedInPlace(t *testing.T) {
	for _, target := range targets {
		packed := 0
		for _, c := range suite.InPlace {
			g, err := ir.Parse("graph" + c.Graph)
			if err != nil {
				t.Fatal(err)
			}
			all := &collector{backend: backend{target: target}}
			d, err := launch.New(all, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
			if err != nil {
				t.Fatal(err)
			}
			m, err := d.CompileGraph(t.Context(), g, device.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			for _, k := range all.kernels {
				if k.Packed == nil || !slices.Contains(k.Shares, true) {
					continue
				}
				packed++
				for e := range k.Wide {
					if !k.Shared(e.Param) {
						t.Errorf("%s: what is loaded at once is not what is written over", c.Name)
					}
				}
				p, err := ptx.Write(target, []*entry.Kernel{k})
				if err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(p.Source, "ld.global.v"); n == 0 || n != strings.Count(p.Source, "st.global.v") {
					t.Errorf("%v, %s: %d loads of several old values", target, c.Name, n)
				}
			}
			if err := errors.Join(m.Close(), d.Close()); err != nil {
				t.Error(err)
			}
		}
		if packed == 0 && target.SM >= 80 { // which have units for bf16
			t.Errorf("%v: no product is finished for columns side by side", target)
		}
	}
}

// TestDivisions: quotients of 64 bits are those of 32 where both have no more, and
// right where one has.
func TestDivisions(t *testing.T) {
	values := []float64{0, 1, 7, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 5, 1 << 62, 1e18, 3 << 33, 12345678}
	divisors := []float64{1, 3, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 61, 77, 5}
	for _, d := range []ir.DType{ir.U64, ir.I64} {
		if d == ir.I64 {
			values, divisors = append(values, -1, -7, -1<<32, -1<<62), append(divisors, -1, -1<<33)
		}
		for _, op := range []ir.Op{ir.IDiv, ir.Mod} {
			cs := &suite.Case{Name: fmt.Sprint(op, " ", d), Sizes: []ir.Env{{"n": 165}}, Build: func(b *suite.Builder) []*ir.Node {
				n := ir.Sym("n", 0, 512)
				return []*ir.Node{b.Add(op, ir.Attr{}, b.Input(d, suite.Given(values...), n), b.Input(d, suite.Given(divisors...), n))}
			}}
			t.Run(cs.Name, func(t *testing.T) {
				for _, target := range []ptx.Target{targets[0], groupTarget} {
					d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
					if err != nil {
						t.Fatal(err)
					}
					if err := cs.Run(t.Context(), d, device.Options{Check: true}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestDivisionsAreShort: no quotient of 64 bits is computed before it is known that
// one of 32 will not do, and none by a function where groups of warps multiply.
func TestDivisionsAreShort(t *testing.T) {
	for _, target := range []ptx.Target{targets[1], groupTarget} {
		g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.BF16, flattest.Sizes{Batch: 2, Rows: 5, Cols: 512, K: 512}, false)
		k := target.Shape().Tiled("k", g)
		p, err := ptx.Write(target, []*entry.Kernel{k})
		if err != nil {
			t.Fatal(err)
		}
		short, long := strings.Count(p.Source, "div.u32"), strings.Count(p.Source, "div.u64")
		want := short
		if target.Dynamic(k) > 0 {
			want = 0
		}
		if short == 0 || long != want {
			t.Errorf("%v: %d quotients of 32 bits, %d of 64", target, short, long)
		}
	}
}
