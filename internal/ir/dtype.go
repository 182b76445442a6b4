package ir

import "fmt"

// DType is the type of one element of a tensor. The zero value is no type.
type DType uint8

const (
	NoType DType = iota
	F32
	F64
	F16
	BF16
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	Bool
	dtypeCount
)

// Precisions alone, no types of tensors: products in 8 bits, weights in 4, and f32
// whose 23 digits behind the first are rounded to 10, with the range of f32.
const (
	Int8 DType = 0x40 + iota
	Int4
	TF32
)

// kind groups the types that one arithmetic rule covers.
type kind uint8

const (
	kindNone kind = iota
	kindFloat
	kindInt
	kindUint
	kindBool
)

// dtypes is the only list of what is known about each type.
var dtypes = [dtypeCount]struct {
	name    string
	size    int
	kind    kind
	compute DType // the type arithmetic is done in; storage types are converted
}{
	NoType: {name: "none"},
	F32:    {"f32", 4, kindFloat, F32},
	F64:    {"f64", 8, kindFloat, F64},
	F16:    {"f16", 2, kindFloat, F32},
	BF16:   {"bf16", 2, kindFloat, F32},
	I8:     {"i8", 1, kindInt, I32},
	I16:    {"i16", 2, kindInt, I32},
	I32:    {"i32", 4, kindInt, I32},
	I64:    {"i64", 8, kindInt, I64},
	U8:     {"u8", 1, kindUint, U32},
	U16:    {"u16", 2, kindUint, U32},
	U32:    {"u32", 4, kindUint, U32},
	U64:    {"u64", 8, kindUint, U64},
	Bool:   {"bool", 1, kindBool, Bool},
}

// DTypes lists every element type, in declaration order.
func DTypes() []DType {
	all := make([]DType, 0, dtypeCount-1)
	for d := F32; d < dtypeCount; d++ {
		all = append(all, d)
	}
	return all
}

// ParseDType reads the name that String prints.
func ParseDType(s string) (DType, error) {
	for d := F32; d < dtypeCount; d++ {
		if dtypes[d].name == s {
			return d, nil
		}
	}
	return NoType, fmt.Errorf("unknown dtype %q", s)
}

// String gives the lower-case short name: f32, bf16, i64, bool; of precisions int8,
// int4, tf32.
func (d DType) String() string {
	switch {
	case d == Int8:
		return "int8"
	case d == Int4:
		return "int4"
	case d == TF32:
		return "tf32"
	case d >= dtypeCount:
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Size is the bytes of one element; a Bool is one byte, 0 or 1.
func (d DType) Size() int {
	if d >= dtypeCount {
		return 0
	}
	return dtypes[d].size
}

// Valid tells whether d is a type at all.
func (d DType) Valid() bool { return d > NoType && d < dtypeCount }

// IsFloat is true for f32, f64, f16 and bf16.
func (d DType) IsFloat() bool { return d < dtypeCount && dtypes[d].kind == kindFloat }

// IsInt is true for signed and unsigned integers, not for bool.
func (d DType) IsInt() bool {
	return d < dtypeCount && (dtypes[d].kind == kindInt || dtypes[d].kind == kindUint)
}

// IsUnsigned is true for unsigned integers.
func (d DType) IsUnsigned() bool { return d < dtypeCount && dtypes[d].kind == kindUint }

// Compute is the type in which arithmetic on d is done: narrow types are
// widened when loaded and rounded or wrapped when stored.
func (d DType) Compute() DType {
	if d >= dtypeCount {
		return NoType
	}
	return dtypes[d].compute
}
