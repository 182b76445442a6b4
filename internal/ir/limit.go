package ir

// Lowest is the bits of the value of type d that no other is less than: -Inf
// for floats.
func Lowest(d DType) uint64 {
	switch {
	case d.IsFloat():
		return infinity(d) | 1<<(8*d.Size()-1)
	case d.IsInt() && !d.IsUnsigned():
		return 1 << (8*d.Size() - 1)
	}
	return 0
}

// Highest is the bits of the value of type d that is less than no other: +Inf
// for floats.
func Highest(d DType) uint64 {
	switch {
	case d.IsFloat():
		return infinity(d)
	case d == Bool:
		return 1
	case d.IsUnsigned():
		return 1<<(8*d.Size()) - 1
	}
	return 1<<(8*d.Size()-1) - 1
}

func infinity(d DType) uint64 {
	switch d {
	case F64:
		return 0x7ff << 52
	case F32, BF16: // bf16 is the upper half of f32
		return 0x7f80_0000 >> (32 - 8*d.Size())
	}
	return 0x7c00
}
