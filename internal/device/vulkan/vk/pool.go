package vk

import (
	"slices"
	"sync"
)

// Drivers have some thousands of allocations to give, and each is slow: small
// memory shares blocks.
const (
	blockBytes = 4 << 20
	smallBytes = blockBytes / 8 // at most: larger memory is an allocation of its own
	// alignment is that of all memory: a cache line of any device.
	alignment = 256
)

// span is a range of a block.
type span struct{ offset, length int }

// pool hands out memory of one kind.
type pool struct {
	device *Device
	kind   MemoryKind

	mu     sync.Mutex
	blocks []*block // that are shared
}

// get gives memory of n bytes.
func (p *pool) get(n int) (*Memory, error) {
	length := (n + alignment - 1) / alignment * alignment
	if length > smallBytes {
		b, err := p.device.newBlock(length, p.kind)
		if err != nil {
			return nil, err
		}
		return p.memory(b, 0, n, length), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.blocks {
		if at := b.take(length); at >= 0 {
			return p.memory(b, at, n, length), nil
		}
	}
	b, err := p.device.newBlock(blockBytes, p.kind)
	if err != nil {
		return nil, err
	}
	b.free = []span{{0, blockBytes}}
	p.blocks = append(p.blocks, b)
	return p.memory(b, b.take(length), n, length), nil
}

func (p *pool) memory(b *block, offset, n, length int) *Memory {
	m := &Memory{Size: n, Address: b.address + uint64(offset), pool: p, block: b, offset: offset, length: length}
	if b.host != nil {
		m.Host = b.host[offset:][:n:n]
	}
	return m
}

// put takes memory back. One block without users is kept.
func (p *pool) put(m *Memory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.block.free == nil && m.length > smallBytes {
		m.block.destroy(p.device)
		return
	}
	m.block.give(span{m.offset, m.length})
	if empty(m.block) && slices.ContainsFunc(p.blocks, func(b *block) bool { return b != m.block && empty(b) }) {
		p.blocks = slices.DeleteFunc(p.blocks, func(b *block) bool { return b == m.block })
		m.block.destroy(p.device)
	}
}

// close frees the blocks when the device ends.
func (p *pool) close() {
	for _, b := range p.blocks {
		b.destroy(p.device)
	}
	p.blocks = nil
}

func empty(b *block) bool { return len(b.free) == 1 && b.free[0].length == b.size }

// take finds room by first fit; below 0 there is none.
func (b *block) take(length int) int {
	for i, s := range b.free {
		if s.length < length {
			continue
		}
		if s.length == length {
			b.free = slices.Delete(b.free, i, i+1)
		} else {
			b.free[i] = span{s.offset + length, s.length - length}
		}
		return s.offset
	}
	return -1
}

// give takes a range back and joins it with its neighbours.
func (b *block) give(s span) {
	i, _ := slices.BinarySearchFunc(b.free, s, func(a, b span) int { return a.offset - b.offset })
	if i < len(b.free) && s.offset+s.length == b.free[i].offset {
		s.length += b.free[i].length
		b.free = slices.Delete(b.free, i, i+1)
	}
	if i > 0 && b.free[i-1].offset+b.free[i-1].length == s.offset {
		b.free[i-1].length += s.length
		return
	}
	b.free = slices.Insert(b.free, i, s)
}
