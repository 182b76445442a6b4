package cutest

import (
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch/order"
)

func (f *Fake) buffers(a *cu.API) {
	a.MemGetInfo = func(free, total *uint64) cu.Code {
		return f.inside("cuMemGetInfo", func(*primary) cu.Code {
			*free, *total = totalMemory/2, totalMemory
			return 0
		})
	}
	a.MemAlloc = func(p *cu.Pointer, n int) cu.Code {
		return f.inside("cuMemAlloc", func(*primary) cu.Code { return f.alloc(p, n) })
	}
	a.MemFree = func(p cu.Pointer) cu.Code {
		return f.inside("cuMemFree", func(*primary) cu.Code { return f.free(p) })
	}
	a.MemHostAlloc = func(p *unsafe.Pointer, n int, _ uint32) cu.Code {
		return f.inside("cuMemHostAlloc", func(*primary) cu.Code {
			b := make([]byte, n)
			*p = unsafe.Pointer(&b[0])
			f.hosts[*p] = b
			f.live[uintptr(*p)] = "cuMemHostAlloc"
			return 0
		})
	}
	a.MemFreeHost = func(p unsafe.Pointer) cu.Code {
		return f.inside("cuMemFreeHost", func(*primary) cu.Code {
			delete(f.hosts, p)
			return f.take(uintptr(p), "cuMemHostAlloc")
		})
	}
}

func (f *Fake) alloc(p *cu.Pointer, n int) cu.Code {
	if f.Refuse != nil && f.Refuse(n) {
		return cu.OutOfMemory
	}
	*p = cu.Pointer(f.memory.Alloc(n))
	f.live[uintptr(*p)] = "cuMemAlloc"
	return 0
}

func (f *Fake) free(p cu.Pointer) cu.Code {
	f.check(f.order.Free(f.buffer(p)))
	if err := f.memory.Free(uint64(p)); err != nil {
		f.fault("cuMemFree: %v", err)
	}
	return f.take(uintptr(p), "cuMemAlloc")
}

// pool holds what was freed, each piece for a buffer of just its size.
type pool struct {
	reserved, used, threshold uint64
	free                      []int
}

type lent struct {
	pool *pool
	size int
}

// trim gives pieces back until no more than keep bytes are left, or no piece.
func (p *pool) trim(keep uint64) {
	for p.reserved > keep && len(p.free) > 0 {
		p.reserved -= uint64(p.free[0])
		p.free = p.free[1:]
	}
}

// Reserved is how many bytes all pools have of the system.
func (f *Fake) Reserved() (n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reserved()
}

// MostReserved is the most that Reserved was.
func (f *Fake) MostReserved() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

func (f *Fake) reserved() (n uint64) {
	for _, p := range f.shared {
		n += p.reserved
	}
	return n
}

// lend gives a buffer of a pool.
func (f *Fake) lend(p *pool, to *cu.Pointer, n int) cu.Code {
	i := slices.Index(p.free, n)
	if i < 0 && f.Room > 0 && f.reserved()+uint64(n) > uint64(f.Room) {
		return cu.OutOfMemory
	}
	if code := f.alloc(to, n); code != 0 {
		return code
	}
	if i >= 0 {
		p.free = slices.Delete(p.free, i, i+1)
	} else {
		p.reserved += uint64(n)
		f.most = max(f.most, f.reserved())
	}
	p.used += uint64(n)
	f.from[*to] = lent{p, n}
	return 0
}

func (f *Fake) pools(a *cu.API) {
	a.MemAllocFromPoolAsync = func(p *cu.Pointer, n int, pool cu.PoolID, s cu.StreamID) cu.Code {
		return f.inside("cuMemAllocFromPoolAsync", func(*primary) cu.Code {
			f.known(uintptr(pool), "cuMemPoolCreate")
			f.known(uintptr(s), "cuStreamCreate")
			return f.lend(f.shared[pool], p, n)
		})
	}
	a.MemFreeAsync = func(p cu.Pointer, s cu.StreamID) cu.Code {
		return f.inside("cuMemFreeAsync", func(*primary) cu.Code {
			f.known(uintptr(s), "cuStreamCreate")
			if l, ok := f.from[p]; ok {
				l.pool.used -= uint64(l.size)
				l.pool.free = append(l.pool.free, l.size)
				delete(f.from, p)
			}
			return f.free(p)
		})
	}
	a.PoolCreate = func(id *cu.PoolID, props *cu.PoolProps) cu.Code {
		return f.inside("cuMemPoolCreate", func(*primary) cu.Code {
			if props.AllocType != 1 || props.Location != 1 {
				return cu.InvalidValue
			}
			*id = cu.PoolID(f.give("cuMemPoolCreate"))
			f.shared[*id] = &pool{}
			return 0
		})
	}
	a.PoolDestroy = func(id cu.PoolID) cu.Code {
		return f.inside("cuMemPoolDestroy", func(*primary) cu.Code {
			delete(f.shared, id)
			return f.take(uintptr(id), "cuMemPoolCreate")
		})
	}
	with := func(name string, id cu.PoolID, do func(p *pool) cu.Code) cu.Code {
		return f.inside(name, func(*primary) cu.Code {
			f.known(uintptr(id), "cuMemPoolCreate")
			if p := f.shared[id]; p != nil {
				return do(p)
			}
			return cu.InvalidHandle
		})
	}
	const threshold, reserved, used = 4, 5, 7
	a.PoolSetAttribute = func(id cu.PoolID, attribute int, value *uint64) cu.Code {
		return with("cuMemPoolSetAttribute", id, func(p *pool) cu.Code {
			if attribute != threshold {
				return cu.InvalidValue
			}
			p.threshold = *value
			return 0
		})
	}
	a.PoolGetAttribute = func(id cu.PoolID, attribute int, value *uint64) cu.Code {
		return with("cuMemPoolGetAttribute", id, func(p *pool) cu.Code {
			switch attribute {
			case reserved:
				*value = p.reserved
			case used:
				*value = p.used
			default:
				return cu.InvalidValue
			}
			return 0
		})
	}
	a.PoolTrimTo = func(id cu.PoolID, keep int) cu.Code {
		return with("cuMemPoolTrimTo", id, func(p *pool) cu.Code { p.trim(uint64(keep)); return 0 })
	}
}

// known notes a handle that is not what it should be.
func (f *Fake) known(h uintptr, name string) {
	if f.live[h] != name {
		f.fault("%#x is not of %s but of %q", h, name, f.live[h])
	}
}

// part is what a transfer reads or writes.
func (f *Fake) part(p cu.Pointer, n int, s cu.StreamID) ([]byte, cu.Code) {
	f.known(uintptr(s), "cuStreamCreate")
	b, err := f.memory.Bytes(uint64(p), n)
	if err != nil {
		f.fault("%v", err)
		return nil, cu.InvalidValue
	}
	return b, 0
}

func (f *Fake) transfers(a *cu.API) {
	a.MemcpyHtoDAsync = func(dst cu.Pointer, src unsafe.Pointer, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemcpyHtoDAsync", func(*primary) cu.Code {
			to, code := f.part(dst, n, s)
			f.check(f.order.Start(order.Stream(s), "cuMemcpyHtoDAsync").Writes(f.buffer(dst)))
			copy(to, unsafe.Slice((*byte)(src), n))
			return code
		})
	}
	a.MemcpyDtoHAsync = func(dst unsafe.Pointer, src cu.Pointer, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemcpyDtoHAsync", func(*primary) cu.Code {
			from, code := f.part(src, n, s)
			f.check(f.order.Start(order.Stream(s), "cuMemcpyDtoHAsync").Reads(f.buffer(src)))
			copy(unsafe.Slice((*byte)(dst), n), from)
			return code
		})
	}
	a.MemcpyDtoDAsync = func(dst, src cu.Pointer, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemcpyDtoDAsync", func(*primary) cu.Code {
			from, code := f.part(src, n, s)
			if code != 0 {
				return code
			}
			to, code := f.part(dst, n, s)
			w := f.order.Start(order.Stream(s), "cuMemcpyDtoDAsync")
			f.check(w.Reads(f.buffer(src)))
			f.check(w.Writes(f.buffer(dst)))
			copy(to, from)
			return code
		})
	}
	a.MemsetD8Async = func(dst cu.Pointer, value byte, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemsetD8Async", func(*primary) cu.Code {
			to, code := f.part(dst, n, s)
			f.check(f.order.Start(order.Stream(s), "cuMemsetD8Async").Writes(f.buffer(dst)))
			for i := range to {
				to[i] = value
			}
			return code
		})
	}
}
