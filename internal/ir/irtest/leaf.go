package irtest

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
)

// smallest is the magnitude of ordinary elements with Integers.
const smallest = 4

// leaf makes a leaf with data: elements in [lo, hi) where lo < hi, else
// anything.
func (g *generator) leaf(d ir.DType, s ir.Shape, lo, hi int) *value {
	kind := [...]ir.Op{ir.Input, ir.Bound, ir.Weight, ir.Variable}[g.rng.IntN(4)]
	for _, x := range s {
		if !x.Static() {
			kind = ir.Input
		}
	}
	count := g.count(s)
	data := make([]byte, 0, count*d.Size())
	bound := 0.0
	ranged := lo < hi
	spread := math.Exp2(float64(g.rng.IntN(8) - 4))
	for range count {
		var bits uint64
		switch {
		case ranged:
			bits = encode(d, float64(lo+g.rng.IntN(hi-lo)))
		default:
			bits = g.element(d, spread)
		}
		data = appendElement(data, d, bits)
		if f := math.Abs(ir.Float(d, bits)); g.Integers && f > bound && !math.IsInf(f, 0) {
			bound = f
		}
	}
	return g.leafOf(kind, d, s, data, bound)
}

func (g *generator) leafOf(kind ir.Op, d ir.DType, s ir.Shape, data []byte, bound float64) *value {
	l := ir.Leaf{Kind: kind, Name: "x" + strconv.Itoa(len(g.data)), Type: ir.Type{DType: d, Shape: s}}
	if kind != ir.Input {
		l.Storage = &data
	}
	g.data[l.Name] = data
	n, err := g.b.AddLeaf(l)
	if err != nil {
		panic("irtest: " + err.Error())
	}
	return g.keep(n, bound, true)
}

// offsets makes the i32 leaf that cuts rows into segments, none of them empty
// on request.
func (g *generator) offsets(segments, rows int, full bool) *value {
	cuts := make([]int, segments+1)
	cuts[segments] = rows
	for i := 1; i < segments; i++ {
		if full {
			cuts[i] = i + g.rng.IntN(rows-segments+1)
		} else {
			cuts[i] = g.rng.IntN(rows + 1)
		}
	}
	var data []byte
	at := 0
	for i, c := range cuts {
		if c = max(c, at); full && i > 0 {
			c = min(max(c, at+1), rows-(segments-i))
		}
		at = c
		data = binary.LittleEndian.AppendUint32(data, uint32(at))
	}
	return g.leafOf(ir.Input, ir.I32, ir.Static(segments+1), data, float64(rows))
}

// element draws the bits of one element of type d; spread is the size of
// ordinary floats.
func (g *generator) element(d ir.DType, spread float64) uint64 {
	if d.IsFloat() {
		if g.Special > 0 && g.rng.Float64() < g.Special {
			return g.special(d)
		}
		if g.Integers {
			return encode(d, float64(g.rng.IntN(2*smallest+1)-smallest))
		}
		return encode(d, g.rng.NormFloat64()*spread)
	}
	if d == ir.Bool {
		return g.rng.Uint64() & 1
	}
	if g.rng.IntN(8) == 0 {
		return g.rng.Uint64() >> (64 - 8*d.Size())
	}
	n := g.rng.IntN(21) - 10
	if d.IsUnsigned() {
		n += 10
	}
	return uint64(n) & (^uint64(0) >> (64 - 8*d.Size()))
}

// special draws a float on which shortcuts go wrong. With Integers only those
// whose sums do not depend on order.
func (g *generator) special(d ir.DType) uint64 {
	values := [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1, -1}
	kinds := len(values)
	if !g.Integers {
		kinds += 4
	}
	k := g.rng.IntN(kinds)
	if k < len(values) {
		return encode(d, values[k])
	}
	sign := g.rng.Uint64() & 1 << (8*d.Size() - 1)
	switch k - len(values) {
	case 0:
		return sign | 1 // the smallest subnormal
	case 1:
		return sign | mantissa(d) // the largest
	case 2:
		return sign | (mantissa(d) + 1) // the smallest normal
	}
	return sign | (ir.Highest(d) - 1) // the largest finite
}

// mantissa is a mask of d's mantissa bits.
func mantissa(d ir.DType) uint64 {
	switch d {
	case ir.F64:
		return 1<<52 - 1
	case ir.F32:
		return 1<<23 - 1
	case ir.BF16:
		return 1<<7 - 1
	}
	return 1<<10 - 1
}

// encode gives the bits of f, which d has unless it is a float.
func encode(d ir.DType, f float64) uint64 {
	bits, err := ir.Bits(d, f)
	if err != nil {
		panic("irtest: " + err.Error())
	}
	return bits
}

func appendElement(b []byte, d ir.DType, bits uint64) []byte {
	switch d.Size() {
	case 1:
		return append(b, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(b, bits)
}

// splat makes a constant of the given shape, often one that rewrite rules ask
// for.
func (g *generator) splat(d ir.DType, s ir.Shape) *value {
	var bits uint64
	switch {
	case d == ir.Bool:
		bits = g.rng.Uint64() & 1
	case g.rng.IntN(3) == 0:
		bits = g.element(d, 1)
	case d.IsFloat() && g.Integers:
		bits = encode(d, [...]float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 4}[g.rng.IntN(7)])
	case d.IsFloat():
		bits = encode(d, [...]float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, -4, 3, math.Inf(1), math.Inf(-1)}[g.rng.IntN(10)])
	default:
		bits = [...]uint64{0, 1, 2, 8, 3, ir.Lowest(d), ir.Highest(d), ^uint64(0) >> (64 - 8*d.Size())}[g.rng.IntN(8)]
	}
	return g.constant(d, s, bits)
}

func (g *generator) constant(d ir.DType, s ir.Shape, bits uint64) *value {
	v := g.add(ir.Const, ir.Attr{DType: d, Value: bits})
	if g.Integers {
		if f := math.Abs(ir.Float(d, bits)); !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.bound = f
		}
	}
	ones := make([]int, len(s))
	for i := range ones {
		ones[i] = 1
	}
	return g.expand(g.reshape(v, ir.Static(ones...)), s)
}

func (g *generator) reshape(v *value, s ir.Shape) *value {
	if v.n.Shape.Equal(s) {
		return v
	}
	return g.add(ir.Reshape, ir.Attr{Shape: s}, v)
}

func (g *generator) expand(v *value, s ir.Shape) *value {
	if v.n.Shape.Equal(s) {
		return v
	}
	return g.add(ir.Expand, ir.Attr{Shape: s}, v)
}

// operand finds or makes a value of the given type.
func (g *generator) operand(d ir.DType, s ir.Shape) *value {
	t := ir.Type{DType: d, Shape: s}
	if g.chains() {
		before := len(g.values)
		v := g.splat(d, s)
		g.values = g.values[:before] // the chain goes on with the result
		return v
	}
	switch g.rng.IntN(8) {
	case 0, 1, 2:
		if v := g.pick(func(v *value) bool { return v.n.Type.Equal(t) }); v != nil {
			return v
		}
	case 3:
		if v := g.pick(func(v *value) bool { return v.n.DType == d && v.n.Shape.Numel().Equal(s.Numel()) }); v != nil {
			return g.reshape(v, s)
		}
	case 4, 5:
		small := make(ir.Shape, len(s))
		for i := range s {
			if small[i] = s[i]; g.rng.IntN(2) == 0 {
				small[i] = ir.N(1)
			}
		}
		return g.expand(g.leaf(d, small, 0, 0), s)
	case 6:
		return g.splat(d, s)
	}
	return g.leaf(d, s, 0, 0)
}
