package vk

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// cacheOwner is what the head of compiled pipelines says: whose driver takes them
// up.
type cacheOwner struct {
	vendor, device uint32
	version        [16]byte
}

// A head of version 1 is its length, 1, the vendor and the device as words, and
// the UUID of the driver's caches (VkPipelineCacheHeaderVersionOne).
const cacheHead = 32

// owns tells whether the head says that this device's driver made the pipelines.
func (o cacheOwner) owns(compiled []byte) bool {
	if len(compiled) < cacheHead {
		return false
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(compiled[4*i:]) }
	return word(0) >= cacheHead && uint64(word(0)) <= uint64(len(compiled)) && word(1) == 1 && word(2) == o.vendor && word(3) == o.device &&
		[16]byte(compiled[16:cacheHead]) == o.version
}

// newCache makes the cache that the driver takes pipelines from, and adds those
// to that it compiles.
func (p *Program) newCache(compiled []byte) error {
	d := p.device
	var pin runtime.Pinner
	defer pin.Unpin()
	info := &PipelineCacheCreateInfo{Header: Header{Type: typePipelineCacheCreateInfo}}
	if len(compiled) > 0 {
		pin.Pin(&compiled[0])
		info.Size, info.Data = uintptr(len(compiled)), &compiled[0]
	}
	c := new(CacheID)
	if err := check(d.api.CreateCache(d.id, info, c), "vkCreatePipelineCache"); err != nil {
		return err
	}
	p.cache = *c
	return nil
}

// maxCompiled bounds what a driver says that a program takes, in bytes.
const maxCompiled = 1 << 30

// Compiled is what Restore makes the program of again; empty where the driver
// gives nothing, as those do that keep programs on disk themselves.
func (p *Program) Compiled() ([]byte, error) {
	if p.closed.Load() {
		return nil, ErrClosed
	}
	d, n := p.device, new(uintptr)
	if err := check(d.api.GetCacheData(d.id, p.cache, n, nil), "vkGetPipelineCacheData"); err != nil {
		return nil, err
	}
	if *n <= cacheHead {
		return nil, nil
	}
	if *n > maxCompiled {
		return nil, fmt.Errorf("vkGetPipelineCacheData: the driver of %s tells of %d bytes", d.Physical.Name, *n)
	}
	b := make([]byte, *n)
	switch c := d.api.GetCacheData(d.id, p.cache, n, &b[0]); {
	case c == Incomplete:
		return nil, &Error{Call: "vkGetPipelineCacheData", Code: c}
	case c != Success:
		return nil, check(c, "vkGetPipelineCacheData")
	}
	return b[:min(*n, uintptr(len(b)))], nil
}
