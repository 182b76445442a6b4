package ptxsim

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
)

const (
	// firstAddress is where global memory begins: no small number is a valid
	// address by accident, nor is one that has lost its upper half.
	firstAddress = 0x7f40_0000_0000
	// alignment is that of allocations, as drivers have it; between two of them
	// lies as much at least that belongs to none.
	alignment = 256
	// garbage fills what has not been written yet.
	garbage = 0xa5
)

// Memory is the global memory of a device: regions apart from each other. Its
// zero value is empty. Safe for use by several goroutines.
type Memory struct {
	mu      sync.Mutex
	next    uint64
	regions atomic.Pointer[[]region] // by address; replaced, never changed
}

type region struct {
	base uint64
	data []byte
}

// Alloc makes a region of n bytes, filled with garbage.
func (m *Memory) Alloc(n int) uint64 {
	data := make([]byte, n)
	for i := range data {
		data[i] = garbage
	}
	return m.Map(data)
}

// Map makes data a region: kernels read and write it where it is.
func (m *Memory) Map(data []byte) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == 0 {
		m.next = firstAddress
	}
	base := m.next
	m.next += uint64(len(data)+2*alignment-1) / alignment * alignment
	old := m.list()
	list := append(append(make([]region, 0, len(old)+1), old...), region{base, data})
	m.regions.Store(&list)
	return base
}

func (m *Memory) list() []region {
	if p := m.regions.Load(); p != nil {
		return *p
	}
	return nil
}

// Free removes the region that begins at address.
func (m *Memory) Free(address uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.list()
	for i, r := range old {
		if r.base == address {
			list := append(append(make([]region, 0, len(old)), old[:i]...), old[i+1:]...)
			m.regions.Store(&list)
			return nil
		}
	}
	return fmt.Errorf("ptxsim: no memory begins at %#x", address)
}

// Bytes is n bytes of a region from address on.
func (m *Memory) Bytes(address uint64, n int) ([]byte, error) {
	r := m.find(address)
	if n < 0 || address-r.base > uint64(len(r.data)) || uint64(n) > uint64(len(r.data))-(address-r.base) {
		return nil, fmt.Errorf("ptxsim: %d bytes at %#x are not in any region", n, address)
	}
	return r.data[address-r.base:][:n:n], nil
}

// Begin is where the region of an address begins.
func (m *Memory) Begin(address uint64) uint64 { return m.find(address).base }

// find gives the last region that begins at address or before; an empty one if
// there is none.
func (m *Memory) find(address uint64) region {
	list := m.list()
	i := sort.Search(len(list), func(i int) bool { return list[i].base > address })
	if i == 0 {
		return region{base: address}
	}
	return list[i-1]
}
