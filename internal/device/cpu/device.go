// Package cpu runs programs on the processor: machine code made at run time
// where the system allows it, Go closures elsewhere.
package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// ISA is the instruction set a device emits.
type ISA uint8

const (
	Best    ISA = iota // the widest that the processor has
	Generic            // Go code alone
	AVX2
	AVX512
	NEON
	AMX     // AVX512, with products of bf16, of bytes and, where it pays, of f32 by tiles
	AMXFP16 // AMX, with products of f32 as f16; if asked for, also where CPUID hides them
)

var isaNames = [...]string{"best", "generic", "avx2", "avx512", "neon", "amx", "amx-fp16"}

func (i ISA) String() string { return isaNames[i] }

// ParseISA reads the name that String prints.
func ParseISA(s string) (ISA, error) {
	for i, name := range isaNames {
		if name == s {
			return ISA(i), nil
		}
	}
	return 0, fmt.Errorf("unknown instruction set %q: one of amx-fp16, amx, avx512, avx2, neon, generic", s)
}

// Options configure a device. The zero value is the best instruction set and
// GOMAXPROCS threads.
type Options struct {
	ISA     ISA
	Threads int // at most so many workers a run; 0: GOMAXPROCS at the time
	// Tile, if not zero, is the tile of all products whose numbers have kernels of
	// it, for comparisons. Results do not depend on it.
	Tile x86.GemmTile
}

// Device runs programs on the processor.
type Device struct {
	isa        ISA
	threads    int
	has        cpuid.Features // beyond isa
	widens     bool           // numbers of bf16 are multiplied as f32
	core       x86.Core
	forced     x86.GemmTile   // Options.Tile
	pairsFrom  int            // rows by which weights are multiplied before they are put into pairs
	cache      int            // bytes; a kernel that touches more may write past the caches
	firstCache int            // bytes of a core
	alloc      *jit.Allocator // apart: memory that is in use refers to it, and not so to the device
	pool       jit.Pool
	idle       atomic.Int64 // bytes that programs keep for their next runs
	modules    sync.Map     // of *module: those that are open
	shelf      *keep.Shelf
	limit      atomic.Int64 // bytes; 0: none
	limiting   sync.Mutex
	closed     atomic.Bool
}

// linger is how long memory of a run is kept for the next one beyond what is kept
// anyway: longer than a step of training takes.
const linger = 10 * time.Second

// New makes a device. Asking for an instruction set that the processor, or the
// operating system, lacks is an error.
func New(o Options) (*Device, error) {
	host := cpuid.Host()
	if o.ISA == AMXFP16 && cpuid.HidesAMXFP16() {
		host.AMXFP16 = true
	}
	have := instructionSets(&host)
	d := &Device{isa: o.ISA, threads: o.Threads, has: host.Features, widens: host.SlowBF16(), forced: o.Tile, pairsFrom: pairsFrom, firstCache: firstCacheBytes(host.Caches), alloc: &jit.Allocator{Linger: linger}, shelf: keep.NewShelf()}
	switch {
	case o.ISA == Best:
		d.isa = have[0]
	case o.ISA > AMXFP16:
		return nil, fmt.Errorf("cpu: no instruction set %d", o.ISA)
	case !slices.Contains(have, o.ISA):
		return nil, fmt.Errorf("cpu: this processor cannot run %v: use %v", o.ISA, have[0])
	}
	d.has.AMXTile = d.has.AMXTile && d.isa >= AMX
	d.has.AMXFP16 = d.has.AMXFP16 && d.isa == AMXFP16
	d.core = x86.CoreOf(&host, d.target())
	if o.Threads < 0 {
		return nil, fmt.Errorf("cpu: %d threads: use at least 1, or 0 for all", o.Threads)
	}
	d.cache = cacheBytes(&host, d.workers())
	// Of a device that is dropped. Helpers hold it until they have lingered.
	runtime.AddCleanup(d, func(a *jit.Allocator) { _ = a.Close() }, d.alloc)
	return d, nil
}

// instructionSets are those that this process can run, the best first.
func instructionSets(host *cpuid.CPU) []ISA {
	switch {
	case !jit.Available():
	case host.HasAMX() && host.AMXFP16:
		return []ISA{AMXFP16, AMX, AVX512, AVX2, Generic}
	case host.HasAMX():
		return []ISA{AMX, AVX512, AVX2, Generic}
	case host.HasAVX512():
		return []ISA{AVX512, AVX2, Generic}
	case host.HasAVX2():
		return []ISA{AVX2, Generic}
	case host.NEON:
		return []ISA{NEON, Generic}
	}
	return []ISA{Generic}
}

// ISA is the instruction set that the device emits.
func (d *Device) ISA() ISA { return d.isa }

// target is the x86 assembler's name for the instruction set.
func (d *Device) target() x86.ISA {
	if d.isa == AVX512 || d.isa >= AMX {
		return x86.AVX512
	}
	return x86.AVX2
}

// workers is how many threads a run that starts now may use.
func (d *Device) workers() int {
	procs := runtime.GOMAXPROCS(0)
	if d.threads > 0 {
		return min(d.threads, procs)
	}
	return procs
}

// Stats counts memory outside the Go heap.
func (d *Device) Stats() device.MemStats {
	s := d.alloc.Stats()
	idle := d.idle.Load()
	return device.MemStats{Allocated: s.Live - idle, Cached: s.Cached + idle, Peak: s.Peak}
}

// Close ends idle workers and gives back what is held for later runs. What is in
// use goes back to the system when it is freed.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return device.ErrClosed
	}
	d.pool.Close()
	return errors.Join(d.TrimMemory(), d.alloc.Close())
}

// Copy copies src, which may belong to any device whose memory the host reads.
func (d *Device) Copy(ctx context.Context, dst, src device.Buffer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if dst.Size() != src.Size() {
		return fmt.Errorf("cpu: copy of %d bytes to %d", src.Size(), dst.Size())
	}
	from, to := src.Bytes(), dst.Bytes()
	if dst.Size() > 0 && (from == nil || to == nil) {
		return errors.New("cpu: copy from or to memory that the host cannot read")
	}
	defer changed(dst)
	return jit.Protect(func() error {
		copy(to, from)
		return nil
	})
}
