package interp

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
)

// value is a tensor while the graph runs: dense, row-major, never changed once
// its node is done, so that several values may share memory.
type value struct {
	t     ir.DType
	shape []int
	data  []byte
	err   []float64 // bound of each element's error; nil: exact, or not asked for
}

type (
	float   interface{ float32 | float64 }
	integer interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	number interface{ float | integer }
)

// numel is the product of sizes that Shape.Check has bounded.
func numel(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func newValue(t ir.DType, shape []int) (*value, error) {
	data, err := allocate(numel(shape) * t.Size())
	if err != nil {
		return nil, err
	}
	return &value{t: t, shape: shape, data: data}, nil
}

func (v *value) len() int { return numel(v.shape) }

// view is the memory of v as elements of T, which must be of v's size.
func view[T any](v *value) []T { return elements[T](v.data) }

func elements[T any](data []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(zero)))
}

// fromBits is the element of type T that has the given bits.
func fromBits[T any](bits uint64) T {
	var zero T
	switch unsafe.Sizeof(zero) {
	case 1:
		b := uint8(bits)
		return *(*T)(unsafe.Pointer(&b))
	case 2:
		b := uint16(bits)
		return *(*T)(unsafe.Pointer(&b))
	case 4:
		b := uint32(bits)
		return *(*T)(unsafe.Pointer(&b))
	}
	return *(*T)(unsafe.Pointer(&bits))
}

// narrow tells whether t is stored in fewer bits than floats compute in.
func narrow(t ir.DType) bool { return t == ir.F16 || t == ir.BF16 }

// widened is v with f16 and bf16 as f32; other types stay.
func widened(v *value) (*value, error) {
	if !narrow(v.t) {
		return v, nil
	}
	w, err := newValue(ir.F32, v.shape)
	if err != nil {
		return nil, err
	}
	toFloat := ir.F16ToFloat32
	if v.t == ir.BF16 {
		toFloat = ir.BF16ToFloat32
	}
	out := view[float32](w)
	for i, h := range view[uint16](v) {
		out[i] = toFloat(h)
	}
	w.err = v.err
	return w, nil
}

// narrowed is the f32 value w rounded to the dtype t.
func narrowed(w *value, t ir.DType) (*value, error) {
	v, err := newValue(t, w.shape)
	if err != nil {
		return nil, err
	}
	fromFloat := ir.F16FromFloat32
	if t == ir.BF16 {
		fromFloat = ir.BF16FromFloat32
	}
	out := view[uint16](v)
	for i, f := range view[float32](w) {
		out[i] = fromFloat(f)
	}
	return v, nil
}

// float64s is what the elements of v stand for; 64-bit integers are rounded.
func (v *value) float64s() []float64 {
	out := make([]float64, v.len())
	switch v.t {
	case ir.F32:
		toFloat64(out, view[float32](v))
	case ir.F64:
		copy(out, view[float64](v))
	case ir.I64:
		toFloat64(out, view[int64](v))
	default:
		for i, bits := range v.bits() {
			out[i] = ir.Float(v.t, bits)
		}
	}
	return out
}

func toFloat64[T number](out []float64, x []T) {
	for i, f := range x {
		out[i] = float64(f)
	}
}

// bits is the bits of each element.
func (v *value) bits() []uint64 {
	out := make([]uint64, v.len())
	switch v.t.Size() {
	case 1:
		toUint64(out, view[uint8](v))
	case 2:
		toUint64(out, view[uint16](v))
	case 4:
		toUint64(out, view[uint32](v))
	case 8:
		toUint64(out, view[uint64](v))
	}
	return out
}

func toUint64[T uint8 | uint16 | uint32 | uint64](out []uint64, x []T) {
	for i, u := range x {
		out[i] = uint64(u)
	}
}

// setBits makes element i the one with the given bits.
func (v *value) setBits(i int, bits uint64) {
	switch v.t.Size() {
	case 1:
		view[uint8](v)[i] = uint8(bits)
	case 2:
		view[uint16](v)[i] = uint16(bits)
	case 4:
		view[uint32](v)[i] = uint32(bits)
	case 8:
		view[uint64](v)[i] = bits
	}
}

// ints reads an index tensor, i32 or i64.
func (v *value) ints() ([]int64, error) {
	switch v.t {
	case ir.I64:
		return view[int64](v), nil
	case ir.I32:
		out := make([]int64, v.len())
		for i, n := range view[int32](v) {
			out[i] = int64(n)
		}
		return out, nil
	}
	return nil, fmt.Errorf("an index is i32 or i64, not %v", v.t)
}

// split is the sizes before, at and after an axis.
func split(shape []int, axis int) (outer, n, inner int) {
	return numel(shape[:axis]), shape[axis], numel(shape[axis+1:])
}

func isNaN[T number](x T) bool { return x != x }

// maxFinite is the largest finite value of a float type.
func maxFinite(t ir.DType) float64 {
	switch t {
	case ir.F16:
		return 65504
	case ir.BF16:
		return 0x1.FEp127
	case ir.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}
