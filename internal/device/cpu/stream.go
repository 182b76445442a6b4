package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/loop"
)

// A kernel may have a second form, which writes past the caches. It pays where
// the plain form would leave little in the caches for the next kernel anyway:
// measured with an add or a layer norm whose result the same kernel then reads,
// from where all that a kernel touches exceeds the L3 cache. Below half of that
// it costs a third of the speed.

// cacheBytes is the size of the caches to exceed, on so many threads. Intel's third cache
// may be that of sixty cores: of 260 MB kernels on two threads kept some 32 MB, on one hardly
// less (BenchmarkStreamingSizes). More threads are taken to keep as much each.
func cacheBytes(host *cpuid.CPU, threads int) int {
	const usual, share = 32 << 20, 16 << 20
	switch l3 := host.Caches.L3; {
	case l3 == 0:
		return usual
	case host.Intel():
		return min(l3, max(usual, share*threads))
	default:
		return l3
	}
}

// firstCacheBytes is the size of a core's first cache.
func firstCacheBytes(c cpuid.Caches) int {
	if c.L1D == 0 {
		return 32 << 10
	}
	return c.L1D
}

// leastStream is how much a kernel must write for streaming to matter.
func (d *Device) leastStream() int { return d.cache / 4 }

// emit adds the code of k, and that of a large form if k can write enough for it
// at the largest sizes it has.
func (c *compiler) emit(k *loopKernel) error {
	work := loop.Expand(k.work)
	if c.neon {
		return c.emitNEON(k, work)
	}
	if !c.mayStream(k.work) {
		plain, err := x86.Emit(work, c.isa)
		return c.add(k, plain, nil, err)
	}
	k.large = k.plain
	plain, streaming, err := x86.EmitStreaming(work, c.isa)
	if err == nil && streaming != nil {
		if s, named := c.stagger(work); s != nil {
			_, code, err := x86.EmitStreaming(s, c.isa)
			if err == nil && code != nil && code.SumsLike(plain, named) {
				k.large, streaming = newForm(s), code
			}
		}
	}
	return c.add(k, plain, streaming, err)
}

// emitNEON is emit for arm64.
func (c *compiler) emitNEON(k *loopKernel, work *loop.Kernel) error {
	code, err := arm64.Emit(work)
	if err != nil {
		return err
	}
	k.plain.offset, k.plain.spill = c.slab.add(code.Text), code.SpillBytes
	c.list(k.work.Name, code.Text, code.Listing)
	return nil
}

// stagger gives the form in which the passes over a row share a loop, if it
// pays: measured with softmax and layer norms of 64 to 32768 columns, where the
// rows it keeps leave a quarter of the first cache to others. AVX2 has too few
// registers for what all passes hold.
func (c *compiler) stagger(work *loop.Kernel) (*loop.Kernel, map[*loop.Local]*loop.Local) {
	const mostRows, leastRows = 256, 32 // of a block, whose first and last steps do not count
	f := newForm(work)
	if c.apart || c.isa != x86.AVX512 || f.span == nil {
		return nil, nil
	}
	rows := min(mostRows, 2*taskCost/cost(f.span.Body, f.weights, nil))
	if rows < leastRows {
		return nil, nil
	}
	s, named := loop.Stagger(work, rows)
	if s == nil {
		return nil, nil
	}
	kept := 0
	for _, p := range s.Params {
		if n, static := p.Len.Const(); p.Use == loop.Scratch && static {
			kept += n * p.DType.Size()
		}
	}
	if kept > c.device.firstCache*3/4 {
		return nil, nil
	}
	return s, named
}

// add puts the codes of k into the slab; there may be no large one.
func (c *compiler) add(k *loopKernel, plain, large *x86.Code, err error) error {
	if err != nil {
		return err
	}
	k.plain.offset, k.plain.spill = c.slab.add(plain.Text), plain.SpillBytes
	c.list(k.work.Name, plain.Text, plain.Listing)
	if large != nil {
		k.large.offset, k.large.spill, k.streams = c.slab.add(large.Text), large.SpillBytes, large.Streams
		c.list(k.work.Name+", streaming", large.Text, large.Listing)
	}
	return nil
}

// mayStream tells whether k can write enough.
func (c *compiler) mayStream(k *loop.Kernel) bool {
	most, least := int64(0), int64(c.device.leastStream())
	for _, p := range k.Params {
		if p.Use == loop.Write {
			_, hi := p.Len.Bounds()
			size := int64(p.DType.Size())
			most += min(hi, least/size+1) * size // enough alone, and no overflow
		}
	}
	return most >= least
}

// streamsTo tells whether this run takes the form that streams: what it writes
// is aligned, and the whole is too large for the caches. One whose passes share a
// loop works on some rows twice: they must be there still, not written over.
func (k *loopKernel) streamsTo(r *binding) (bool, error) {
	if k.streams == nil {
		return false, nil
	}
	sizes := make([]int, len(k.work.Params))
	total, written := 0, 0
	for i, p := range k.work.Params {
		if p.Use == loop.Scratch {
			continue
		}
		n, err := p.Len.Eval(r.env)
		if err != nil {
			return false, err
		}
		sizes[i] = n * p.DType.Size()
		total += sizes[i]
	}
	for _, p := range k.streams {
		if uintptr(r.ptrs[p])%x86.StreamAlign != 0 {
			return false, nil
		}
		written += sizes[p]
	}
	if written < r.module.device.leastStream() || total <= r.module.device.cache {
		return false, nil
	}
	return k.large.work == k.plain.work || !k.writesOver(r.ptrs, sizes), nil
}

// writesOver tells whether a param that is written shares memory with another.
func (k *loopKernel) writesOver(ptrs []unsafe.Pointer, sizes []int) bool {
	for i, p := range k.work.Params {
		if p.Use != loop.Write {
			continue
		}
		from := uintptr(ptrs[i])
		for j, other := range k.work.Params {
			at := uintptr(ptrs[j])
			if j != i && other.Use != loop.Scratch && at < from+uintptr(sizes[i]) && from < at+uintptr(sizes[j]) {
				return true
			}
		}
	}
	return false
}
