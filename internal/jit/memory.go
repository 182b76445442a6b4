package jit

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Memory is a block of bytes outside the Go heap, aligned to 64 bytes. The
// garbage collector frees one that is dropped without Close. The bytes do not
// keep it: whoever works on them must keep the Memory reachable, by a field or
// by runtime.KeepAlive.
type Memory struct {
	data    []byte
	block   *block // nil if data is ordinary Go memory
	cleanup runtime.Cleanup
}

// Bytes returns the block. It is nil after Close.
func (m *Memory) Bytes() []byte { return m.data }

// Len is the number of bytes asked for.
func (m *Memory) Len() int { return len(m.data) }

// Mapped is the bytes outside the Go heap that the block takes, as Stats
// counts them.
func (m *Memory) Mapped() int {
	if m.block == nil {
		return 0
	}
	return len(m.block.data)
}

// Pointer is the address of the first byte, nil after Close and where Len is 0.
func (m *Memory) Pointer() unsafe.Pointer {
	if len(m.data) == 0 {
		return nil
	}
	return unsafe.Pointer(&m.data[0])
}

// Close gives the block back; its bytes must not be used any more. A second
// Close does nothing. Close must not run while another goroutine uses m.
func (m *Memory) Close() error {
	b := m.block
	m.data, m.block = nil, nil
	if b == nil {
		return nil
	}
	m.cleanup.Stop()
	runtime.KeepAlive(m) // or the cleanup could be on its way before Stop
	return b.owner.free(b, false)
}

// Allocator hands out Memory, keeps freed blocks for reuse and has the garbage
// collector run when much of what it handed out may be garbage: the collector
// sees a few words where a tensor of a gigabyte hangs on. The zero value is
// ready; fields are set before first use.
type Allocator struct {
	// CacheBytes bounds the freed blocks kept for reuse. Zero means 256 MB,
	// below zero none.
	CacheBytes int64
	// Linger is how long more than CacheBytes is kept, up to twice that, as the next run
	// of a program that takes much may begin soon: as much as makes Peak with what is
	// handed out. Zero: not at all.
	Linger time.Duration
	// CollectBytes is the amount handed out below which the allocator never
	// calls the collector. Zero means 64 MB.
	CollectBytes int64

	mu    sync.Mutex
	cache cache
	pace  pace
	stats Stats

	collecting atomic.Bool
	waiting    bool // expire will be called
	closed     bool
}

// Stats counts the bytes of an Allocator, rounded up to whole blocks. Blocks
// below 16 kB are ordinary Go memory and not counted.
type Stats struct {
	Live      int64 // handed out and not freed
	Peak      int64 // the most Live has been
	Cached    int64 // freed and kept for reuse
	Allocs    int64 // blocks handed out since the start
	Reused    int64 // of those, taken from the cache
	Collected int64 // blocks freed by the collector instead of Close
	Nudges    int64 // garbage collections asked for
}

const (
	defaultCache   = 256 << 20
	defaultCollect = 64 << 20

	// Alignment of every block, a cache line and a zmm register.
	Alignment = 64
	// smallest is where blocks outside the Go heap begin: below it pages and
	// system calls cost more than the collector does.
	smallest = 16 << 10
	// maxGoBytes bounds blocks where all are Go memory, which panics if the
	// length can never fit: the memory of WebAssembly ends at 4 GB.
	maxGoBytes = math.MaxInt32
	// hugePage is what the kernel backs by one entry of the page table.
	hugePage = 2 << 20
)

// block is a mapping; it does not point to its Memory, or that would never be
// collected.
type block struct {
	owner *Allocator
	pages []byte // as the system gave them
	data  []byte // the aligned part, a size class long
	place int    // of a large one, see places
	epoch int64  // pace.epoch when it was handed out
	freed time.Time
}

// Alloc returns n bytes. Their contents are whatever they are: blocks are reused
// without being cleared. Of more than half of all addresses not even the size
// class would be a number.
func (a *Allocator) Alloc(n int) (*Memory, error) {
	if n < 0 || n > math.MaxInt/2 || !offHeap && n > maxGoBytes {
		return nil, fmt.Errorf("jit: cannot allocate %d bytes", n)
	}
	if n < smallest || !offHeap {
		return &Memory{data: alignedBytes(n)}, nil
	}
	size := sizeClass(n)
	b, err := a.obtain(size)
	if err != nil {
		return nil, fmt.Errorf("jit: allocate %d bytes: %w", n, err)
	}
	m := &Memory{data: b.data[:n:n], block: b}
	m.cleanup = runtime.AddCleanup(m, func(b *block) { _ = b.owner.free(b, true) }, b)
	return m, nil
}

// alignedBytes returns Go memory aligned to 64 bytes. The collector never moves
// it.
func alignedBytes(n int) []byte {
	b := make([]byte, n+Alignment-1)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) % Alignment)
	return b[skip : skip+n : skip+n]
}

// sizeClass rounds n up to an eighth of its power of two, so that at most 12 %
// are lost and blocks of nearly the same size can stand in for each other; from
// a megabyte on to a 64th.
func sizeClass(n int) int {
	step, parts := smallest/8, 8
	if n >= 1<<20 {
		parts = 64
	}
	for step*2*parts < n {
		step *= 2
	}
	return roundToPage((n + step - 1) / step * step)
}

// obtain takes a block of at least size bytes from the cache or the system.
func (a *Allocator) obtain(size int) (*block, error) {
	if a.needsCollection(size) {
		a.collect(size)
	}
	a.mu.Lock()
	b := a.cache.take(size)
	a.mu.Unlock()
	reused := b != nil
	if !reused {
		var err error
		if b, err = mapBlock(size); err != nil {
			if b, err = a.obtainAfterCollection(size, err); err != nil {
				return nil, err
			}
		}
		b.owner = a
	}
	a.mu.Lock()
	a.stats.Allocs++
	if reused {
		a.stats.Reused++
	}
	a.stats.Live += int64(len(b.data))
	a.stats.Peak = max(a.stats.Peak, a.stats.Live)
	b.epoch = a.pace.epoch
	evicted := a.cache.put(nil, a.cacheLimit())
	a.mu.Unlock()
	_ = unmapAll(evicted) // b is there
	return b, nil
}

// cacheLimit is the bytes of freed blocks that may be kept now.
func (a *Allocator) cacheLimit() int64 {
	if a.closed {
		return 0
	}
	limit := a.lasting()
	if a.Linger > 0 {
		limit = max(limit, a.stats.Peak-a.stats.Live)
	}
	return limit
}

// lasting is the bytes of them that are kept however long.
func (a *Allocator) lasting() int64 {
	if a.CacheBytes == 0 {
		return defaultCache
	}
	return a.CacheBytes
}

// expireLater has what lingers given back in time.
func (a *Allocator) expireLater() {
	if a.Linger > 0 && !a.waiting && a.cache.bytes > max(a.lasting(), 0) {
		a.waiting = true
		time.AfterFunc(a.Linger, a.expire)
	}
}

// expire gives back the blocks that have lingered.
func (a *Allocator) expire() {
	a.mu.Lock()
	a.waiting = false
	evicted := a.cache.expired(time.Now().Add(-a.Linger), a.lasting())
	a.expireLater()
	a.mu.Unlock()
	_ = unmapAll(evicted) // nobody waits for it
}

// obtainAfterCollection is the last resort when the system is out of memory.
func (a *Allocator) obtainAfterCollection(size int, err error) (*block, error) {
	a.collect(size)
	if errTrim := a.Trim(); errTrim != nil {
		return nil, errTrim
	}
	b, again := mapBlock(size)
	if again != nil {
		return nil, err
	}
	return b, nil
}

// free takes a block back, from Close or from the collector.
func (a *Allocator) free(b *block, collected bool) error {
	size := int64(len(b.data))
	a.mu.Lock()
	a.stats.Live -= size
	if collected {
		a.stats.Collected++
		a.pace.collected(b.epoch, size)
	}
	b.freed = time.Now()
	evicted := a.cache.put(b, a.cacheLimit())
	a.expireLater()
	a.mu.Unlock()
	return unmapAll(evicted)
}

// Trim gives the freed blocks that are kept for reuse back to the system.
func (a *Allocator) Trim() error {
	a.mu.Lock()
	evicted := a.cache.put(nil, 0)
	a.mu.Unlock()
	return unmapAll(evicted)
}

// Close is Trim for good: what is freed later goes back at once, as nobody would
// find it any more.
func (a *Allocator) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	return a.Trim()
}

// mapBlock asks the system for a block. A large one is aligned so that huge
// pages fit: 512 times fewer page faults when first touched (64 MB in 7.6 ms
// instead of 29 on Zen 4, BenchmarkTouch), and fewer misses when addresses are
// translated. What lies outside the aligned part is never
// touched and takes no memory.
func mapBlock(size int) (*block, error) {
	if size < hugePage || !adviseHuge {
		pages, err := mapSmall(size)
		return &block{pages: pages, data: pages}, err
	}
	pages, err := mapPages(size + hugePage + places*placeStep)
	if err != nil {
		return nil, err
	}
	place := mapped.place(size)
	skip := int(-uintptr(unsafe.Pointer(&pages[0])) % hugePage)
	useHugePages(pages[skip : skip+roundToPage(size+places*placeStep)])
	skip += place * placeStep
	data := pages[skip : skip+size : skip+size]
	return &block{pages: pages, data: data, place: place}, nil
}

// mapSmall is mapBlock for a block that no huge page fits in: it shares some with others, or
// where there is no room for a region has its own pages.
func mapSmall(size int) ([]byte, error) {
	if adviseHuge && size >= regionLeast {
		if pages, err := shared.cut(size); err == nil {
			return pages, nil
		}
	}
	return mapPages(size)
}

// Large blocks begin at different places of a page. A kernel works on several
// at once, at the same distance from their beginnings; at the same place of a
// page, their lines compete for the same sets of the first cache, and loads wait
// for stores that are not theirs. On Zen 4 a copy takes 7 % longer then, and a
// layer norm of a sum 11 %.
const (
	places    = 9
	placeStep = 448
)

// placement counts the bytes of large blocks at each place.
type placement [places]atomic.Int64

var mapped placement

// place picks one for a block of so many bytes, where there are least.
func (p *placement) place(size int) int {
	least := 0
	for i := range p {
		if p[i].Load() < p[least].Load() {
			least = i
		}
	}
	p[least].Add(int64(size))
	return least
}

func unmapAll(blocks []*block) error {
	for _, b := range blocks {
		if len(b.pages) > len(b.data) {
			mapped[b.place].Add(-int64(len(b.data)))
		}
		if err := unmapPages(b.pages); err != nil {
			return fmt.Errorf("jit: free %d bytes: %w", len(b.data), err)
		}
	}
	return nil
}

// Stats returns the counts so far.
func (a *Allocator) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	s.Cached = a.cache.bytes
	return s
}
