package jit

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
)

func TestAlloc(t *testing.T) {
	var a Allocator
	for _, n := range []int{0, 1, 63, 64, smallest - 1, smallest, smallest + 1, 100_000, 3 << 20, 5<<20 + 1} {
		m, err := a.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Bytes()) != n || m.Len() != n || uintptr(m.Pointer())%Alignment != 0 || (n == 0) != (m.Pointer() == nil) {
			t.Errorf("%d bytes: got %d at %p", n, m.Len(), m.Pointer())
		}
		for i := range m.Bytes() {
			m.Bytes()[i] = byte(i)
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if m.Bytes() != nil || m.Pointer() != nil {
			t.Error("a closed block has bytes")
		}
	}
	if s := a.Stats(); s.Live != 0 {
		t.Errorf("%d bytes live after Close", s.Live)
	}
	for _, n := range []int{-1, math.MaxInt/2 + 1, math.MaxInt} {
		if _, err := a.Alloc(n); err == nil {
			t.Errorf("%d bytes were allocated", n)
		}
	}
	if _, err := a.Alloc(1 << 60); err == nil && offHeap {
		t.Error("an exabyte was allocated")
	}
	if err := a.Trim(); err != nil || a.Stats().Cached != 0 {
		t.Errorf("%v, %d bytes cached after Trim", err, a.Stats().Cached)
	}
}

// What is freed once the allocator is closed goes back to the system: nobody would
// find it in the cache.
func TestFreedAfterClose(t *testing.T) {
	a := Allocator{Linger: time.Hour}
	var blocks []*Memory
	for range 2 {
		m, err := a.Alloc(100_000)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, m)
	}
	for i, m := range blocks {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if held := a.Stats().Cached; offHeap && (held > 0) != (i == 0) {
			t.Errorf("%d bytes cached behind block %d", held, i)
		}
		if err := a.Close(); err != nil || a.Stats().Cached != 0 {
			t.Errorf("closed: %v, %d bytes cached", err, a.Stats().Cached)
		}
	}
}

// Large blocks that are in use at once begin at different places of a page.
func TestPlaces(t *testing.T) {
	if !adviseHuge {
		t.Skip("no huge pages here")
	}
	var p placement
	seen := map[int]bool{}
	for range places {
		seen[p.place(hugePage)] = true
	}
	if len(seen) != places {
		t.Errorf("%d blocks have places %v", places, seen)
	}
	p[3].Add(-hugePage)
	if got := p.place(hugePage); got != 3 {
		t.Errorf("the block after one was freed has place %d", got)
	}
	before := mapped[0].Load()
	for i := range mapped {
		before = min(before, mapped[i].Load())
	}
	var a Allocator
	m, err := a.Alloc(3 << 20)
	if err != nil {
		t.Fatal(err)
	}
	at := int(uintptr(m.Pointer()) % hugePage)
	if at%placeStep != 0 || at/placeStep >= places || mapped[at/placeStep].Load() < before+3<<20 {
		t.Errorf("a block begins %d bytes behind a huge page", at)
	}
	held := mapped[at/placeStep].Load()
	if err := errors.Join(m.Close(), a.Trim()); err != nil {
		t.Fatal(err)
	}
	if now := mapped[at/placeStep].Load(); now > held-3<<20 {
		t.Errorf("%d bytes at its place after it was freed, %d before", now, held)
	}
}

func TestSizeClass(t *testing.T) {
	last := 0
	for n := smallest; n < 1<<30; n += n/37 + 1 {
		c := sizeClass(n)
		if c < n || float64(c) > 1.126*float64(n)+float64(roundToPage(1)) || c < last || sizeClass(c) != c {
			t.Fatalf("class of %d is %d, of the one before %d", n, c, last)
		}
		last = c
	}
}

func TestCacheReusesAndIsBounded(t *testing.T) {
	if !offHeap {
		t.Skip("memory is the Go heap's")
	}
	a := Allocator{CacheBytes: 1 << 20}
	m, _ := a.Alloc(100_000)
	p := m.Pointer()
	m.Close()
	m, _ = a.Alloc(99_000)
	if m.Pointer() != p || a.Stats().Reused != 1 {
		t.Error("the freed block of the same class was not reused")
	}
	m.Close()
	var all []*Memory
	for range 50 {
		m, err := a.Alloc(100_000)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	for _, m := range all {
		m.Close()
	}
	if s := a.Stats(); s.Cached > 1<<20 || s.Cached < 1<<19 || s.Live != 0 {
		t.Errorf("cache of a megabyte: %+v", s)
	}
	a.Trim()
	a.CacheBytes = -1
	m, _ = a.Alloc(100_000)
	m.Close()
	if s := a.Stats(); s.Cached != 0 {
		t.Errorf("no cache wanted: %+v", s)
	}
}

// x = f(x): what each step drops comes back although nobody closes it, and the
// Go heap is too small to have the collector run by itself.
func TestDroppedMemoryComesBack(t *testing.T) {
	if !offHeap {
		t.Skip("memory is the Go heap's")
	}
	steps := effort.Of(20_000, 20_000, 20_000, 100_000)
	a := Allocator{CollectBytes: 16 << 20}
	x, err := a.Alloc(256 << 10)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
		next, err := a.Alloc(256 << 10)
		if err != nil {
			t.Fatal(err)
		}
		next.Bytes()[0] = x.Bytes()[0] + 1
		runtime.KeepAlive(x)
		x = next
	}
	s := a.Stats()
	t.Logf("%+v", s)
	if s.Peak > 64<<20 {
		t.Errorf("peak of %d bytes for steps of 256 kB and collections at 16 MB", s.Peak)
	}
	if int(s.Nudges) > steps/30 {
		t.Errorf("%d collections for %d steps: one in 64 is wanted", s.Nudges, steps)
	}
	x.Close()
	waitFor(t, "everything to come back", func() bool { runtime.GC(); return a.Stats().Live == 0 })
}

// A program that closes what it takes is not made to collect.
func TestClosedMemoryCollectsNothing(t *testing.T) {
	if !offHeap {
		t.Skip("memory is the Go heap's")
	}
	a := Allocator{CollectBytes: 1 << 20}
	keep, _ := a.Alloc(4 << 20)
	for range 1000 {
		m, err := a.Alloc(8 << 20)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
	if s := a.Stats(); s.Nudges > 5 || s.Reused != 999 {
		t.Errorf("%+v", s)
	}
	keep.Close()
}

func TestAllocFromManyGoroutines(t *testing.T) {
	a := Allocator{CacheBytes: 4 << 20, CollectBytes: 4 << 20}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				m, err := a.Alloc(smallest + (g*7919+i*104729)%200_000)
				if err != nil {
					t.Error(err)
					return
				}
				b := m.Bytes()
				b[0], b[len(b)-1] = byte(g), byte(g)
				runtime.Gosched()
				if b[0] != byte(g) || b[len(b)-1] != byte(g) {
					t.Error("two owners of one block")
				}
				if i%3 == 0 {
					m.Close()
				}
				runtime.KeepAlive(m)
			}
		})
	}
	wg.Wait()
	waitFor(t, "everything to come back", func() bool { runtime.GC(); return a.Stats().Live == 0 })
	if s := a.Stats(); s.Cached > 4<<20 || s.Allocs != 2400 && offHeap {
		t.Errorf("%+v", s)
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain for " + what)
		}
	}
}

func TestGuardPagesAndCanaries(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	touch := func(p uintptr) error {
		return Protect(func() error { blackByte = *(*byte)(pointerTo(p)); return nil })
	}
	for _, n := range []int{0, 1, 64, 100, 4096, 5000} {
		for _, align := range []int{1, 64} {
			g, err := AllocGuarded(n, align)
			if err != nil {
				t.Skip(err)
			}
			end := uintptr(g.Pointer()) + uintptr(n)
			pageEnd := (end + uintptr(align) - 1) &^ (uintptr(align) - 1)
			if uintptr(g.Pointer())%uintptr(align) != 0 || touch(pageEnd) == nil {
				t.Errorf("%d bytes aligned to %d: no fault behind the end", n, align)
			}
			if align > 1 && pageEnd > end {
				*(*byte)(pointerTo(end)) = 0
				if g.Close() == nil {
					t.Errorf("%d bytes: the canary behind the end was not missed", n)
				}
			} else if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		g, err := AllocGuardedFront(n)
		if err != nil {
			t.Fatal(err)
		}
		if touch(uintptr(g.Pointer())-1) == nil {
			t.Errorf("%d bytes: no fault before the start", n)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, at := range []int{-1, -4096, 1000, 5000} {
		g := AllocCanary(1000)
		g.Bytes()[0], g.Bytes()[999] = 1, 1
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		*(*byte)(pointerTo(uintptr(g.Pointer()) + uintptr(at))) = 0
		if g.Close() == nil {
			t.Errorf("the canary at %d was not missed", at)
		}
	}
}

var blackByte byte

// BenchmarkTouch allocates 64 MB and writes one byte of each 4 kB: from fresh
// small pages, fresh huge pages, and a block that was freed before.
func BenchmarkTouch(b *testing.B) {
	const n = 64 << 20
	touch := func(mem []byte) {
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 1
		}
	}
	b.Run("small pages", func(b *testing.B) {
		for b.Loop() {
			mem, err := mapPages(n)
			if err != nil {
				b.Fatal(err)
			}
			touch(mem)
			unmapPages(mem)
		}
	})
	for name, cache := range map[string]int64{"huge pages": -1, "reused": 0} {
		b.Run(name, func(b *testing.B) {
			a := Allocator{CacheBytes: cache, CollectBytes: 1 << 30}
			for b.Loop() {
				m, err := a.Alloc(n)
				if err != nil {
					b.Fatal(err)
				}
				touch(m.Bytes())
				m.Close()
			}
			a.Trim()
		})
	}
}

// What a run took lingers for the next one, never more than the most there has been,
// and is given back in time.
func TestFreedMemoryLingers(t *testing.T) {
	if !offHeap {
		t.Skip("memory is the Go heap's")
	}
	const large = 8 << 20
	a := Allocator{CacheBytes: 1 << 20, Linger: 50 * time.Millisecond}
	alloc := func(n int) *Memory {
		m, err := a.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 5 {
		alloc(large).Close()
	}
	if s := a.Stats(); s.Reused != 4 || s.Cached < large {
		t.Errorf("a block in each of five runs: %+v", s)
	}
	m := alloc(large / 2) // another size: the first block has to go
	if s := a.Stats(); s.Live+s.Cached > s.Peak {
		t.Errorf("more is kept than was ever in use: %+v", s)
	}
	m.Close()
	if s := a.Stats(); s.Cached < large/2 {
		t.Errorf("the last block does not linger: %+v", s)
	}
	waitFor(t, "what lingers to be given back", func() bool { return a.Stats().Cached <= 1<<20 })
	a.CacheBytes = -1
	alloc(large).Close()
	alloc(large).Close()
	if s := a.Stats(); s.Reused != 5 || s.Cached < large {
		t.Errorf("blocks that linger, though none is kept for good: %+v", s)
	}
	waitFor(t, "all of it to be given back", func() bool { return a.Stats().Cached == 0 })
	a.Linger = 0
	alloc(large).Close()
	if s := a.Stats(); s.Cached != 0 {
		t.Errorf("nothing is to be kept: %+v", s)
	}
}
