package cu

import "unsafe"

// Numbers of cuda.h for tensor maps.
const (
	mapBytes      = 0 // types of elements: only their sizes matter here
	mapHalves     = 1
	swizzle128B   = 3 // pieces of 16 bytes are exchanged in rows of 128
	promotion128B = 2 // the second cache fetches as much at a time
)

// newTensorMap is an empty map where one may begin.
func newTensorMap() *TensorMap {
	const align = 64
	room := make([]uint64, len(TensorMap{})+align/8)
	skip := 0
	for uintptr(unsafe.Pointer(&room[skip]))%align != 0 {
		skip++
	}
	return (*TensorMap)(room[skip:])
}

// NewTensorMap describes a matrix of elements of 1 or 2 bytes from an address on,
// of as many axes as there are sizes, from the inner one on, at strides in bytes
// of all but that one. Boxes of it are copied to shared memory in rows of 128 bytes
// whose pieces are exchanged; what is beyond the sizes is 0 there.
func (c *Context) NewTensorMap(at Pointer, size int, sizes, strides, box []int) (*TensorMap, error) {
	p := &TensorMapParams{Type: mapBytes, Rank: uint32(len(sizes)), Address: at, Swizzle: swizzle128B, Promotion: promotion128B}
	if size == 2 {
		p.Type = mapHalves
	}
	for i, n := range sizes {
		p.Sizes[i], p.Box[i], p.Steps[i] = uint64(n), uint32(box[i]), 1
	}
	for i, n := range strides {
		p.Strides[i] = uint64(n)
	}
	m := newTensorMap()
	err := c.call("cuTensorMapEncodeTiled", func() Code { return c.api.TensorMapEncodeTiled(m, p) })
	return m, err
}
