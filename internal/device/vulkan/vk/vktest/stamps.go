package vktest

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// The clock of the queues: bits of a stamp, and nanoseconds of its unit. Each run
// begins shortly before the clock does so anew.
const (
	stampBits   = 36
	stampTick   = 10
	stampsBegin = 1<<stampBits - 5
)

func (f *Fake) queries(a *vk.DeviceAPI) {
	a.CreateQueryPool = func(_ vk.DeviceID, info *vk.QueryPoolCreateInfo, out *vk.QueryPoolID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		const timestamps = 2
		if info.Kind != timestamps || info.Count == 0 {
			f.fault("a pool of %d queries of kind %d", info.Count, info.Kind)
		}
		*out = vk.QueryPoolID(f.give("vkCreateQueryPool"))
		f.stamps[*out] = make([]uint64, info.Count)
		return vk.Success
	}
	a.DestroyQueryPool = func(_ vk.DeviceID, q vk.QueryPoolID) {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.stamps, q)
		f.drop(uint64(q))
	}
	a.CmdResetQueryPool = func(c vk.CommandsID, q vk.QueryPoolID, first, count uint32) {
		f.record(c, "reset", func(l *list) {
			l.work = append(l.work, func() { clear(f.stamps[q][first:][:count]) })
		})
	}
	a.CmdWriteTimestamp = func(c vk.CommandsID, _ uint32, q vk.QueryPoolID, query uint32) {
		f.record(c, "stamp", func(l *list) {
			before := uint64(len(l.launches)) * uint64(f.Kernel) / stampTick
			l.work = append(l.work, func() {
				if f.stamps[q][query] != 0 {
					f.fault("stamp %d is written without a reset", query)
				}
				f.stamps[q][query] = (stampsBegin + before) % (1 << stampBits)
			})
		})
	}
	a.GetQueryPoolResults = func(_ vk.DeviceID, q vk.QueryPoolID, first, count uint32, size uintptr, to unsafe.Pointer, stride uint64, flags uint32) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		const wide = 1
		if size != uintptr(8*count) || stride != 8 || flags&wide == 0 {
			f.fault("%d stamps in %d bytes, %d for each", count, size, stride)
			return vk.Success
		}
		for i, s := range f.stamps[q][first:][:count] {
			if s == 0 {
				f.fault("stamp %d has not been written", i)
			}
			unsafe.Slice((*uint64)(to), count)[i] = s
		}
		return vk.Success
	}
}
