package generic

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// sumLanes is how many partial results a reduction over the lanes of a Vector
// loop keeps: iteration i goes to partial i mod sumLanes, and at the end they
// are combined as a tree, ((0 4)(2 6))((1 5)(3 7)), into the local. The order
// depends on nothing else.
const sumLanes = 8

// reduce makes the register of the partial results of a local, and the steps
// around the loop that begin and end them.
func (c *compiler) reduce(op ir.Op, d ir.DType, local int) int {
	r := c.register(d, sumLanes, false)
	begin := moverOf(d).constant(r, identity(op, d))
	fill := moverOf(d).repeat(r, r, func(*state) int { return sumLanes })
	c.vector.before = append(c.vector.before, begin, fill)
	f := arithmetic(op, d, d)
	upper := c.register(d, sumLanes, false)
	c.vector.after = append(c.vector.after, func(s *state) {
		for n := sumLanes / 2; n >= 1; n /= 2 {
			s.regs[upper] = s.regs[r].from(n, d)
			f(s, n, r, [3]int{r, upper})
		}
		f(s, 1, local, [3]int{local, r})
	})
	return r
}

// identity is the bits of the value that changes nothing under op. For a sum
// of floats it is -0: 0 would turn -0 into 0.
func identity(op ir.Op, d ir.DType) uint64 {
	ones := ^uint64(0) >> (64 - 8*d.Size())
	value := func(f float64) uint64 {
		b, _ := ir.Bits(d, f) // every float type holds it
		return b
	}
	top := uint64(1) << (8*d.Size() - 1)
	switch {
	case d.IsFloat() && op == ir.Add:
		return value(math.Copysign(0, -1))
	case d.IsFloat() && op == ir.Min:
		return value(math.Inf(1))
	case d.IsFloat() && op == ir.Max:
		return value(math.Inf(-1))
	case d.IsFloat() && op == ir.Mul:
		return value(1)
	case op == ir.Mul:
		return 1
	case op == ir.And, op == ir.Min && d.IsUnsigned():
		return ones
	case op == ir.Min:
		return ones &^ top
	case op == ir.Max && !d.IsUnsigned():
		return top
	}
	return 0 // Add, Or, Max of unsigned
}

// accumulate adds the lanes of register x to the partial results.
func accumulate(op ir.Op, d ir.DType, sum, x int) step {
	switch d {
	case ir.F32:
		return into(op, loop.BinaryFloat[float32](op), sum, x)
	case ir.F64:
		return into(op, loop.BinaryFloat[float64](op), sum, x)
	case ir.F16, ir.BF16:
		return fold(halves[d].binary(op), sum, x)
	case ir.I8:
		return into(op, loop.BinaryInt[int8](op), sum, x)
	case ir.I16:
		return into(op, loop.BinaryInt[int16](op), sum, x)
	case ir.I32:
		return into(op, loop.BinaryInt[int32](op), sum, x)
	case ir.I64:
		return into(op, loop.BinaryInt[int64](op), sum, x)
	case ir.U8, ir.Bool:
		return into(op, loop.BinaryInt[uint8](op), sum, x)
	case ir.U16:
		return into(op, loop.BinaryInt[uint16](op), sum, x)
	case ir.U32:
		return into(op, loop.BinaryInt[uint32](op), sum, x)
	}
	return into(op, loop.BinaryInt[uint64](op), sum, x)
}

// into is fold, spelt out for sums and maxima.
func into[T loop.Number](op ir.Op, f func(x, y T) T, sum, x int) step {
	switch op {
	case ir.Add:
		return func(s *state) {
			p, x := (*[sumLanes]T)(view[T](s, sum)), view[T](s, x)[:s.lanes]
			a0, a1, a2, a3, a4, a5, a6, a7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
			for len(x) >= sumLanes {
				a0, a1, a2, a3 = a0+x[0], a1+x[1], a2+x[2], a3+x[3]
				a4, a5, a6, a7 = a4+x[4], a5+x[5], a6+x[6], a7+x[7]
				x = x[sumLanes:]
			}
			*p = [sumLanes]T{a0, a1, a2, a3, a4, a5, a6, a7}
			for i := range x {
				p[i] += x[i]
			}
		}
	case ir.Max:
		return func(s *state) {
			p := (*[sumLanes]T)(view[T](s, sum))
			for i, v := range view[T](s, x)[:s.lanes] {
				p[i%sumLanes] = max(p[i%sumLanes], v)
			}
		}
	}
	return fold(f, sum, x)
}

func fold[T loop.Number](f func(x, y T) T, sum, x int) step {
	return func(s *state) {
		p := (*[sumLanes]T)(view[T](s, sum))
		for i, v := range view[T](s, x)[:s.lanes] {
			p[i%sumLanes] = f(p[i%sumLanes], v)
		}
	}
}
