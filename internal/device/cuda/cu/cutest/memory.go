package cutest

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
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
	if err := f.memory.Free(uint64(p)); err != nil {
		f.fault("cuMemFree: %v", err)
	}
	return f.take(uintptr(p), "cuMemAlloc")
}

func (f *Fake) pools(a *cu.API) {
	a.MemAllocFromPoolAsync = func(p *cu.Pointer, n int, pool cu.PoolID, s cu.StreamID) cu.Code {
		return f.inside("cuMemAllocFromPoolAsync", func(*primary) cu.Code {
			f.known(uintptr(pool), "cuMemPoolCreate")
			f.known(uintptr(s), "cuStreamCreate")
			return f.alloc(p, n)
		})
	}
	a.MemFreeAsync = func(p cu.Pointer, s cu.StreamID) cu.Code {
		return f.inside("cuMemFreeAsync", func(*primary) cu.Code {
			f.known(uintptr(s), "cuStreamCreate")
			return f.free(p)
		})
	}
	a.PoolCreate = func(pool *cu.PoolID, props *cu.PoolProps) cu.Code {
		return f.inside("cuMemPoolCreate", func(*primary) cu.Code {
			if props.AllocType != 1 || props.Location != 1 {
				return cu.InvalidValue
			}
			*pool = cu.PoolID(f.give("cuMemPoolCreate"))
			return 0
		})
	}
	a.PoolDestroy = func(pool cu.PoolID) cu.Code {
		return f.inside("cuMemPoolDestroy", func(*primary) cu.Code { return f.take(uintptr(pool), "cuMemPoolCreate") })
	}
	attribute := func(pool cu.PoolID, _ int, value *uint64) cu.Code {
		return f.inside("cuMemPoolSetAttribute", func(*primary) cu.Code {
			f.known(uintptr(pool), "cuMemPoolCreate")
			return 0
		})
	}
	a.PoolSetAttribute, a.PoolGetAttribute = attribute, attribute
	a.PoolTrimTo = func(pool cu.PoolID, _ int) cu.Code { return attribute(pool, 0, nil) }
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
			copy(to, unsafe.Slice((*byte)(src), n))
			return code
		})
	}
	a.MemcpyDtoHAsync = func(dst unsafe.Pointer, src cu.Pointer, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemcpyDtoHAsync", func(*primary) cu.Code {
			from, code := f.part(src, n, s)
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
			copy(to, from)
			return code
		})
	}
	a.MemsetD8Async = func(dst cu.Pointer, value byte, n int, s cu.StreamID) cu.Code {
		return f.inside("cuMemsetD8Async", func(*primary) cu.Code {
			to, code := f.part(dst, n, s)
			for i := range to {
				to[i] = value
			}
			return code
		})
	}
}
