package sinter

import (
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
)

// Float16 is an IEEE binary16 number: its bits.
type Float16 uint16

// NewFloat16 rounds to the nearest, half to even.
func NewFloat16(f float32) Float16 { return Float16(ir.F16FromFloat32(f)) }

// Float32 is the value, exactly.
func (h Float16) Float32() float32 { return ir.F16ToFloat32(uint16(h)) }

// BFloat16 is the upper half of a float32: its bits.
type BFloat16 uint16

// NewBFloat16 rounds to the nearest, half to even.
func NewBFloat16(f float32) BFloat16 { return BFloat16(ir.BF16FromFloat32(f)) }

// Float32 is the value, exactly.
func (h BFloat16) Float32() float32 { return ir.BF16ToFloat32(uint16(h)) }

// Elem is the Go types that tensors hold, one for each DType.
type Elem interface {
	float32 | float64 | Float16 | BFloat16 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// dtypeOf gives the element type that T stands for.
func dtypeOf[T Elem]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	case bool:
		return Bool
	}
	return ir.NoType
}

// bytesOf is the memory of values.
func bytesOf[T Elem](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}

// sizeOf is the bytes of a static shape; false where it overflows an int or
// a size is negative.
func sizeOf(dt DType, shape []int) (int, bool) {
	n := dt.Size()
	empty := false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d == 0 {
			empty = true
			continue
		}
		if n > math.MaxInt/d {
			return 0, false
		}
		n *= d
	}
	if empty {
		return 0, true
	}
	return n, true
}
