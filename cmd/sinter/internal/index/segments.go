package index

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Segments are those of an index as a Reader found them, mapped into memory.
// They stay as they are until Close, whatever others commit or prune. They may
// be used by several goroutines at once.
type Segments struct {
	dim  int
	open []*segment // by number
}

// segment is a file that is mapped, up to the end of its last block.
type segment struct {
	number uint32
	path   string
	mapped mapped
	blocks []block // by first slot; those that are damaged are missing
}

// openSegments maps what places name, which are in order.
func (x *Index) openSegments(places []blockPlace) *Segments {
	s := &Segments{dim: x.space.Dim}
	for len(places) > 0 {
		number := places[0].first.Segment
		n := 0
		end := int64(0)
		for n < len(places) && places[n].first.Segment == number {
			end = max(end, places[n].end())
			n++
		}
		seg := &segment{number: number, path: x.segmentPath(number)}
		var err error
		if seg.mapped, err = mapFile(seg.path, end); err == nil {
			s.open = append(s.open, seg)
			err = guard(seg.path, func() error { seg.parse(places[:n], s.dim); return nil })
		}
		if err != nil { // its chunks are missing, as those of damaged blocks
			seg.blocks = nil
		}
		places = places[n:]
	}
	return s
}

// parse reads the headers of blocks.
func (s *segment) parse(places []blockPlace, dim int) {
	size := int64(len(s.mapped.data))
	for _, p := range places {
		if p.offset < 0 || p.bytes < 0 || p.offset > size || p.bytes > size-p.offset {
			continue // cut short
		}
		b, err := parseBlock(s.mapped.data[p.offset:p.end()], dim)
		if err == nil && b.first == p.first && b.count == p.count {
			s.blocks = append(s.blocks, b)
		}
	}
}

// Close gives the memory back. Nothing that came from s may be used afterwards.
func (s *Segments) Close() {
	if s == nil {
		return
	}
	for _, seg := range s.open {
		seg.mapped.close()
	}
	s.open = nil
}

// find gives the block of a chunk and its place there; nil where it is missing.
func (s *Segments) find(r Ref) (*segment, *block, int) {
	if s == nil {
		return nil, nil, 0
	}
	i, ok := slices.BinarySearchFunc(s.open, r.Segment, func(seg *segment, n uint32) int { return cmp.Compare(seg.number, n) })
	if !ok {
		return nil, nil, 0
	}
	seg := s.open[i]
	j, ok := slices.BinarySearchFunc(seg.blocks, r.Slot, func(b block, slot uint32) int { return cmp.Compare(b.first.Slot, slot) })
	if !ok {
		j--
	}
	if j < 0 || r.Slot-seg.blocks[j].first.Slot >= uint32(seg.blocks[j].count) {
		return nil, nil, 0
	}
	return seg, &seg.blocks[j], int(r.Slot - seg.blocks[j].first.Slot)
}

// cursor finds chunks that mostly lie one behind the other.
type cursor struct {
	*Segments
	segment uint32
	block   *block // the last one found
}

func (c *cursor) find(r Ref) (*block, int) {
	if c.block == nil || r.Segment != c.segment || r.Slot-c.block.first.Slot >= uint32(c.block.count) {
		var i int
		if _, c.block, i = c.Segments.find(r); c.block == nil {
			return nil, i
		}
		c.segment = r.Segment
	}
	return c.block, int(r.Slot - c.block.first.Slot)
}

// Key is that of a chunk, and whether there is such a chunk.
func (s *Segments) Key(r Ref) (Key, bool) {
	_, b, i := s.find(r)
	if b == nil {
		return Key{}, false
	}
	return b.key(i), true
}

// Terms are those of chunks, where they lie: not to be changed, nor used after
// Close, and read within Guard. A chunk that is missing has none.
func (s *Segments) Terms(refs []Ref) [][]byte {
	terms := make([][]byte, len(refs))
	c := cursor{Segments: s}
	for i, r := range refs {
		if b, at := c.find(r); b != nil {
			terms[i] = b.termsOf(at)
		}
	}
	return terms
}

// Guard calls f, which reads what Terms gave, and turns a fault that a file
// cut short would cause into an error. It holds for f's own goroutine.
func (s *Segments) Guard(f func() error) error { return guardAny(s.fileAt, f) }

// fileAt is the file that is mapped at an address.
func (s *Segments) fileAt(address uintptr) string {
	for _, seg := range s.open {
		data := seg.mapped.data
		if begin := uintptr(unsafe.Pointer(unsafe.SliceData(data))); address >= begin && address-begin < uintptr(len(data)) {
			return seg.path
		}
	}
	return "a file of the index"
}

// Verify finds the chunks that are missing or whose checksum is wrong, as
// positions in refs, in order. It reads all bytes of the others.
func (s *Segments) Verify(refs []Ref) (bad []int, err error) {
	var mu sync.Mutex
	err = s.split(len(refs), func(from, to int) {
		var mine []int
		c := cursor{Segments: s}
		for i := from; i < to; i++ {
			if b, at := c.find(refs[i]); b == nil || !b.sound(at, s.dim) {
				mine = append(mine, i)
			}
		}
		mu.Lock()
		bad = append(bad, mine...)
		mu.Unlock()
	})
	slices.Sort(bad)
	return bad, err
}

// split calls f for parts of n things, on all processors.
func (s *Segments) split(n int, f func(from, to int)) error {
	const part = 1024
	var mu sync.Mutex
	var failed error
	next := 0
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+part-1)/part) {
		wait.Go(func() {
			err := s.Guard(func() error {
				for {
					mu.Lock()
					from := next
					next += part
					mu.Unlock()
					if from >= n {
						return nil
					}
					f(from, min(from+part, n))
				}
			})
			mu.Lock()
			failed = cmp.Or(failed, err)
			mu.Unlock()
		})
	}
	wait.Wait()
	return failed
}
