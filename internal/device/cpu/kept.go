package cpu

import (
	"encoding/binary"
	"weak"
)

// kept is what was computed from the values of buffers: an operand packed, or
// the results of constant kernels. Each of the buffers has it in its map, so
// that it is found by programs that compute the same, and dropped with the first
// of them that is freed.
type kept struct {
	key   string
	from  []weak.Pointer[buffer]
	value any // *pack, *genericPacks or *constant
}

// keep finds what is kept under a name with these buffers, of which there is
// at least one. Where there is nothing yet it is fresh's result, the same for
// all who ask at once.
func keep(from []*buffer, what string, fresh func() any) *kept {
	// By numbers that are never used again: addresses are.
	key := make([]byte, 0, len(what)+8*len(from))
	key = append(key, what...)
	for _, b := range from {
		key = binary.LittleEndian.AppendUint64(key, b.id)
	}
	if have, ok := from[0].kept.Load(string(key)); ok {
		return have.(*kept)
	}
	k := &kept{key: string(key), value: fresh()}
	for _, b := range from {
		k.from = append(k.from, weak.Make(b))
	}
	have, loaded := from[0].kept.LoadOrStore(k.key, k)
	if !loaded {
		for _, b := range from[1:] {
			b.kept.Store(k.key, k)
		}
	}
	return have.(*kept)
}

// drop forgets k.
func (k *kept) drop() {
	for _, p := range k.from {
		if b := p.Value(); b != nil {
			b.kept.CompareAndDelete(k.key, k)
		}
	}
	if c, ok := k.value.(*constant); ok {
		c.close()
	}
}
