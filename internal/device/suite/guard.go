package suite

import (
	"fmt"
	"unsafe"
)

// guarded is memory for the buffers of one run, each between canaries: bytes
// that must keep their value, for no tool sees what machine code writes.
type guarded struct {
	room []byte
	ends []int // of each block; it begins at its multiple of alignment
}

const (
	canary    = 0xFD // repeated, a NaN: reading it shows too
	fence     = 128  // bytes of canary between two blocks, at least
	alignment = 64
)

func newGuarded(sizes []int) *guarded {
	total := alignment + fence
	for _, n := range sizes {
		total += n + fence + alignment
	}
	room := make([]byte, total)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(room))) % alignment)
	g := &guarded{room: room[skip:]}
	g.room[0] = canary
	for n := 1; n < len(g.room); n *= 2 {
		copy(g.room[n:], g.room[:n])
	}
	return g
}

// block gives the next n bytes.
func (g *guarded) block(n int) []byte {
	start := g.start(len(g.ends))
	g.ends = append(g.ends, start+n)
	b := g.room[start : start+n : start+n]
	clear(b)
	return b
}

// start is where block i begins.
func (g *guarded) start(i int) int {
	if i == 0 {
		return fence
	}
	return (g.ends[i-1] + fence + alignment - 1) &^ (alignment - 1)
}

// check reports a canary that was overwritten.
func (g *guarded) check() error {
	before := 0
	for i, end := range g.ends {
		if err := g.checkFence(before, g.start(i), i); err != nil {
			return err
		}
		before = end
	}
	return g.checkFence(before, len(g.room), len(g.ends))
}

func (g *guarded) checkFence(from, to, next int) error {
	for at := from; at < to; at++ {
		if g.room[at] != canary {
			return fmt.Errorf("byte %d behind buffer %d, %d before the next, was overwritten", at-from, next-1, to-at)
		}
	}
	return nil
}
