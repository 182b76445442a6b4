package interp

import "github.com/sinterml/sinter/internal/ir"

// cast converts floats: to floats by rounding, to integers towards zero with
// saturation and 0 for NaN, to bool as "not 0".
func (floats[T]) cast(out, x *value) {
	from := view[T](x)
	switch out.t {
	case ir.F32:
		convert(view[float32](out), from)
	case ir.F64:
		convert(view[float64](out), from)
	case ir.I8:
		saturate(view[int8](out), from)
	case ir.I16:
		saturate(view[int16](out), from)
	case ir.I32:
		saturate(view[int32](out), from)
	case ir.I64:
		saturate(view[int64](out), from)
	case ir.U8:
		saturate(view[uint8](out), from)
	case ir.U16:
		saturate(view[uint16](out), from)
	case ir.U32:
		saturate(view[uint32](out), from)
	case ir.U64:
		saturate(view[uint64](out), from)
	case ir.Bool:
		truth(out.data, from)
	}
}

// cast converts integers and bool: to integers by wrapping.
func (integers[T]) cast(out, x *value) {
	from := view[T](x)
	switch out.t {
	case ir.F32:
		convert(view[float32](out), from)
	case ir.F64:
		convert(view[float64](out), from)
	case ir.I8:
		convert(view[int8](out), from)
	case ir.I16:
		convert(view[int16](out), from)
	case ir.I32:
		convert(view[int32](out), from)
	case ir.I64:
		convert(view[int64](out), from)
	case ir.U8:
		convert(view[uint8](out), from)
	case ir.U16:
		convert(view[uint16](out), from)
	case ir.U32:
		convert(view[uint32](out), from)
	case ir.U64:
		convert(view[uint64](out), from)
	case ir.Bool:
		truth(out.data, from)
	}
}

func convert[T, F number](out []T, x []F) {
	for i, a := range x {
		out[i] = T(a)
	}
}

func saturate[T integer, F float](out []T, x []F) {
	lo, hi := dtypeOf[T]().IntRange()
	for i, a := range x {
		switch f := float64(a); {
		case isNaN(f):
			out[i] = 0
		case f < lo:
			out[i] = lowest[T]()
		case f > hi:
			out[i] = highest[T]()
		default:
			out[i] = T(f)
		}
	}
}

func truth[F number](out []byte, x []F) {
	for i, a := range x {
		if a != 0 {
			out[i] = 1
		}
	}
}
