package jit

import (
	"errors"
	"sync"
	"unsafe"
)

// region is memory for blocks smaller than a huge page, which lie in it side by side: it is
// backed by huge pages as they fill it. Weights of which each had small pages of its own are
// more of these than a processor remembers the places of: a query in MiniLM takes 1.05 times
// as long then on a Zen 3. Each block is given back by itself, though the system may keep a
// huge page until the last of its blocks is, or until it is short of memory.
type region struct {
	mu   sync.Mutex
	rest []byte // what no block has had
}

const (
	regionBytes = 8 * hugePage
	// regionLeast is the least block that lies there. A program of smaller ones alone does
	// without a huge page.
	regionLeast = hugePage / 16
)

var shared region

// cut returns size bytes of whole pages, fewer than a huge page has.
func (r *region) cut(size int) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) < size {
		if err := r.renew(); err != nil {
			return nil, err
		}
	}
	block := r.rest[:size:size]
	r.rest = r.rest[size:]
	return block, nil
}

// renew maps other memory, and gives back what is left of the last.
func (r *region) renew() error {
	pages, err := mapPages(regionBytes + hugePage)
	if err != nil {
		return err
	}
	left := r.rest
	skip := int(-uintptr(unsafe.Pointer(&pages[0])) % hugePage)
	r.rest = pages[skip : skip+regionBytes]
	useHugePages(r.rest)
	return errors.Join(unmapPages(left), unmapPages(pages[:skip]), unmapPages(pages[skip+regionBytes:]))
}
