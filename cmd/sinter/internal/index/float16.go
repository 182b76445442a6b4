package index

import (
	"encoding/binary"
	"math"

	"github.com/sinterml/sinter"
)

// Vectors are kept as float16: half the bytes of float32, and with numbers of
// 11 bits the cosine of two vectors of length 1 changes by at most 2^-11, and in
// practice by less than 0.0001 (TestFloat16 measures it).

// Float16 rounds a vector to what is kept.
func Float16(v []float32) []uint16 {
	h := make([]uint16, len(v))
	for i, f := range v {
		h[i] = uint16(sinter.NewFloat16(f))
	}
	return h
}

// A float16 whose bits are put where a float32 has them stands for its value
// times 2^-112, as the biases of the exponents, 15 and 127, differ by 112. It
// holds for subnormal numbers too. So a query is multiplied by 2^112 once, and
// no number of a vector needs more than shifts.

// scaleQuery multiplies a query for dotBytes. Numbers of 2^15 and more, which
// no unit vector has, would overflow.
func scaleQuery(query []float32) []float32 {
	scaled := make([]float32, len(query))
	for i, q := range query {
		scaled[i] = q * 0x1p112
	}
	return scaled
}

// dotBytes is the inner product of a scaled query with a stored vector.
func dotBytes(scaled []float32, vector []byte) float32 {
	n := min(len(scaled), len(vector)/2)
	var a, b, c, d float32
	i := 0
	for ; i+4 <= n; i += 4 {
		q := scaled[i : i+4 : i+4]
		v := binary.LittleEndian.Uint64(vector[2*i:])
		a += q[0] * widen(uint32(v&0xffff))
		b += q[1] * widen(uint32(v>>16&0xffff))
		c += q[2] * widen(uint32(v>>32&0xffff))
		d += q[3] * widen(uint32(v>>48))
	}
	for ; i < n; i++ {
		a += scaled[i] * widen(uint32(binary.LittleEndian.Uint16(vector[2*i:])))
	}
	return a + b + (c + d)
}

// widen gives a float16 times 2^-112.
func widen(h uint32) float32 {
	return math.Float32frombits(h&0x8000<<16 | h&0x7fff<<13)
}

// Dot is the inner product of a query with a vector that Float16 made.
func Dot(query []float32, vector []uint16) float32 {
	var sum float32
	for i, q := range query {
		sum += q * (widen(uint32(vector[i])) * 0x1p112)
	}
	return sum
}
