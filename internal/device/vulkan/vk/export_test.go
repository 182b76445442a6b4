package vk

import "encoding/binary"

// CacheHead is what the driver's caches begin with, as the device tells of it.
func (p *Physical) CacheHead() []byte {
	var b []byte
	for _, word := range []uint32{cacheHead, 1, p.caches.vendor, p.caches.device} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return append(b, p.caches.version[:]...)
}
