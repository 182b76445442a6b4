package vktest

import (
	"encoding/binary"
	"slices"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// list is a command buffer: what it does, for tests to look at, the copies that it
// makes, and what it uses.
type list struct {
	names    []string
	work     []func()
	pending  bool
	bytes    int // that are copied
	uses     []use
	launches []launched

	pipeline vk.PipelineID // what was bound last
	push     uint64
}

// use is a part of a buffer that is read or written.
type use struct {
	buffer vk.BufferID
	at     uint64
	writes bool
}

// launched is a kernel with the address of its arguments.
type launched struct {
	address   uint64
	arguments int
}

// shader is code: its hash, and how many arguments its kernel has.
type shader struct {
	hash      string
	arguments int
}

// arguments is one more than the last argument that a kernel loads, each a word of
// 64 bits behind the pointer that it makes first.
func arguments(code []uint32) int {
	const constant, accessChain, toPointer = 43, 65, 120
	values, pointer, n := map[uint32]uint32{}, uint32(0), 0
	for at := 5; at < len(code); {
		op, words := code[at]&0xffff, int(code[at]>>16)
		if words == 0 || at+words > len(code) {
			break
		}
		operands := code[at+1 : at+words]
		switch {
		case op == constant:
			values[operands[1]] = operands[2]
		case op == toPointer && pointer == 0:
			pointer = operands[1]
		case op == accessChain && operands[2] == pointer:
			n = max(n, 1+int(values[operands[len(operands)-1]]))
		}
		at += words
	}
	return n
}

// Buffers of shared bytes may be many memories, which begin at multiples of
// alignment.
const (
	alignment = 256
	shared    = 4 << 20
)

// piece is the memory that is used, by where it begins: that is where uses begin.
func (f *Fake) piece(u use) order.Memory {
	if f.sizes[u.buffer] != shared {
		return order.Memory(u.buffer << 40)
	}
	return order.Memory(uint64(u.buffer)<<40 | u.at&^(alignment-1))
}

// use starts a list on a queue: what it uses is in order with all that was started
// before. Of a kernel it is not known what it writes, so that is all.
func (f *Fake) use(q *queue, l *list) {
	w := f.order.Start(order.Stream(q.id), "a list")
	all := slices.Clip(l.uses)
	for _, k := range l.launches {
		args := f.bytes(vk.BufferID(k.address>>40), k.address&(1<<40-1))
		for i := range k.arguments {
			// Addresses are buffers with their numbers above, which are not 0.
			if p := binary.LittleEndian.Uint64(args[8*i:]); f.sizes[vk.BufferID(p>>40)] > 0 {
				all = append(all, use{vk.BufferID(p >> 40), p & (1<<40 - 1), true})
			}
		}
	}
	for _, u := range all {
		touch := w.Reads
		if u.writes {
			touch = w.Writes
		}
		if err := touch(f.piece(u)); err != nil {
			f.fault("%v", err)
		}
	}
}

// forget frees a buffer, which nothing may use any more. The caller holds mu.
func (f *Fake) forget(b vk.BufferID) {
	if f.Quick {
		return
	}
	for at := uint64(0); at < f.sizes[b]; at += alignment {
		if at > 0 && f.sizes[b] != shared {
			break
		}
		if err := f.order.Free(f.piece(use{buffer: b, at: at})); err != nil && !f.lost {
			f.fault("%v", err)
		}
	}
}
