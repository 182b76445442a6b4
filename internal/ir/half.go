package ir

import "math"

// F16FromFloat32 rounds to IEEE binary16, half to even; overflow gives
// infinity, NaN stays NaN (quiet, top payload bits kept).
func F16FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	exp := int(b>>23&0xff) - 127
	man := b & 0x7fffff
	switch {
	case exp == 128 && man != 0:
		return sign | 0x7e00 | uint16(man>>13)
	case exp > 15:
		return sign | 0x7c00
	case exp >= -14:
		r := uint32(exp+15)<<10 | man>>13
		if rest := man & 0x1fff; rest > 0x1000 || rest == 0x1000 && r&1 == 1 {
			r++ // may carry into the exponent, up to infinity
		}
		return sign | uint16(r)
	case exp >= -25: // subnormal
		man |= 0x800000
		shift := uint(-exp - 1)
		r := man >> shift
		rest, half := man&(1<<shift-1), uint32(1)<<(shift-1)
		if rest > half || rest == half && r&1 == 1 {
			r++
		}
		return sign | uint16(r)
	}
	return sign
}

// F16ToFloat32 is exact.
func F16ToFloat32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	man := uint32(h & 0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	case exp == 0:
		f := float32(man) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// BF16FromFloat32 rounds half to even; NaN stays NaN (quiet).
func BF16FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// RoundTF32 is what a unit for matrices takes for f: 10 digits behind the first,
// half away from zero; overflow gives infinity, NaN stays NaN.
func RoundTF32(f float32) float32 {
	if f != f {
		return f
	}
	return math.Float32frombits((math.Float32bits(f) + 0x1000) &^ 0x1fff)
}

// BF16ToFloat32 is exact.
func BF16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
