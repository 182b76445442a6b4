package ptx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// groupTarget has products by groups of warps.
var groupTarget = targets[2]

// copyTarget has them with a driver that makes no tensor maps.
var copyTarget = ptx.Target{SM: 90, NoMaps: true}

// groupSizes have blocks that are full and in part, stages that are full and in
// part, more than there is room for, and rows that can be copied and that cannot.
var groupSizes = []flattest.Sizes{
	{Batch: 1, Rows: 128, Cols: 256, K: 64}, {Batch: 1, Rows: 130, Cols: 264, K: 400}, {Batch: 2, Rows: 72, Cols: 136, K: 336},
	{Batch: 1, Rows: 67, Cols: 259, K: 77}, {Batch: 1, Rows: 3, Cols: 200, K: 0}, {Batch: 2, Rows: 1, Cols: 131, K: 331}, {Batch: 1, Rows: 16, Cols: 129, K: 16},
	{Batch: 1, Rows: 130, Cols: 256, K: 400},
}

// TestGroups compares products by groups of warps with the sums that they mean,
// as their operands may lie: bytes lie by k alone.
func TestGroups(t *testing.T) {
	for _, d := range []ir.DType{ir.BF16, ir.F16, ir.U8, ir.I8} {
		for way := range 4 {
			turnedX, turnedY := way&1 != 0, way&2 != 0
			t.Run(fmt.Sprintf("%v turned %v %v", d, turnedX, turnedY), func(t *testing.T) {
				for i, s := range groupSizes {
					alike := d == ir.F16 || d == ir.I8 // much like the other of their size
					if i%3 != 1 && (quick() || alike) || alike && (i != 4 && effort.Now() < effort.Long || effort.Less() && turnedX) || effort.Less() && i == 7 && turnedX != turnedY {
						continue
					}
					k := testLying(t, rand.New(rand.NewPCG(7, uint64(i))), groupTarget, d, s, turnedX, turnedY, false)
					groups := d.Size() == 2 || !turnedX && turnedY
					if groups != (groupTarget.Dynamic(k) > 0) || groups != (len(k.Maps) == 2) {
						t.Errorf("%+v goes by groups: %v, %d maps", s, !groups, len(k.Maps))
					}
					if i == 1 && (d == ir.BF16 && turnedX == turnedY || d == ir.U8 && !turnedX && turnedY) {
						testLying(t, rand.New(rand.NewPCG(7, uint64(i))), copyTarget, d, s, turnedX, turnedY, false)
					}
				}
			})
		}
	}
}

// TestGroupsWhere: products that a group of warps would multiply in vain, and
// other targets, go another way.
func TestGroupsWhere(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		d      ir.DType
		cols   int
		want   bool
	}{{groupTarget, ir.BF16, 129, true}, {groupTarget, ir.BF16, 65, true}, {groupTarget, ir.BF16, 64, false}, {groupTarget, ir.F32, 512, false}, {targets[1], ir.BF16, 512, false}} {
		g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), c.d, flattest.Sizes{Batch: 1, Rows: 1, Cols: c.cols, K: 64}, false)
		for _, shape := range []entry.Shape{c.target.Shape(), c.target.Shape().With(entry.Strategy{Tile: entry.GroupTile})} {
			if got := c.target.Dynamic(shape.Tiled("k", g)) > 0; got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
			if c.target.Dynamic(shape.Plain().Tiled("k", g)) > 0 {
				t.Errorf("%+v: by groups, which is turned off", c)
			}
		}
	}
	for _, noMixed := range []bool{false, true} {
		target := ptx.Target{SM: 90, NoMixed: noMixed}
		for mixed, g := range map[bool]*template.Gemm{true: mixedBytes(1024), false: oneKindOfBytes(1024)} {
			if got := target.Dynamic(target.Shape().Tiled("k", g)) > 0; got != (!mixed || !noMixed) {
				t.Errorf("mixed %v, of a driver without them %v: by groups: %v", mixed, noMixed, got)
			}
		}
	}
}

// TestGroupForms: blocks are as wide as leaves few columns of the last one empty, but
// for what shared memory takes.
func TestGroupForms(t *testing.T) {
	for _, c := range []struct {
		cols int
		deep bool
		want int
	}{{384, true, 192}, {384, false, 128}, {1536, true, 256}, {1152, true, 192}, {128, true, 128}, {65, false, 128}, {200, true, 256}, {192, false, 256}, {4096, true, 256}} {
		g, _ := flattest.GemmLying(rand.New(rand.NewPCG(1, 0)), ir.BF16, flattest.Sizes{Batch: 1, Rows: 1, Cols: c.cols, K: 64}, false, c.deep)
		if k := groupTarget.Shape().Tiled("k", g); k.Tile.Cols != c.want || groupTarget.Dynamic(k) == 0 {
			t.Errorf("%+v: %+v", c, k.Tile)
		}
	}
}

// mixedBytes is a product of bytes without signs and bytes with, as layers in INT8
// are, with so many columns, which lie one after the other.
func mixedBytes(cols int) *template.Gemm {
	g := oneKindOfBytes(cols)
	g.Y, g.Params[1].DType = loop.Load(1, ir.I8, g.Y.Args[0], nil), ir.I8
	return g
}

func oneKindOfBytes(cols int) *template.Gemm {
	g, _ := flattest.GemmLying(rand.New(rand.NewPCG(1, 0)), ir.U8, flattest.Sizes{Batch: 2, Rows: 5, Cols: cols, K: 1024}, false, true)
	return g
}

// watched is a backend that counts kernels which go by groups.
type watched struct {
	*backend
	groups int
}

func (w *watched) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	for _, k := range kernels {
		if w.target.Dynamic(k) > 0 {
			w.groups++
		}
	}
	return w.backend.Emit(kernels)
}

// groupDevice runs kernels for a target that has groups.
func groupDevice(t *testing.T, target ptx.Target) (*launch.Device, *watched) {
	w := &watched{backend: &backend{target: target}}
	d, err := launch.New(w, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
	if err != nil {
		t.Fatal(err)
	}
	return d, w
}

// TestTrialByGroups: the graph by which a device is tried has products by groups,
// with operands in both orders, and an attention.
func TestTrialByGroups(t *testing.T) {
	d, w := groupDevice(t, groupTarget)
	if err := suite.Trial(t.Context(), d, interp.New()); err != nil {
		t.Error(err)
	}
	if w.groups != 3 || w.mapped[0] > 0 || w.mapped[1] < 4 {
		t.Errorf("%d kernels by groups, %v operands without maps and with", w.groups, w.mapped)
	}
}

// groupCase is a layer of a model: rows times a weight, a bias, something that
// depends on the result, and the same once more in the operands' type.
type groupCase struct {
	d                ir.DType
	k, cols          int
	turnedX, turnedY bool
	from             int // where x begins in longer rows
	fill             suite.Fill
	copied           bool    // no tensor maps: the driver makes none
	maps             [2]bool // some operand has no map, some has one
}

func (c groupCase) suiteCase() *suite.Case {
	sizes := []ir.Env{{"n": 0}, {"n": 1}, {"n": 150}}
	return &suite.Case{Name: fmt.Sprintf("%v k %d cols %d turned %v %v from %d copied %v", c.d, c.k, c.cols, c.turnedX, c.turnedY, c.from, c.copied), Sizes: sizes, Build: func(b *suite.Builder) []*ir.Node {
		n := ir.Sym("n", 0, 512)
		operand := func(kind ir.Op, turned bool, rows, cols ir.Dim) *ir.Node {
			if !turned {
				return b.Leaf(kind, c.d, c.fill, rows, cols)
			}
			return b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Leaf(kind, c.d, c.fill, cols, rows))
		}
		x := operand(ir.Input, c.turnedX, n, ir.N(c.k+c.from))
		if c.from > 0 {
			x = b.Add(ir.Slice, ir.Attr{Starts: ir.Static(0, c.from), Steps: []int{1, 1}, Shape: []ir.Dim{n, ir.N(c.k)}}, x)
		}
		y := operand(ir.Weight, c.turnedY, ir.N(c.k), ir.N(c.cols))
		wide := func(x *ir.Node) *ir.Node { return b.Add(ir.Cast, ir.Attr{DType: ir.F32}, x) }
		sum := b.Add(ir.MatMul, ir.Attr{}, wide(x), wide(y))
		bias := b.Add(ir.Expand, ir.Attr{Shape: []ir.Dim{n, ir.N(c.cols)}}, b.Leaf(ir.Weight, ir.F32, suite.Ordinary, ir.N(1), ir.N(c.cols)))
		sum = b.Add(ir.Add, ir.Attr{}, sum, bias)
		return []*ir.Node{b.Add(ir.Tanh, ir.Attr{}, sum), b.Add(ir.MatMul, ir.Attr{}, x, y)}
	}}
}

var groupCases = []groupCase{
	{d: ir.BF16, k: 72, cols: 264, fill: suite.Ordinary, maps: allMaps}, {d: ir.BF16, k: 328, cols: 136, turnedY: true, fill: odd(500), maps: allMaps},
	{d: ir.F16, k: 136, cols: 296, turnedX: true, fill: odd(300), maps: someMaps}, {d: ir.F16, k: 24, cols: 512, turnedX: true, turnedY: true, fill: suite.Ordinary, maps: someMaps},
	{d: ir.BF16, k: 128, cols: 160, from: 8, fill: odd(200), maps: allMaps}, {d: ir.BF16, k: 65, cols: 160, from: 3, turnedY: true, fill: odd(200), maps: noMaps},
	{d: ir.BF16, k: 77, cols: 264, from: 3, fill: odd(200), maps: someMaps},
	{d: ir.BF16, k: 328, cols: 136, turnedY: true, fill: odd(500), copied: true}, {d: ir.F16, k: 136, cols: 296, fill: odd(300), copied: true},
}

var noMaps, someMaps, allMaps = [2]bool{true, false}, [2]bool{true, true}, [2]bool{false, true}

// TestGroupLayers compares layers with the referee: ragged rows, infinities and
// NaN beside zeros that fill stages up, rows that begin between multiples of 16
// bytes, and two numbers of rows in one program.
func TestGroupLayers(t *testing.T) {
	for i, c := range groupCases {
		if quick() && i%3 != 1 {
			continue
		}
		cs := c.suiteCase()
		t.Run(cs.Name, func(t *testing.T) {
			target := groupTarget
			target.NoMaps = c.copied
			d, w := groupDevice(t, target)
			if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
				t.Error(err)
			}
			if w.groups == 0 {
				t.Error("nothing goes by groups")
			}
			if got := [2]bool{w.mapped[0] > 0, w.mapped[1] > 0}; got != c.maps {
				t.Errorf("%v operands without maps and with", w.mapped)
			}
			w.groups = 0
			if i > 0 {
				return
			}
			if err := cs.Run(context.Background(), d, device.Options{NoOpt: []string{"warpgroups"}}); err != nil || w.groups > 0 {
				t.Errorf("without groups: %d of them, %v", w.groups, err)
			}
		})
	}
}

// TestGroupsRegisters shows the registers of products by groups: there is room
// for all sums, and the assembler has products go on beside each other.
func TestGroupsRegisters(t *testing.T) {
	ptxas := findAssembler(t)
	var kernels []*entry.Kernel
	for _, d := range []ir.DType{ir.BF16, ir.F16, ir.U8, ir.I8} {
		for way := range 4 {
			g, _ := flattest.GemmLying(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 2, Rows: 5, Cols: 1024, K: 1024}, way&1 != 0, way&2 != 0)
			if k := groupTarget.Shape().Gemm(fmt.Sprintf("gemm_%v_turned_%d", d, way), g); groupTarget.Dynamic(k) > 0 {
				kernels = append(kernels, k)
			}
		}
	}
	if k := groupTarget.Shape().Gemm("gemm_u8_i8", mixedBytes(1024)); groupTarget.Dynamic(k) > 0 {
		kernels = append(kernels, k)
	}
	if len(kernels) != 11 {
		t.Errorf("%d products by groups", len(kernels))
	}
	var cases []*suite.Case
	for _, c := range groupCases {
		cases = append(cases, c.suiteCase())
	}
	for _, k := range kernelsOf(t, groupTarget, cases) {
		if groupTarget.Dynamic(k) > 0 {
			e := *k
			e.Entry = fmt.Sprint("layer_", len(kernels))
			kernels = append(kernels, &e)
		}
	}
	for i := range 4 {
		for j := range 1 << 4 {
			attr := ir.AttentionAttr{Scale: 0.1, Causal: j&1 != 0, Ragged: j&2 != 0, Mask: j&6 == 4, SoftCap: float64(30 * (j >> 3))}
			if j&6 == 6 {
				attr.Window = 20
			}
			c := attendCase{dtype: ir.BF16, half: ir.BF16, width: 64 + 64*(i%2), vWidth: 64 + 64*(i/2), heads: 8, kvHeads: 8, keys: suite.Ordinary, values: suite.Ordinary, sizes: []ir.Env{{"Q": 70, "K": 70}}, attr: attr}
			for _, k := range kernelsOf(t, groupTarget, []*suite.Case{c.suiteCase()}) {
				if groupTarget.Dynamic(k) > 0 {
					e := *k
					e.Entry = fmt.Sprintf("attention_%d_%d_%+v", c.width, c.vWidth, attr)
					e.Entry = regexp.MustCompile(`\W+`).ReplaceAllString(e.Entry, "_")
					kernels = append(kernels, &e)
				}
			}
		}
	}
	p, err := ptx.Write(groupTarget, kernels)
	if err != nil {
		t.Fatal(err)
	}
	// Drivers compile a program as one that is yet to be linked.
	if out := ptxas.roomFor(t, "sm_90a", p.Source, len(kernels), "-c"); strings.Contains(out, "erformance") { // products are done one after the other
		t.Error(out)
	}
}
