package cpu

import (
	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/loop"
)

// A kernel may have a second form, which writes past the caches. It pays where
// the plain form would leave little in the caches for the next kernel anyway:
// measured with an add or a layer norm whose result the same kernel then reads,
// from where all that a kernel touches exceeds the L3 cache. Below half of that
// it costs a third of the speed.

// cacheBytes is the size of the caches to exceed.
func cacheBytes(c cpuid.Caches) int {
	if c.L3 == 0 {
		return 32 << 20
	}
	return c.L3
}

// leastStream is how much a kernel must write for streaming to matter.
func (d *Device) leastStream() int { return d.cache / 4 }

// emit gives the code of k, and the form that streams if k can write enough for
// that at the largest sizes it has.
func (c *compiler) emit(k *loop.Kernel) (plain, streaming *x86.Code, err error) {
	most, least := int64(0), int64(c.device.leastStream())
	for _, p := range k.Params {
		if p.Use == loop.Write {
			_, hi := p.Len.Bounds()
			size := int64(p.DType.Size())
			most += min(hi, least/size+1) * size // enough alone, and no overflow
		}
	}
	k = loop.Expand(k)
	if most < least {
		plain, err = x86.Emit(k, c.isa)
		return plain, nil, err
	}
	return x86.EmitStreaming(k, c.isa)
}

// streamsTo tells whether this run takes the form that streams: what it writes
// is aligned, and the whole is too large for the caches.
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
	return written >= r.module.device.leastStream() && total > r.module.device.cache, nil
}
