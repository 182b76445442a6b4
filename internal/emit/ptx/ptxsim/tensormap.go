package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// TensorMap is what CUDA's cuTensorMapEncodeTiled is given, in its numbers; axes
// are listed from the inner one on. What a driver makes of it nobody else knows:
// Encode is what copies here understand.
type TensorMap struct {
	Type       uint32 // CUtensorMapDataType
	Address    uint64
	Sizes      []uint64
	Strides    []uint64 // bytes, of all axes but the inner one
	Box        []uint32
	Steps      []uint32
	Interleave uint32 // CUtensorMapInterleave
	Swizzle    uint32 // CUtensorMapSwizzle
	Promotion  uint32 // CUtensorMapL2promotion
	Fill       uint32 // CUtensorMapFloatOOBfill
}

// TensorMapBytes is the size of an encoded map, and TensorMapAlign where one
// begins.
const (
	TensorMapBytes = 128
	TensorMapAlign = 64
)

// typeBytes are those of each CUtensorMapDataType.
var typeBytes = [...]int{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}

const (
	swizzle128 = 3
	// tensorMagic tells an encoded map from other bytes.
	tensorMagic = 0x70616d726f736e74
)

// check refuses what CUDA's documentation does not allow.
func (t *TensorMap) check() error {
	rank := len(t.Sizes)
	switch {
	case int(t.Type) >= len(typeBytes):
		return fmt.Errorf("there is no type %d", t.Type)
	case rank < 1 || rank > 5 || len(t.Strides) != rank-1 || len(t.Box) != rank || len(t.Steps) != rank:
		return fmt.Errorf("%d axes", rank)
	case t.Address%16 != 0:
		return fmt.Errorf("the address %#x is no multiple of 16", t.Address)
	case t.Interleave != 0 || t.Swizzle > swizzle128 || t.Promotion > 3:
		return fmt.Errorf("interleave %d, swizzle %d, promotion %d", t.Interleave, t.Swizzle, t.Promotion)
	case t.Fill > 1 || t.Fill == 1 && t.Type < 6:
		return errors.New("only floats are filled with NaN")
	}
	size := typeBytes[t.Type]
	inner := int(t.Box[0]) * size
	if span := 16 << t.Swizzle; inner%16 != 0 || t.Swizzle > 0 && inner > span {
		return fmt.Errorf("a box has %d bytes along the inner axis", inner)
	}
	inside := uint64(size)
	for i, n := range t.Sizes {
		if n < 1 || n > 1<<32 {
			return fmt.Errorf("axis %d has %d elements", i, n)
		}
		if t.Box[i] < 1 || t.Box[i] > 256 || t.Steps[i] < 1 || t.Steps[i] > 8 {
			return fmt.Errorf("axis %d: a box of %d by steps of %d", i, t.Box[i], t.Steps[i])
		}
		if i > 0 {
			s := t.Strides[i-1]
			if s%16 != 0 || s >= 1<<40 || s < inside || i > 1 && s%t.Strides[i-2] != 0 {
				return fmt.Errorf("axis %d has a stride of %d bytes, what is inside has %d", i, s, inside)
			}
			inside = s
		}
		inside *= n
	}
	return nil
}

// Encode checks the map and writes it down.
func (t *TensorMap) Encode() (out [TensorMapBytes]byte, err error) {
	if err := t.check(); err != nil {
		return out, err
	}
	le := binary.LittleEndian
	b := le.AppendUint64(out[:0], tensorMagic)
	b = le.AppendUint64(b, t.Address)
	b = append(b, byte(t.Type), byte(len(t.Sizes)), byte(t.Swizzle), byte(t.Fill))
	for i, n := range t.Sizes {
		b = append(b, byte(t.Box[i]-1), byte(t.Steps[i]))
		b = le.AppendUint32(b, uint32(n-1))
		if i > 0 {
			b = le.AppendUint64(b, t.Strides[i-1])
		}
	}
	return out, nil
}

// decodeTensorMap reads what Encode has written.
func decodeTensorMap(b []byte) (*TensorMap, error) {
	le := binary.LittleEndian
	if le.Uint64(b) != tensorMagic || b[17] > 5 {
		return nil, errors.New("there is no tensor map")
	}
	t := &TensorMap{Address: le.Uint64(b[8:]), Type: uint32(b[16]), Swizzle: uint32(b[18]), Fill: uint32(b[19])}
	rank := int(b[17])
	b = b[20:]
	for i := range rank {
		t.Box, t.Steps = append(t.Box, uint32(b[0])+1), append(t.Steps, uint32(b[1]))
		t.Sizes = append(t.Sizes, uint64(le.Uint32(b[2:]))+1)
		b = b[6:]
		if i > 0 {
			t.Strides = append(t.Strides, le.Uint64(b))
			b = b[8:]
		}
	}
	return t, t.check()
}
