package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// shortCase is a program that multiplies numbers of a short format: bytes or
// bf16, widened by casts.
type shortCase struct {
	bytes              bool // u8 by i8, else bf16 by bf16
	rows, cols, k      int
	batch              int  // 0: matrices without batches
	symbolic           bool // rows and, where Y is no weight, k
	weight             bool // Y is one
	turned             bool // Y is stored by columns
	computed           bool // X is rounded to the format by the program
	scaled             bool // the result is scaled and biased
	fill               func(rng *rand.Rand, x bool) uint16
	graph              *ir.Graph
	env                ir.Env
	leaves             [][]byte
	sums, xType, yType ir.DType
}

func (c *shortCase) String() string {
	return fmt.Sprintf("%v by %v, %d of %dx%dx%d, symbolic %v, weight %v, turned %v, computed %v, scaled %v",
		c.xType, c.yType, c.batch, c.rows, c.cols, c.k, c.symbolic, c.weight, c.turned, c.computed, c.scaled)
}

// build makes the graph and the values of its leaves.
func (c *shortCase) build(rng *rand.Rand) {
	c.sums, c.xType, c.yType = ir.F32, ir.BF16, ir.BF16
	if c.bytes {
		c.sums, c.xType, c.yType = ir.I32, ir.U8, ir.I8
	}
	b := ir.NewBuilder(nil)
	c.env, c.leaves = ir.Env{}, nil
	dim := func(name string, n int) ir.Dim {
		if !c.symbolic {
			return ir.N(n)
		}
		c.env[name] = n
		return ir.Sym(name, 0, 8192)
	}
	leaf := func(kind ir.Op, name string, d ir.DType, data []byte, shape ...ir.Dim) *ir.Node {
		c.leaves = append(c.leaves, data)
		l := ir.Leaf{Kind: kind, Name: name, Type: ir.Type{DType: d, Shape: shape}}
		if kind == ir.Weight {
			l.Storage = &data[:1][0]
		}
		return must(b.AddLeaf(l))
	}
	batched := func(shape ...ir.Dim) []ir.Dim {
		if c.batch > 0 {
			return append([]ir.Dim{ir.N(c.batch)}, shape...)
		}
		return shape
	}
	cast := func(d ir.DType, n *ir.Node) *ir.Node { return must(b.Add(ir.Cast, ir.Attr{DType: d}, n)) }
	m, n, k := dim("m", c.rows), ir.N(c.cols), ir.N(c.k)
	if !c.weight { // whose sizes are fixed
		k = dim("k", c.k)
	}
	count := max(c.batch, 1)
	var x *ir.Node
	if c.computed {
		x = leaf(ir.Input, "x", ir.F32, c.values(rng, ir.F32, true, count*c.rows*c.k), batched(m, k)...)
		x = cast(c.xType, x)
	} else {
		x = leaf(ir.Input, "x", c.xType, c.values(rng, c.xType, true, count*c.rows*c.k), batched(m, k)...)
	}
	kind, last := ir.Input, []ir.Dim{k, n}
	if c.weight {
		kind = ir.Weight
	}
	if c.turned {
		last = []ir.Dim{n, k}
	}
	y := leaf(kind, "y", c.yType, c.values(rng, c.yType, false, count*c.k*c.cols), batched(last...)...)
	if c.turned {
		axes := []int{1, 0}
		if c.batch > 0 {
			axes = []int{0, 2, 1}
		}
		y = must(b.Add(ir.Permute, ir.Attr{Axes: axes}, y))
	}
	out := must(b.Add(ir.MatMul, ir.Attr{}, cast(c.sums, x), cast(c.sums, y)))
	if c.scaled {
		shape := ir.Attr{Shape: out.Shape}
		for i, op := range []ir.Op{ir.Mul, ir.Add} {
			v := leaf(ir.Input, []string{"scale", "bias"}[i], ir.F32, c.values(rng, ir.F32, true, c.cols), n)
			if ones := len(out.Shape) - 1; ones > 0 {
				full := slices.Repeat([]ir.Dim{ir.N(1)}, ones)
				v = must(b.Add(ir.Reshape, ir.Attr{Shape: append(full, n)}, v))
			}
			v = must(b.Add(ir.Expand, shape, v))
			if out.DType != ir.F32 {
				out = cast(ir.F32, out)
			}
			out = must(b.Add(op, ir.Attr{}, out, v))
		}
	}
	c.graph = b.Finish(out)
}

// values are n random ones: of f32 those of the short format.
func (c *shortCase) values(rng *rand.Rand, d ir.DType, x bool, n int) []byte {
	out := make([]byte, n*d.Size(), n*d.Size()+1)
	for i := range n {
		v := c.fill(rng, x)
		switch {
		case d.Size() == 1:
			out[i] = byte(v)
		case d == ir.BF16:
			binary.LittleEndian.PutUint16(out[2*i:], v)
		case c.bytes:
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(float32(byte(v))))
		default:
			binary.LittleEndian.PutUint32(out[4*i:], uint32(v)<<16)
		}
	}
	return out
}

// anyByte is any, lastBytes one of those whose products are largest; normal
// spreads bf16 around 0.
func anyByte(rng *rand.Rand, _ bool) uint16 { return uint16(rng.IntN(256)) }

func lastBytes(rng *rand.Rand, x bool) uint16 {
	if x {
		return 255 * uint16(rng.IntN(4)/3)
	}
	return 127 + uint16(rng.IntN(2))
}

func normal(rng *rand.Rand, _ bool) uint16 {
	return uint16(math.Float32bits(float32(rng.NormFloat64())) >> 16)
}

// special is a normal number or, seldom, what is none or infinite.
func special(rng *rand.Rand, x bool) uint16 {
	if rng.IntN(300) == 0 {
		return []uint16{0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81}[rng.IntN(5)]
	}
	return normal(rng, x)
}

// check runs the program on every instruction set, with and without the
// instructions for its format, and any number of threads: what the referee
// says, and in integers the same bits everywhere, up to and with the epilogue.
func (c *shortCase) check(t *testing.T, devices []*Device) {
	t.Helper()
	want, bounds, err := interp.Evaluate(context.Background(), c.graph, c.env, c.leaves)
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, d := range devices {
		for _, threads := range []int{1, 2} {
			d.threads = threads
			got, err := evaluate(d, c.graph, c.env, c.leaves, device.Options{Check: true})
			if err != nil {
				t.Fatalf("%v: %v: %v", c, d.isa, err)
			}
			if err := compare(c.graph.Outputs[0].DType, got[0], want[0], bounds[0]); err != nil {
				t.Fatalf("%v: %v, %+v, %d threads: %v", c, d.isa, d.has, threads, err)
			}
			if first == nil {
				first = got[0]
			}
			if c.bytes && !bytes.Equal(got[0], first) {
				t.Fatalf("%v: %v, %+v, %d threads: other bits than %v", c, d.isa, d.has, threads, devices[0].isa)
			}
		}
	}
}

func TestShortProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	devices := shortDevices(t)
	yes := func() bool { return rng.IntN(2) == 0 }
	for i := range 60 {
		c := &shortCase{
			bytes: i%2 == 0, rows: rng.IntN(20), cols: rng.IntN(90), k: rng.IntN(70), batch: max(0, rng.IntN(5)-2),
			symbolic: yes(), weight: yes(), turned: yes(), computed: yes(), scaled: yes(), fill: normal,
		}
		if c.bytes {
			c.fill = []func(*rand.Rand, bool) uint16{anyByte, lastBytes}[rng.IntN(2)]
		}
		c.build(rng)
		c.check(t, devices)
	}
}

// Sums of thousands of the largest products are exact, over several blocks of k
// and with a rest.
func TestLongByteProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	devices := shortDevices(t)
	most := func(_ *rand.Rand, x bool) uint16 { return map[bool]uint16{true: 255, false: 128}[x] }
	for i, k := range []int{2048, 2047, 4100, 5000} {
		for _, fill := range []func(*rand.Rand, bool) uint16{most, lastBytes, anyByte} {
			c := &shortCase{bytes: true, rows: 1 + 6*i, cols: 17 + 20*i, k: k, weight: true, scaled: i%2 == 1, turned: i > 1, fill: fill}
			c.build(rng)
			c.check(t, devices)
		}
	}
	c := &shortCase{bytes: true, rows: 1, cols: 3, k: 1<<31/(255*128) + 10, weight: true, fill: most} // wraps
	c.build(rng)
	c.check(t, devices)
}

// What is no number, or infinite, in a row and column shows in their results,
// and nowhere else: not through what fills up the last step, nor from the row
// behind.
func TestSpecialBF16Products(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	devices := shortDevices(t)
	for i := range 12 {
		c := &shortCase{rows: 1 + rng.IntN(15), cols: 1 + rng.IntN(80), k: 31 + rng.IntN(40), weight: i%2 == 0, turned: i%3 == 0, computed: i%4 == 0, fill: special}
		c.build(rng)
		c.check(t, devices)
	}
	infinite := func(_ *rand.Rand, x bool) uint16 { return map[bool]uint16{true: 0x3F80, false: 0x7F80}[x] }
	for _, turned := range []bool{false, true} {
		c := &shortCase{rows: 3, cols: 20, k: 33, weight: true, turned: turned, fill: infinite}
		c.build(rng)
		want := bytes.Repeat([]byte{0, 0, 0x80, 0x7F}, c.rows*c.cols)
		for _, d := range devices {
			got, err := evaluate(d, c.graph, c.env, c.leaves, device.Options{})
			if err != nil || !bytes.Equal(got[0], want) {
				t.Errorf("%v: %v: ones by infinity are %x, %v", c, d.isa, got, err)
			}
		}
	}
}

// Operands, products and sums that are subnormal may come out as 0 where an
// instruction multiplies bf16, as ops.md says, and not otherwise.
func TestSmallBF16Products(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	devices := shortDevices(t)
	powers := func(least int) func(*rand.Rand, bool) uint16 {
		return func(rng *rand.Rand, _ bool) uint16 { return uint16(least+127+rng.IntN(3))<<7 | uint16(rng.IntN(0x80)) }
	}
	subnormal := func(rng *rand.Rand, x bool) uint16 {
		if x {
			return uint16(rng.IntN(0x80)) | uint16(rng.IntN(2))<<15
		}
		return 0x3F80 + uint16(rng.IntN(40))<<7
	}
	for _, fill := range []func(*rand.Rand, bool) uint16{powers(-70), powers(-66), powers(-64), powers(-63), powers(-60), subnormal} {
		for _, turned := range []bool{false, true} {
			c := &shortCase{rows: 9, cols: 40, k: 33, weight: true, turned: turned, fill: fill}
			c.build(rng)
			c.check(t, devices)
		}
	}
}

// A product of short operands is one kernel, in machine code alone.
func TestShortProductsAreOneKernel(t *testing.T) {
	for _, d := range shortDevices(t) {
		for _, bytes := range []bool{true, false} {
			c := &shortCase{bytes: bytes, rows: 33, cols: 70, k: 50, weight: true, scaled: true, fill: normal}
			c.build(rand.New(rand.NewPCG(27, 28)))
			m, err := d.CompileGraph(context.Background(), c.graph, device.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if info := m.Info(); info.Kernels != 1 || d.isa != Generic && len(info.Generic) > 0 {
				t.Errorf("%v, %v: %d kernels, of which %v are not machine code", d.isa, c, info.Kernels, info.Generic)
			}
			_ = m.Close()
		}
	}
}

// What products of arm64 take of what a processor has.
func TestNEONFormats(t *testing.T) {
	for _, c := range []struct {
		has         cpuid.Features
		bytes, bf16 arm64.GemmFormat
	}{
		{cpuid.Features{DotProd: true, I8MM: true, BF16: true}, arm64.GemmBytes, arm64.GemmBF16},
		{cpuid.Features{DotProd: true, I8MM: true}, arm64.GemmBytes, arm64.GemmF32},
		{cpuid.Features{DotProd: true, BF16: true}, arm64.GemmSigned, arm64.GemmBF16},
		{cpuid.Features{DotProd: true}, arm64.GemmSigned, arm64.GemmF32},
		{cpuid.Features{}, arm64.GemmF32, arm64.GemmF32},
	} {
		for format, want := range map[template.Format]arm64.GemmFormat{template.Bytes: c.bytes, template.BF16: c.bf16, template.Single: arm64.GemmF32} {
			packed, got := neonFormat(format, &c.has)
			if got != want || (packed == template.Single) != (want == arm64.GemmF32) {
				t.Errorf("%+v: %v by %v, packed as %v; want %v", c.has, format, got, packed, want)
			}
		}
	}
}
