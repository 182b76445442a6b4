package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// bbolt has a checksum for its two meta pages and none for the others. Before
// it touches a file, checkPages walks all pages in use: a page that refers to
// one above it would have bbolt recur without end, which no recover can stop,
// and a page both in use and free would be written over.

// Pages of bbolt begin with id (8 bytes), flags (2), count (2) and overflow,
// the number of pages that follow as part of it (4). Numbers are those of the
// machine; all that Go code is built for here are little endian.
const (
	pageHeader   = 16
	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageMeta     = 0x04
	pageFree     = 0x10
	elementSize  = 16 // of branch and leaf alike
	bucketHeader = 16
	leafBucket   = 0x01
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	noFreelist   = 1<<64 - 1
)

// boltMeta is what a meta page says.
type boltMeta struct {
	pageSize                    uint64
	root, freelist, pages, txid uint64
}

func readMeta(page []byte) (m boltMeta, ok bool) {
	const size = 64
	if len(page) < pageHeader+size || binary.LittleEndian.Uint16(page[8:]) != pageMeta {
		return m, false
	}
	b := page[pageHeader : pageHeader+size]
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	sum := fnv.New64a()
	sum.Write(b[:56])
	m = boltMeta{pageSize: uint64(u32(b[8:])), root: u64(b[16:]), freelist: u64(b[32:]), pages: u64(b[40:]), txid: u64(b[48:])}
	ok = u32(b) == metaMagic && u32(b[4:]) == metaVersion && u64(b[56:]) == sum.Sum64() && m.pageSize >= 512 && m.pageSize&(m.pageSize-1) == 0
	return m, ok
}

// newestMeta finds the meta page of the last commit, as bbolt does: one that
// was torn leaves the other.
func newestMeta(data []byte) (boltMeta, error) {
	m, ok := readMeta(data)
	size := m.pageSize
	if !ok {
		for size = 512; size <= 1<<16; size *= 2 {
			if uint64(len(data)) < 2*size {
				break
			}
			if m, ok = readMeta(data[size:]); ok && m.pageSize == size {
				return m, nil
			}
		}
		return m, errors.New("neither of its meta pages is whole")
	}
	if uint64(len(data)) >= 2*size {
		if other, ok := readMeta(data[size:]); ok && other.pageSize == size && other.txid > m.txid {
			return other, nil
		}
	}
	return m, nil
}

// pageWalk marks pages as used.
type pageWalk struct {
	data     []byte
	pageSize uint64
	pages    uint64 // below this number are all
	used     []bool
}

func checkPages(data []byte) error {
	m, err := newestMeta(data)
	if err != nil {
		return err
	}
	if m.pages > uint64(len(data))/m.pageSize {
		return fmt.Errorf("it has %d bytes of %d pages of %d: it was cut short", len(data), m.pages, m.pageSize)
	}
	w := &pageWalk{data: data, pageSize: m.pageSize, pages: m.pages, used: make([]bool, m.pages)}
	for id := range min(2, m.pages) {
		w.used[id] = true
	}
	if err := w.tree(m.root); err != nil {
		return err
	}
	if m.freelist == noFreelist {
		return nil
	}
	return w.freelist(m.freelist)
}

// claim marks a page, with what overflows it, and gives its bytes.
func (w *pageWalk) claim(id uint64) ([]byte, error) {
	if id >= w.pages {
		return nil, fmt.Errorf("page %d is none of its %d", id, w.pages)
	}
	head := w.data[id*w.pageSize:]
	if binary.LittleEndian.Uint64(head) != id {
		return nil, fmt.Errorf("page %d calls itself %d", id, binary.LittleEndian.Uint64(head))
	}
	count := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if count > w.pages-id {
		return nil, fmt.Errorf("page %d goes on beyond the end", id)
	}
	for i := id; i < id+count; i++ {
		if w.used[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.used[i] = true
	}
	return head[:count*w.pageSize], nil
}

// tree walks a tree of pages, and the trees of buckets in it.
func (w *pageWalk) tree(root uint64) error {
	for open := []uint64{root}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		page, err := w.claim(id)
		if err == nil {
			open, err = elements(page, open)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
	}
	return nil
}

// elements checks a branch or a leaf, and adds the pages it refers to.
func elements(page []byte, open []uint64) ([]uint64, error) {
	flags := binary.LittleEndian.Uint16(page[8:])
	if flags != pageBranch && flags != pageLeaf {
		return nil, fmt.Errorf("it is neither a branch nor a leaf: %#x", flags)
	}
	count := int(binary.LittleEndian.Uint16(page[10:]))
	next := pageHeader + count*elementSize // where the first key begins
	if next > len(page) || flags == pageBranch && count == 0 {
		return nil, fmt.Errorf("%d entries", count)
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*elementSize
		e := page[at : at+elementSize]
		u32 := binary.LittleEndian.Uint32
		pos, keySize, valueSize := u32(e), u32(e[4:]), uint32(0)
		if flags == pageLeaf {
			pos, keySize, valueSize = u32(e[4:]), u32(e[8:]), u32(e[12:])
		}
		begin := uint64(at) + uint64(pos)
		end := begin + uint64(keySize) + uint64(valueSize)
		if begin < uint64(next) || keySize == 0 || end > uint64(len(page)) {
			return nil, fmt.Errorf("entry %d lies outside the page", i)
		}
		key := page[begin : begin+uint64(keySize)]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return nil, fmt.Errorf("entry %d is out of order", i)
		}
		last = key
		switch {
		case flags == pageBranch:
			open = append(open, binary.LittleEndian.Uint64(e[8:]))
		case u32(e)&leafBucket != 0:
			var err error
			if open, err = bucket(page[begin+uint64(keySize):end], open); err != nil {
				return nil, fmt.Errorf("bucket %q: %w", key, err)
			}
		}
	}
	return open, nil
}

// bucket checks the value that stands for a bucket: its root, or, where that is
// 0, a page with all it holds.
func bucket(value []byte, open []uint64) ([]uint64, error) {
	if len(value) < bucketHeader {
		return nil, errors.New("it is too short")
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return append(open, root), nil
	}
	page := value[bucketHeader:]
	if len(page) < pageHeader || binary.LittleEndian.Uint16(page[8:]) != pageLeaf {
		return nil, errors.New("it has neither a page nor a leaf")
	}
	return elements(page, open)
}

// freelist checks the list of free pages.
func (w *pageWalk) freelist(id uint64) error {
	page, err := w.claim(id)
	if err != nil {
		return fmt.Errorf("free pages: %w", err)
	}
	if flags := binary.LittleEndian.Uint16(page[8:]); flags != pageFree {
		return fmt.Errorf("page %d has no list of free pages: %#x", id, flags)
	}
	list := page[pageHeader:]
	count := uint64(binary.LittleEndian.Uint16(page[10:]))
	if count == 0xffff { // the real one comes first
		count, list = binary.LittleEndian.Uint64(list), list[8:]
	}
	if count > uint64(len(list))/8 {
		return fmt.Errorf("page %d: %d free pages do not fit", id, count)
	}
	for i := range count {
		free := binary.LittleEndian.Uint64(list[8*i:])
		if free >= w.pages || w.used[free] {
			return fmt.Errorf("page %d is called free", free)
		}
		w.used[free] = true
	}
	return nil
}
