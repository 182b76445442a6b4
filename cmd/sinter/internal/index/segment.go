package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A segment is a file of blocks. A block is what one commit appended, or a part
// of that:
//
//	header    64 bytes, with a checksum of itself and of the entries
//	entries   32 bytes a chunk: key, end of its terms, two checksums
//	vectors   dim numbers of 16 bits a chunk
//	terms     bytes of any number a chunk
//
// Each part begins at a multiple of 64 bytes. Numbers are little endian. The
// checksums of a chunk begin with its key, so that a record in another's place
// is wrong too.

const (
	blockMagic  = "sinter\x00\x01"
	blockHeader = 64
	entrySize   = 32
	alignment   = 64
	// maxBlock bounds the chunks of a block, and with it what one damaged
	// header can hide from a rebuild.
	maxBlock = 4096
	// maxTerms bounds the terms of a block, whose places have 32 bits.
	maxTerms = 1 << 30
)

// maxSegment is the size from which on a segment takes no more blocks. It
// bounds what Prune has to copy while others wait.
var maxSegment int64 = 64 << 20

func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// layout says where the parts of a block begin.
type layout struct{ entries, vectors, terms, end int64 }

func layoutOf(count, dim int, termBytes int64) layout {
	l := layout{entries: blockHeader}
	l.vectors = align(l.entries + int64(count)*entrySize)
	l.terms = align(l.vectors + int64(count)*int64(dim)*2)
	l.end = align(l.terms + termBytes)
	return l
}

// Chunk is the text of a passage, by its key, with what is kept of it.
type Chunk struct {
	Key    Key
	Vector []uint16 // float16, Space.Dim of them
	Terms  []byte
	// Replace puts it in the place of a damaged record of the same key. Without
	// it the record that is there stays.
	Replace bool
}

// encodeBlock lays out chunks as a block.
func encodeBlock(first Ref, dim int, made time.Time, chunks []Chunk) []byte {
	var termBytes int64
	for _, c := range chunks {
		termBytes += int64(len(c.Terms))
	}
	l := layoutOf(len(chunks), dim, termBytes)
	b := make([]byte, l.end)
	copy(b, blockMagic)
	le := binary.LittleEndian
	le.PutUint32(b[8:], first.Segment)
	le.PutUint32(b[12:], first.Slot)
	le.PutUint32(b[16:], uint32(len(chunks)))
	le.PutUint32(b[20:], uint32(dim))
	le.PutUint64(b[24:], uint64(termBytes))
	le.PutUint64(b[32:], uint64(made.Unix()))
	terms := b[l.terms:l.terms]
	for i, c := range chunks {
		vector := b[l.vectors+int64(i*dim*2):][:dim*2]
		for j, v := range c.Vector {
			le.PutUint16(vector[2*j:], v)
		}
		terms = append(terms, c.Terms...)
		e := b[l.entries+int64(i)*entrySize:]
		copy(e, c.Key[:])
		le.PutUint32(e[16:], uint32(len(terms)))
		le.PutUint32(e[20:], checksum(c.Key[:], vector))
		le.PutUint32(e[24:], checksum(c.Key[:], c.Terms))
	}
	le.PutUint32(b[56:], checksum(b[l.entries:l.entries+int64(len(chunks))*entrySize]))
	le.PutUint32(b[60:], checksum(b[:60]))
	return b
}

// block is a block in memory that is mapped. Its header and entries have been
// checked, its vectors and terms have not.
type block struct {
	first                   Ref
	made                    time.Time
	count                   int
	entries, vectors, terms []byte
	bytes                   int64
}

// parseBlock reads the header of the block that data begins with.
func parseBlock(data []byte, dim int) (block, error) {
	le := binary.LittleEndian
	switch {
	case len(data) < blockHeader:
		return block{}, errors.New("it was cut short")
	case string(data[:8]) != blockMagic || le.Uint32(data[60:]) != checksum(data[:60]):
		return block{}, errors.New("no block begins here")
	case int(le.Uint32(data[20:])) != dim:
		return block{}, fmt.Errorf("its vectors have %d numbers and not %d", le.Uint32(data[20:]), dim)
	}
	count, termBytes := int(le.Uint32(data[16:])), le.Uint64(data[24:])
	if count > maxBlock || termBytes > maxTerms {
		return block{}, fmt.Errorf("a block of %d chunks with %d bytes of terms", count, termBytes)
	}
	l := layoutOf(count, dim, int64(termBytes))
	if l.end > int64(len(data)) {
		return block{}, errors.New("it was cut short")
	}
	b := block{
		first:   Ref{le.Uint32(data[8:]), le.Uint32(data[12:])},
		made:    time.Unix(int64(le.Uint64(data[32:])), 0),
		count:   count,
		entries: data[l.entries : l.entries+int64(count)*entrySize],
		vectors: data[l.vectors : l.vectors+int64(count*dim*2)],
		terms:   data[l.terms : l.terms+int64(termBytes)],
		bytes:   l.end,
	}
	if le.Uint32(data[56:]) != checksum(b.entries) {
		return block{}, errors.New("the keys of a block are damaged")
	}
	end := uint32(0)
	for i := range count {
		begin := end
		if end = b.termsEnd(i); end < begin || uint64(end) > termBytes {
			return block{}, errors.New("the terms of a block overlap")
		}
	}
	return b, nil
}

func (b *block) entry(i int) []byte { return b.entries[i*entrySize:][:entrySize] }
func (b *block) key(i int) Key      { return Key(b.entry(i)[:16]) }

func (b *block) termsEnd(i int) uint32 { return binary.LittleEndian.Uint32(b.entry(i)[16:]) }

func (b *block) vector(i, dim int) []byte { return b.vectors[i*dim*2:][:dim*2] }

func (b *block) termsOf(i int) []byte {
	begin := uint32(0)
	if i > 0 {
		begin = b.termsEnd(i - 1)
	}
	end := b.termsEnd(i)
	return b.terms[begin:end:end]
}

// sound reports whether a chunk's record has its checksums.
func (b *block) sound(i, dim int) bool {
	e := b.entry(i)
	key, le := e[:16], binary.LittleEndian
	return le.Uint32(e[20:]) == checksum(key, b.vector(i, dim)) && le.Uint32(e[24:]) == checksum(key, b.termsOf(i))
}

// chunk copies a record.
func (b *block) chunk(i, dim int) Chunk {
	c := Chunk{Key: b.key(i), Vector: make([]uint16, dim), Terms: slices.Clone(b.termsOf(i))}
	for j, v := 0, b.vector(i, dim); j < dim; j++ {
		c.Vector[j] = binary.LittleEndian.Uint16(v[2*j:])
	}
	return c
}

// findBlocks looks for blocks where no metadata say where they are: one behind
// the other, and, after damage, at every place where one could begin.
func findBlocks(data []byte, segment uint32, dim int) []blockPlace {
	var places []blockPlace
	for at := int64(0); at+blockHeader <= int64(len(data)); {
		b, err := parseBlock(data[at:], dim)
		if err != nil || b.first.Segment != segment {
			at += alignment
			continue
		}
		places = append(places, blockPlace{first: b.first, count: b.count, offset: at, bytes: b.bytes})
		at += b.bytes
	}
	return places
}

const segmentSuffix = ".seg"

func segmentName(number uint32) string { return fmt.Sprintf("%08x%s", number, segmentSuffix) }

// segmentNumbers lists the segments in a folder.
func segmentNumbers(dir string) ([]uint32, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []uint32
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), segmentSuffix); ok && len(name) == 8 {
			if n, err := strconv.ParseUint(name, 16, 32); err == nil {
				numbers = append(numbers, uint32(n))
			}
		}
	}
	return numbers, nil
}

func (x *Index) segmentPath(number uint32) string { return filepath.Join(x.dir, segmentName(number)) }
