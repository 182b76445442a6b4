package jit

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Guarded is memory for tests of code that no bounds check watches: it catches
// accesses beside the block. Bytes before and after it, the canaries, must keep
// their value.
type Guarded struct {
	data  []byte
	whole []byte // canaries and data
	front int    // bytes of canary before data
	pages []byte // the mapping with its guard pages; nil without
}

// canary repeats around the block; it is a NaN as f32, so that reading it shows too.
const canary = 0xFD

// AllocGuarded returns n bytes between two unmapped pages: the block ends right
// before the second one, or less than align before it, so that an access past
// the end faults. align is a power of two up to the page size.
func AllocGuarded(n, align int) (*Guarded, error) {
	return allocGuarded(n, align, func(room int) int { return (room - n) &^ (align - 1) })
}

// AllocGuardedFront is AllocGuarded with the block right after the first
// unmapped page: an access before its start faults.
func AllocGuardedFront(n int) (*Guarded, error) {
	return allocGuarded(n, 1, func(int) int { return 0 })
}

func allocGuarded(n, align int, place func(room int) int) (*Guarded, error) {
	page := os.Getpagesize()
	if n < 0 || align < 1 || align > page || align&(align-1) != 0 {
		return nil, fmt.Errorf("jit: cannot guard %d bytes aligned to %d", n, align)
	}
	room := roundToPage(max(n, 1))
	pages, err := mapPages(page + room + page)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(denyPages(pages[:page]), denyPages(pages[page+room:])); err != nil {
		return nil, errors.Join(fmt.Errorf("jit: guard pages: %w", err), unmapPages(pages))
	}
	g := newGuarded(pages[page:page+room], place(room), n)
	g.pages = pages
	return g, nil
}

// AllocCanary returns n bytes aligned to 64 with a page of canaries on either
// side, on any platform. Unlike a guard page they let the code run on, and tell
// afterwards where it wrote.
func AllocCanary(n int) *Guarded {
	page := os.Getpagesize()
	return newGuarded(alignedBytes(page+n+page), page, n)
}

func newGuarded(whole []byte, front, n int) *Guarded {
	for i := range whole {
		whole[i] = canary
	}
	data := whole[front : front+n : front+n]
	clear(data)
	return &Guarded{data: data, whole: whole, front: front}
}

// Bytes returns the block, zeroed at first.
func (g *Guarded) Bytes() []byte { return g.data }

// Pointer is the address of the first byte, also where the block is empty: an
// empty slice would not point past the end of what it was cut from.
func (g *Guarded) Pointer() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(g.whole)), g.front)
}

// Check reports a canary that was overwritten.
func (g *Guarded) Check() error {
	for i, c := range g.whole {
		at := i - g.front
		if c != canary && (at < 0 || at >= len(g.data)) {
			return fmt.Errorf("jit: byte %d of a block of %d was overwritten", at, len(g.data))
		}
	}
	runtime.KeepAlive(g)
	return nil
}

// Close checks the canaries and frees the block. A second Close does nothing.
func (g *Guarded) Close() error {
	err := g.Check()
	pages := g.pages
	g.data, g.whole, g.pages = nil, nil, nil
	if pages == nil {
		return err
	}
	return errors.Join(err, unmapPages(pages))
}
