package x86

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// element draws a lane of a matrix: of bf16 small integers, whose sums are exact.
func (f GemmFormat) element(rng *rand.Rand, matrix int) uint32 {
	small := func() uint32 { return math.Float32bits(float32(rng.IntN(9)-4)) >> 16 }
	switch {
	case f == GemmF32:
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmBF16 && matrix < 2:
		return small() | small()<<16
	case f == GemmBF16:
		return small() << 16
	case f == GemmAMXHalves && matrix < 2:
		return uint32(ir.F16FromFloat32(float32(rng.NormFloat64()))) | uint32(ir.F16FromFloat32(float32(rng.NormFloat64())))<<16
	case (f == GemmAMXBF16 || f == GemmAMXThirds) && matrix < 2:
		return bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
	case f == GemmAMXBF16 || f.Splits():
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmWide && matrix == 0: // widened
		return math.Float32bits(float32(rng.NormFloat64())) &^ 0xFFFF
	case f == GemmWide && matrix == 1:
		return bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
	case f == GemmWide:
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmWords && matrix == 0: // widened bytes
		return rng.Uint32() & 0xFF00FF
	}
	return rng.Uint32()
}

// bf16Pair is a lane of two numbers, cut off.
func bf16Pair(first, second float32) uint32 {
	return math.Float32bits(first)>>16 | math.Float32bits(second)&^0xFFFF
}

// accumulate is c plus the products of a step of A and one lane of B.
func (f GemmFormat) accumulate(c uint32, a []uint32, b uint32) uint32 {
	float := math.Float32frombits
	switch f {
	case GemmF32:
		return math.Float32bits(loop.FMA32(float(a[0]), float(b), float(c)))
	case GemmBF16:
		const high = 0xFFFF0000
		return math.Float32bits(float(c) + float(a[0]<<16)*float(b<<16) + float(a[0]&high)*float(b&high))
	case GemmWide:
		second := loop.FMA32(float(a[1]), float(b&^0xFFFF), float(c))
		return math.Float32bits(loop.FMA32(float(a[0]), float(b<<16), second))
	case GemmWords:
		for i := range 4 {
			c += uint32(int32(a[i%2]>>(8*(i&2))&0xFF) * int32(int8(b>>(8*i))))
		}
		return c
	}
	for i := range 4 {
		c += uint32(int32(a[0]>>(8*i)&0xFF) * int32(int8(b>>(8*i))))
	}
	return c
}

// sum is C + c.
func (f GemmFormat) sum(have, c uint32) uint32 {
	if f == GemmF32 || f == GemmBF16 || f == GemmWide {
		return math.Float32bits(math.Float32frombits(have) + math.Float32frombits(c))
	}
	return have + c
}

// joined is C plus the sums of a format that splits, or those alone, times what
// belongs to the row and to the column.
func joined(sums [2]uint32, have, row, col uint32, again bool) uint32 {
	float := math.Float32frombits
	sum := loop.FMA32(float(sums[1]), 1.0/(1<<halvesShift), float(sums[0])) * float(row)
	if !again {
		have = 0
	}
	if sum = loop.FMA32(sum, float(col), float(have)); sum == 0 {
		return 0 // never -0
	}
	return math.Float32bits(sum)
}

func lanesAsBytes(lanes []uint32) []byte {
	var b []byte
	for _, l := range lanes {
		b = binary.LittleEndian.AppendUint32(b, l)
	}
	return b
}
