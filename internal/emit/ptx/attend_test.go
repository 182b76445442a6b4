package ptx_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// attendCase is an attention, dense or ragged, with heads that units for matrices
// take. In f32 its operands were widened.
type attendCase struct {
	attr           ir.AttentionAttr
	dtype, half    ir.DType
	width, vWidth  int
	heads, kvHeads int
	sizes          []ir.Env
	keys, values   suite.Fill // of queries and keys, and of values
	moved          int        // elements that rows of keys lie apart beyond their widths
	lengths        []int      // of sequences, over and over; nil: random
}

func (c attendCase) String() string {
	return fmt.Sprintf("%v of %v, %d and %d wide, %d heads of %d, %+v, moved %d", c.dtype, c.half, c.width, c.vWidth, c.heads, c.kvHeads, c.attr, c.moved)
}

// operand is q, k or v: a part of rows that are longer, if moved.
func (c attendCase) operand(b *suite.Builder, fill suite.Fill, shape ...ir.Dim) *ir.Node {
	last := len(shape) - 1
	long := append(shape[:last:last], shape[last].Plus(c.moved))
	x := b.Input(c.half, fill, long...)
	if c.moved > 0 {
		first, steps := make([]ir.Dim, len(shape)), make([]int, len(shape))
		for i := range first {
			first[i], steps[i] = ir.N(0), 1
		}
		first[last] = ir.N(c.moved)
		x = b.Add(ir.Slice, ir.Attr{Starts: first, Steps: steps, Shape: shape}, x)
	}
	if c.dtype != c.half {
		x = b.Add(ir.Cast, ir.Attr{DType: c.dtype}, x)
	}
	return x
}

// suiteCase is compared with the referee.
func (c attendCase) suiteCase() *suite.Case {
	return &suite.Case{Name: c.String(), Sizes: c.sizes, Build: func(b *suite.Builder) []*ir.Node {
		n := c.node(b)
		return []*ir.Node{b.Add(ir.Get, ir.Attr{}, n), b.Add(ir.Get, ir.Attr{Out: 1}, n)}
	}}
}

// node is the attention.
func (c attendCase) node(b *suite.Builder) *ir.Node {
	q, k, batch := ir.Sym("Q", 0, 512), ir.Sym("K", 0, 512), ir.Sym("B", 0, 64)
	var in []*ir.Node
	mask := ir.Shape{ir.N(2), ir.N(1), q, k}
	if c.attr.Ragged {
		in = []*ir.Node{c.operand(b, c.keys, q, ir.N(c.heads), ir.N(c.width)), c.operand(b, c.keys, k, ir.N(c.kvHeads), ir.N(c.width)),
			c.operand(b, c.values, k, ir.N(c.kvHeads), ir.N(c.vWidth)), b.Input(ir.I32, c.offsets(q), batch.Plus(1)), b.Input(ir.I32, c.offsets(k), batch.Plus(1))}
		mask = ir.Shape{ir.N(1), ir.N(c.heads), ir.N(200), ir.N(200)}
	} else {
		in = []*ir.Node{c.operand(b, c.keys, ir.N(2), ir.N(c.heads), q, ir.N(c.width)),
			b.Add(ir.Permute, ir.Attr{Axes: []int{0, 2, 1, 3}}, c.operand(b, c.keys, ir.N(2), k, ir.N(c.kvHeads), ir.N(c.width))),
			c.operand(b, c.values, ir.N(2), ir.N(c.kvHeads), k, ir.N(c.vWidth))}
	}
	if c.attr.Mask {
		in = append(in, b.Input(c.dtype, suite.Given(0, -1, math.Inf(-1), 0.5, 0), mask...))
	}
	return b.Add(ir.Attention, ir.Attr{Attention: &c.attr, TF32: c.dtype == ir.F32 && c.half == ir.F16}, in...)
}

// offsets are those of sequences with so many rows in all.
func (c attendCase) offsets(rows ir.Dim) suite.Fill {
	if c.lengths == nil {
		return suite.Offsets(rows)
	}
	return func(_ *rand.Rand, _ ir.DType, n int, _ ir.Env) []uint64 {
		all := make([]uint64, n)
		for i := range n - 1 {
			all[i+1] = all[i] + uint64(c.lengths[i%len(c.lengths)])
		}
		return all
	}
}

// TestAttendsSequences has tiles begin and end at, before and behind sequences of all
// places, the first and the last of many, with and without rows.
func TestAttendsSequences(t *testing.T) {
	for _, lengths := range [][]int{{2, 0, 3, 1}, {0, 0, 64}, {16, 16, 32}, {0, 1, 0}, {63, 1}, {65}} {
		for i, heads := range []int{1, 3} {
			c := attendCase{attr: ir.AttentionAttr{Scale: 0.3, Ragged: true}, dtype: ir.BF16, half: ir.BF16, width: 16, vWidth: 16, heads: 3, kvHeads: 3 / heads, keys: suite.Ordinary, values: suite.Ordinary, lengths: lengths}
			for _, batch := range []int{1, 2, 7, 31, 32, 33, 64} {
				rows := 0
				for n := range batch {
					rows += lengths[n%len(lengths)]
				}
				if rows <= 400 {
					c.sizes = append(c.sizes, ir.Env{"Q": rows, "K": rows, "B": batch})
				}
			}
			d, err := launch.New(&backend{target: targets[1+i]}, launch.Options{Kind: "ptx", Shape: targets[1+i].Shape(), Units: 4})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.suiteCase().Run(t.Context(), d, device.Options{Check: true}); err != nil {
				t.Errorf("sequences of %v: %v", lengths, err)
			}
		}
	}
}

var (
	denseSizes  = []ir.Env{{"Q": 5, "K": 7}, {"Q": 0, "K": 3}, {"Q": 3, "K": 0}, {"Q": 1, "K": 70}, {"Q": 70, "K": 65}, {"Q": 130, "K": 129}}
	raggedSizes = []ir.Env{{"Q": 5, "K": 7, "B": 2}, {"Q": 0, "K": 0, "B": 0}, {"Q": 0, "K": 3, "B": 1}, {"Q": 3, "K": 0, "B": 2}, {"Q": 150, "K": 190, "B": 4}, {"Q": 70, "K": 90, "B": 33}, {"Q": 64, "K": 64, "B": 64}}
)

// odd is ordinary numbers, but for one in so many that is infinite, NaN, large or
// small. None is so large that sums relative to the greatest score so far, which
// may be far below the last, could overflow.
func odd(rate int) suite.Fill {
	return func(rng *rand.Rand, d ir.DType, n int, env ir.Env) []uint64 {
		all := suite.Ordinary(rng, d, n, env)
		for i := range all {
			if rng.IntN(rate) == 0 {
				all[i], _ = ir.Bits(d, [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), 3e4, -3e4, 1e-7, math.Copysign(0, -1)}[rng.IntN(7)])
			}
		}
		return all
	}
}

// attendCases are all that an attention may do, each with one of the widths.
func attendCases() []attendCase {
	var all []attendCase
	n := 0
	for _, attr := range []ir.AttentionAttr{
		{Scale: 0.3}, {Scale: 0.3, Causal: true}, {Scale: 0.3, Window: 9}, {Scale: 0.3, Causal: true, Window: 70},
		{Scale: 0.3, Mask: true}, {Scale: -0.2, Mask: true, Causal: true, SoftCap: 3}, {Scale: 0.3, SoftCap: 1.5, Window: 20},
		{Scale: 0.3, Window: math.MaxInt32}, {Scale: 0.3, Causal: true, Window: 1 << 40},
	} {
		for _, ragged := range []bool{false, true} {
			for _, types := range attendTypes {
				c := attendCase{attr: attr, dtype: types[0], half: types[1], width: 16 + 16*(n%8), heads: 4, kvHeads: 1 + n%2, sizes: denseSizes, keys: suite.Ordinary, values: suite.Ordinary}
				c.vWidth = c.width
				if n%5 == 0 {
					c.vWidth = 16 + 16*(n%3)
				}
				if n%2 == 0 {
					c.values = odd(20)
				}
				if n%3 == 0 {
					c.keys = odd(500)
				}
				c.moved = []int{0, 8, 0, 3}[n%4]
				if c.attr.Ragged = ragged; ragged {
					c.sizes = raggedSizes
				}
				all = append(all, c)
				n++
			}
			n++ // else a type would have few of the widths
		}
	}
	return all
}

// attendTypes are those of an attention and of its operands before they were
// widened.
var attendTypes = [][2]ir.DType{{ir.F32, ir.BF16}, {ir.BF16, ir.BF16}, {ir.F16, ir.F16}, {ir.F32, ir.F16}}

// TestAttends compares attention on units for matrices with the referee: cases of
// all kinds, with -tags long every case, on every target, but for those that it is
// the same code for.
func TestAttends(t *testing.T) {
	for _, target := range targets {
		d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range attendCases() {
			turn := effort.Of((i+i/12)%12, (i+i/12)%30, (i+i/12)%6, 0) // by i/12, as every third has odd operands
			if target.SM < 80 && (c.dtype != ir.F32 || c.half != ir.F16) || turn != 0 {
				continue
			}
			t.Run(fmt.Sprint(target, " ", c), func(t *testing.T) {
				cs := c.suiteCase()
				kernels := kernelsOf(t, target, []*suite.Case{cs})
				if !slices.ContainsFunc(kernels, func(k *entry.Kernel) bool { return k.Attended != nil }) {
					t.Error("the attention does not run on units for matrices")
				}
				if hasRun(t, target, kernels, []byte(cs.Name)) {
					t.Skip("the same code as for another target")
				}
				if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestAttendsInPrecision: of an attention in f32 what a precision rounds to bf16
// and f16 runs on units for matrices, and nothing else. What was f16 before is
// not, unless weights may lose digits.
func TestAttendsInPrecision(t *testing.T) {
	a, _ := flattest.Attention(rand.New(rand.NewPCG(1, 0)), ir.F16, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 1, Keys: 1, Width: 32}, ir.AttentionAttr{Scale: 1})
	for _, a.TF32 = range []bool{false, true} {
		if units := len(targets[1].Shape().Attend(a)) > 0; units != a.TF32 {
			t.Errorf("of widened f16, TF32 %v: on units for matrices %v", a.TF32, units)
		}
	}
	c := attendCase{attr: ir.AttentionAttr{Scale: 0.3, Ragged: true}, dtype: ir.F32, half: ir.F32, width: 32, vWidth: 32, heads: 2, kvHeads: 2, sizes: raggedSizes, keys: suite.Ordinary, values: suite.Ordinary}
	for _, target := range targets {
		for precision, want := range map[ir.DType]bool{0: false, ir.TF32: false, ir.BF16: true, ir.F16: true} {
			got := slices.ContainsFunc(kernelsIn(t, target, []*suite.Case{c.suiteCase()}, precision), func(k *entry.Kernel) bool { return k.Attended != nil })
			if want = want && (target.SM >= 80 || precision == ir.F16); got != want {
				t.Errorf("%v, precision %v: on units for matrices %v, want %v", target, precision, got, want)
			}
		}
	}
}

// attended runs a dense attention of a kernel's own text by a tile, and gives the
// results and logsumexps.
func attended(t *testing.T, target ptx.Target, d ir.DType, rows int, s flattest.Attended, attr ir.AttentionAttr, change func(in [][]byte)) [][]byte {
	t.Helper()
	a, args := flattest.Attention(rand.New(rand.NewPCG(5, 0)), d, s, attr)
	a.TF32 = d == ir.F16
	change(args.Buffers)
	shape := target.Shape()
	i := slices.IndexFunc(shape.Attend(a), func(t entry.Tile) bool { return t.Rows == rows })
	k := shape.With(entry.Strategy{Tile: shape.Attend(a)[i]}).Attention("k", a)
	var err error
	if args.Start, args.End, err = k.Work.Span(args.Sizes); err != nil {
		t.Fatal(err)
	}
	b, err := flattest.Bind(k, args, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(target, k, &b.Launch); err != nil {
		t.Fatal(err)
	}
	b.Results(k, args)
	return args.Buffers[3:]
}

// rowsFrom gives those of one head from the n-th on.
func rowsFrom(x []byte, n, rows, width int) []byte {
	var all []byte
	for head := range len(x) / (4 * rows * width) {
		all = append(all, x[4*(head*rows+n)*width:][:4*(rows-n)*width]...)
	}
	return all
}

// TestAttendsSameBits: no bit of a row depends on the tile, or on which rows
// there are beside it, infinite values included that some of them do not see.
func TestAttendsSameBits(t *testing.T) {
	for _, on := range []struct {
		target ptx.Target
		dtype  ir.DType
	}{{targets[1], ir.BF16}, {targets[0], ir.F16}} {
		for _, attr := range []ir.AttentionAttr{{Scale: 0.3}, {Scale: 0.3, Causal: true}, {Scale: 0.3, Window: 40}} {
			for _, infinite := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v %+v infinite %v", on.target, attr, infinite), func(t *testing.T) {
					testSameBits(t, on.target, on.dtype, 32, attr, infinite)
				})
			}
		}
	}
}

func testSameBits(t *testing.T, target ptx.Target, d ir.DType, width int, attr ir.AttentionAttr, infinite bool) {
	t.Helper()
	const left = 37 // rows left out, as many of each head
	s := flattest.Attended{Batch: 1, Heads: 2, KVHeads: 2, Queries: 150, Keys: 170, Width: width}
	special := map[ir.DType][]uint16{ir.BF16: {0x7f80, 0xff80, 0x7fc0}, ir.F16: {0x7c00, 0xfc00, 0x7e00}}[d]
	change := func(in [][]byte) {
		for key := 0; infinite && key < s.KVHeads*s.Keys; key += 23 { // some lanes of some keys
			binary.LittleEndian.PutUint16(in[2][2*(key*s.Width+key%s.Width):], special[key%3])
		}
	}
	want := attended(t, target, d, 128, s, attr, change)
	for i, got := range attended(t, target, d, 64, s, attr, change) {
		if !bytes.Equal(got, want[i]) {
			t.Errorf("result %d depends on the tile", i)
		}
	}
	some := s
	some.Queries -= left
	fewer := attended(t, target, d, 128, some, attr, func(in [][]byte) {
		// The operands as above, but for the first rows of each head.
		_, all := flattest.Attention(rand.New(rand.NewPCG(5, 0)), d, s, attr)
		copy(in[1], all.Buffers[1])
		copy(in[2], all.Buffers[2])
		change(in)
		for head := range s.Heads {
			copy(in[0][2*head*some.Queries*s.Width:], all.Buffers[0][2*(head*s.Queries+left)*s.Width:][:2*some.Queries*s.Width])
		}
	})
	for i, width := range []int{s.Width, 1} {
		if !bytes.Equal(fewer[i], rowsFrom(want[i], left, s.Queries, width)) {
			t.Errorf("result %d depends on the rows beside it", i)
		}
	}
}

// TestAttendsSmallWeights: where units know f16 alone, a weight far below the
// greatest still counts as one, its value infinite or not; NaN comes through, and a
// key that is not seen does not.
func TestAttendsSmallWeights(t *testing.T) {
	s := flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 3, Keys: 4, Width: 16}
	// Scores of the keys for every query, and their values; the last key is seen by
	// the last query alone.
	scores := [4]float64{0, -12, -30, 0}
	run := func(values [4]float64) []byte {
		return attended(t, targets[0], ir.F16, 64, s, ir.AttentionAttr{Scale: 1, Causal: true}, func(in [][]byte) {
			put := func(operand, row, lane int, v float64) {
				bits, _ := ir.Bits(ir.F16, v)
				binary.LittleEndian.PutUint16(in[operand][2*(row*s.Width+lane):], uint16(bits))
			}
			for operand := range 3 {
				clear(in[operand])
			}
			for q := range s.Queries {
				put(0, q, 0, 1)
			}
			for k := range s.Keys {
				put(1, k, 0, scores[k])
				for lane := range s.Width {
					put(2, k, lane, values[k])
				}
			}
		})[0]
	}
	result := func(b []byte, q int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*q*s.Width:])))
	}
	// Query 1 of 3 sees three of the four keys.
	weights := [3]float64{1, math.Exp(-12), math.Exp(-30)}
	sum := weights[0] + weights[1] + weights[2]
	for _, values := range [][4]float64{{0, 60000, 0, 0}, {0, 0, 60000, 0}, {1, -60000, 60000, 7}, {0, 0x1p-20, 0, 0}} {
		want := (weights[0]*values[0] + weights[1]*values[1] + weights[2]*values[2]) / sum
		limit := 0x1p-10*(weights[1]*math.Abs(values[1])+math.Abs(values[0])) + 0x1p-39*(math.Abs(values[1])+math.Abs(values[2]))
		if y := result(run(values), 1); !(math.Abs(y-want) <= limit*1.01) {
			t.Errorf("values %v: %v, not %v within %v", values, y, want, limit)
		}
	}
	for _, values := range [][4]float64{{0, 0, math.Inf(1), 0}, {0, 0, math.Inf(-1), 0}, {0, math.NaN(), 0, 0}} {
		want := values[1] + values[2]
		if y := result(run(values), 1); y != want && !(y != y && want != want) {
			t.Errorf("values %v: %v, not %v", values, y, want)
		}
	}
	if y := result(run([4]float64{0, 0, 0, math.Inf(1)}), 1); y != 0 {
		t.Errorf("a key that is not seen makes %v", y)
	}
}

// TestAttendsMeaning compares a kernel with the loops that it means.
func TestAttendsMeaning(t *testing.T) {
	s := flattest.Attended{Batch: 2, Heads: 4, KVHeads: 2, Queries: 20, Keys: 33, Width: 16}
	attr := ir.AttentionAttr{Scale: 0.3, Causal: true}
	got := attended(t, targets[1], ir.BF16, 64, s, attr, func([][]byte) {})
	a, args := flattest.Attention(rand.New(rand.NewPCG(5, 0)), ir.BF16, s, attr)
	k := targets[1].Shape().Attention("k", a)
	var err error
	if args.Start, args.End, err = k.Work.Span(args.Sizes); err != nil {
		t.Fatal(err)
	}
	args.Buffers = append(args.Buffers, make([]byte, 4*s.Keys)) // scores of a row
	if err := loop.Interpret(k.Work, args); err != nil {
		t.Fatal(err)
	}
	for i, tolerance := range []float64{1. / 128, 1. / 256} { // weights are rounded, there before they are summed too
		want := args.Buffers[3+i]
		for at := 0; at < len(want); at += 4 {
			x, y := float64(math.Float32frombits(binary.LittleEndian.Uint32(want[at:]))), float64(math.Float32frombits(binary.LittleEndian.Uint32(got[i][at:])))
			if !(x == y || math.Abs(x-y) <= tolerance*(1+math.Abs(x))) {
				t.Fatalf("result %d: element %d is %v, not %v", i, at/4, y, x)
			}
		}
	}
}

// TestAttendsFarScores has scores so large that an ulp of one is many powers of 2:
// weights are those of any softmax, so that a result is among the values, and the
// logsumexp is the greatest score.
func TestAttendsFarScores(t *testing.T) {
	s := flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 12, Keys: 130, Width: 16}
	for _, size := range []float64{1e2, 1e4, 1e5, 1e7, 1e12, -1e5, -1e12} {
		var x [3][]float64
		rng := rand.New(rand.NewPCG(1, 2))
		got := attended(t, targets[1], ir.BF16, 64, s, ir.AttentionAttr{Scale: 0.3}, func(in [][]byte) {
			for i, unit := range []float64{math.Abs(size), size, 1} {
				x[i] = make([]float64, len(in[i])/2)
				for n := range x[i] {
					b, _ := ir.Bits(ir.BF16, unit*(1+rng.Float64()))
					binary.LittleEndian.PutUint16(in[i][2*n:], uint16(b))
					x[i][n] = float64(math.Float32frombits(uint32(b) << 16))
				}
			}
		})
		number := func(b []byte, n int) float64 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*n:])))
		}
		for n := range s.Queries * s.Width {
			if y := number(got[0], n); !(y >= 0.99 && y <= 2.01) {
				t.Fatalf("scores like those of %g: element %d is %v, which no values from 1 to 2 make", size, n, y)
			}
		}
		for q := range s.Queries {
			most, second, best := math.Inf(-1), math.Inf(-1), 0
			for key := range s.Keys {
				dot := 0.
				for i := range s.Width {
					dot += x[0][q*s.Width+i] * x[1][key*s.Width+i]
				}
				if dot *= 0.3; dot > most {
					most, second, best = dot, most, key
				} else {
					second = max(second, dot)
				}
			}
			if y := number(got[0], q*s.Width); most-second > 100+1e-5*math.Abs(most) && y != x[2][best*s.Width] {
				t.Fatalf("scores like those of %g: result %d is %v, not the value of the greatest", size, q, y)
			}
			if y := number(got[1], q); !(math.Abs(y-most) <= 1e-4*math.Abs(most)) {
				t.Fatalf("scores like those of %g: logsumexp %d is %v, the greatest score %v", size, q, y, most)
			}
		}
	}
}

// TestAttendInstructions counts what a block of 64 keys takes: 64 products of
// scores, as many of values and 4 of totals for heads of 128, and no more than 11
// operations of floats a score; and 3 for each result.
func TestAttendInstructions(t *testing.T) {
	a, _ := flattest.Attention(rand.New(rand.NewPCG(1, 0)), ir.BF16, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 1, Keys: 1, Width: 128}, ir.AttentionAttr{Scale: 0.1})
	a.Sums = nil
	k := targets[1].Shape().Attention("k", a)
	p, err := ptx.Write(targets[1], []*entry.Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32": 132, "ldmatrix.sync": 64 + 8, "cvt.rn.bf16x2": 16, "cp.async.cg": 12, "fma.rn.f32": 9*32 + 2*9 + 3*64} {
		if n := strings.Count(p.Source, name); n != want {
			t.Errorf("%d instructions %s, not %d", n, name, want)
		}
	}
}
