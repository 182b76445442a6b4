package jit

import (
	"slices"
	"time"
)

// cache keeps freed blocks, whose sizes are size classes. The oldest go first
// when it is full.
type cache struct {
	blocks []*block // oldest first
	bytes  int64
}

// maxCachedBlocks bounds the search of a take.
const maxCachedBlocks = 1024

// take returns the block of size that was freed last, whose pages are the
// likeliest to be in the processor's caches; else one up to an eighth larger,
// or nil.
func (c *cache) take(size int) *block {
	at := -1
	for i, b := range slices.Backward(c.blocks) {
		if n := len(b.data); n == size {
			at = i
			break
		} else if at < 0 && n > size && n-size <= size/8 {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	b := c.blocks[at]
	c.blocks = slices.Delete(c.blocks, at, at+1)
	c.bytes -= int64(len(b.data))
	return b
}

// put adds b, if not nil, and returns the blocks that no longer fit.
func (c *cache) put(b *block, limit int64) (evicted []*block) {
	if b != nil {
		c.blocks = append(c.blocks, b)
		c.bytes += int64(len(b.data))
	}
	n, bytes := 0, c.bytes
	for bytes > max(limit, 0) || len(c.blocks)-n > maxCachedBlocks {
		bytes -= int64(len(c.blocks[n].data))
		n++
	}
	return c.drop(n)
}

// expired returns the blocks that no longer fit and were freed by then.
func (c *cache) expired(by time.Time, limit int64) []*block {
	n, bytes := 0, c.bytes
	for bytes > max(limit, 0) && !c.blocks[n].freed.After(by) {
		bytes -= int64(len(c.blocks[n].data))
		n++
	}
	return c.drop(n)
}

// drop takes the n oldest blocks out.
func (c *cache) drop(n int) []*block {
	dropped := slices.Clone(c.blocks[:n])
	c.blocks = slices.Delete(c.blocks, 0, n)
	for _, b := range dropped {
		c.bytes -= int64(len(b.data))
	}
	return dropped
}
