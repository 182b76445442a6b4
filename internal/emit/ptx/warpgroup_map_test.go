package ptx_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// mapCases have matrices that lie otherwise than in rows of one buffer: batches,
// one that all share, and temps that begin behind others.
var mapCases = []struct {
	*suite.Case
	maps [2]bool
}{
	{&suite.Case{Name: "heads", Sizes: []ir.Env{{"n": 2}}, Build: func(b *suite.Builder) []*ir.Node {
		const rows, heads, k, cols = 80, 2, 64, 160
		n := ir.Sym("n", 1, 4)
		x := b.Leaf(ir.Input, ir.BF16, suite.Ordinary, n, ir.N(rows), ir.N(heads), ir.N(k))
		x = b.Add(ir.Permute, ir.Attr{Axes: []int{0, 2, 1, 3}}, x)
		y := b.Leaf(ir.Input, ir.BF16, suite.Ordinary, n, ir.N(heads), ir.N(k), ir.N(cols))
		return []*ir.Node{b.Add(ir.MatMul, ir.Attr{}, x, y)}
	}}, allMaps},
	{&suite.Case{Name: "one for all", Sizes: []ir.Env{{"n": 3}}, Build: func(b *suite.Builder) []*ir.Node {
		const rows, k, cols = 72, 80, 136
		n := ir.Sym("n", 1, 4)
		x := b.Leaf(ir.Input, ir.BF16, odd(100), n, ir.N(rows), ir.N(k))
		y := b.Add(ir.Expand, ir.Attr{Shape: []ir.Dim{n, ir.N(k), ir.N(cols)}}, b.Leaf(ir.Input, ir.BF16, suite.Ordinary, ir.N(1), ir.N(k), ir.N(cols)))
		return []*ir.Node{b.Add(ir.MatMul, ir.Attr{}, x, y)}
	}}, allMaps},
	{&suite.Case{Name: "temps", Build: func(b *suite.Builder) []*ir.Node {
		const size = 160
		x := b.Leaf(ir.Input, ir.BF16, suite.Ordinary, ir.N(size), ir.N(size))
		for range 3 {
			x = b.Add(ir.MatMul, ir.Attr{}, x, b.Leaf(ir.Weight, ir.BF16, suite.Ordinary, ir.N(size), ir.N(size)))
		}
		return []*ir.Node{x}
	}}, allMaps},
}

// TestGroupMaps compares products of such matrices with the referee.
func TestGroupMaps(t *testing.T) {
	for _, c := range mapCases {
		t.Run(c.Name, func(t *testing.T) {
			d, w := groupDevice(t, groupTarget)
			if err := c.Run(context.Background(), d, device.Options{Check: true, NoOpt: []string{"pack-memory"}}); err != nil {
				t.Error(err)
			}
			if got := [2]bool{w.mapped[0] > 0, w.mapped[1] > 0}; w.groups == 0 || got != c.maps {
				t.Errorf("%d products by groups, %v operands without maps and with", w.groups, w.mapped)
			}
			w.mapped = [2]int{}
			if err := c.Run(context.Background(), d, device.Options{NoOpt: []string{"tensor-maps"}}); err != nil || w.mapped != [2]int{} {
				t.Errorf("turned off: %v operands without maps and with, %v", w.mapped, err)
			}
		})
	}
}

// TestGroupMixed has operands of which one has a map and one, whose batches are in
// no order that an axis has, is copied by threads.
func TestGroupMixed(t *testing.T) {
	for way := range 4 {
		for operand := range 2 {
			s := flattest.Sizes{Batch: 2, Rows: 72, Cols: 136, K: 336}
			k := testEdited(t, rand.New(rand.NewPCG(8, 0)), groupTarget, ir.BF16, s, way&1 != 0, way&2 != 0, false, func(g *template.Gemm) {
				e := []**loop.Expr{&g.X, &g.Y}[operand]
				size := []ir.Dim{g.Rows.Mul(g.K), g.K.Mul(g.Cols)}[operand]
				rest, _, _ := loop.Affine((*e).Args[0], g.Batch)
				batch := loop.Apply(ir.Mod, ir.I64, g.Batch.Ref(), loop.Int(3)) // as there are but two
				*e = loop.Load((*e).Param, (*e).DType, loop.AddIndex(loop.MulIndex(batch, loop.SizeOf(size)), rest), nil)
			})
			if len(k.Maps) != 1 || k.Maps[0].Param != 1-operand {
				t.Errorf("maps: %+v", k.Maps)
			}
		}
	}
}

// TestGroupMapBits: products have the same bits by maps and without.
func TestGroupMapBits(t *testing.T) {
	s := flattest.Sizes{Batch: 1, Rows: 67, Cols: 136, K: 200}
	var all [][]byte
	for _, target := range []ptx.Target{groupTarget, copyTarget} {
		g, a := flattest.GemmLying(rand.New(rand.NewPCG(9, 0)), ir.BF16, s, false, true)
		k := target.Shape().Tiled("product", g)
		a.End = flattest.Tasks(s, k.Tile.Rows, k.Tile.Cols)
		b, err := flattest.Bind(k, a, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(target, k, &b.Launch); err != nil {
			t.Fatal(err)
		}
		b.Results(k, a)
		all = append(all, a.Buffers[2])
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("the results differ")
	}
}

// TestMappable: what a driver would refuse is not asked for.
func TestMappable(t *testing.T) {
	good := entry.Mapped{Bytes: 2, Offset: 32, Sizes: []int{60, 7, 3}, Strides: []int{128, 1024}}
	for _, c := range []struct {
		what    string
		address uint64
		change  func(m *entry.Mapped)
		want    bool
	}{
		{"good", 1 << 40, func(*entry.Mapped) {}, true},
		{"two axes", 1 << 40, func(m *entry.Mapped) { m.Sizes, m.Strides = m.Sizes[:2], m.Strides[:1] }, true},
		{"address", 1<<40 + 8, func(*entry.Mapped) {}, false},
		{"offset", 1 << 40, func(m *entry.Mapped) { m.Offset = 8 }, false},
		{"nothing", 1 << 40, func(m *entry.Mapped) { m.Sizes = []int{60, 0, 3} }, false},
		{"long", 1 << 40, func(m *entry.Mapped) { m.Sizes = []int{60, 7, 1 << 31} }, false},
		{"stride", 1 << 40, func(m *entry.Mapped) { m.Strides = []int{120, 960} }, false},
		{"far", 1 << 40, func(m *entry.Mapped) { m.Strides = []int{128, 1 << 40} }, false},
		{"over each other", 1 << 40, func(m *entry.Mapped) { m.Strides = []int{112, 1120} }, false},
		{"batches between rows", 1 << 40, func(m *entry.Mapped) { m.Strides = []int{1024, 128} }, false},
		{"not by rows", 1 << 40, func(m *entry.Mapped) { m.Strides = []int{128, 1040} }, false},
	} {
		m := good
		c.change(&m)
		if got := ptx.Mappable(c.address, m); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
