package safetensors

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"github.com/sinterml/sinter"
)

// CheckFinite gives an *Error that names the first tensor, by name, with an
// element that is not a number or, if there is none, with an infinite one. It
// reads all the data: call it when results are wrong, to find out why.
func (f *File) CheckFinite() (err error) {
	if f == nil {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			fault, ok := v.(error)
			if !ok {
				panic(v)
			}
			err = f.Fault(fault)
		}
	}()
	var infinite error
	for _, t := range f.tensors {
		at, nan := notFinite(t)
		if at < 0 || !nan && infinite != nil {
			continue
		}
		what := "infinite"
		if nan {
			what = "not a number"
		}
		fault := &Error{File: f.name, Tensor: t.Name, Err: fmt.Errorf("element %d is %s: the file is damaged, or what wrote it diverged", at, what)}
		if nan {
			return fault
		}
		infinite = fault
	}
	return infinite
}

// notFinite is the first NaN of a tensor, else the first infinity, or -1.
func notFinite(t Tensor) (at int, nan bool) {
	size := t.DType.Size()
	// Infinity, and NaN above it, without the sign.
	var infinity uint64
	switch t.DType {
	case sinter.F64:
		infinity = 0x7ff << 52
	case sinter.F32:
		infinity = 0xff << 23
	case sinter.F16:
		infinity = 0x1f << 10
	case sinter.BF16:
		infinity = 0xff << 7
	default:
		return -1, false
	}
	at = -1
	for i := 0; i+size <= len(t.Data); i += size {
		var bits uint64
		switch size {
		case 2:
			bits = uint64(binary.LittleEndian.Uint16(t.Data[i:]) &^ (1 << 15))
		case 4:
			bits = uint64(binary.LittleEndian.Uint32(t.Data[i:]) &^ (1 << 31))
		default:
			bits = binary.LittleEndian.Uint64(t.Data[i:]) &^ (1 << 63)
		}
		if bits > infinity {
			return i / size, true
		}
		if bits == infinity && at < 0 {
			at = i / size
		}
	}
	return at, false
}
