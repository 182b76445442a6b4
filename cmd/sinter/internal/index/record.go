package index

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// The tables of index.db. Every value ends with a checksum of key and value,
// as bbolt has none for them.
const (
	tableInfo     = "info"     // "current": the segment to append to
	tableBlocks   = "blocks"   // segment, first slot -> offset, bytes, number of chunks
	tableChunks   = "chunks"   // key of a chunk -> Ref
	tableContents = "contents" // key of a content -> pieces
	tableFiles    = "files"    // absolute path -> File
	tableReleased = "released" // key of a content -> when a file had it last
	tableRoots    = "roots"    // absolute path that was searched -> when it was last
)

var tables = []string{tableInfo, tableBlocks, tableChunks, tableContents, tableFiles, tableReleased, tableRoots}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is CRC-32C of parts one after another.
func checksum(parts ...[]byte) uint32 {
	var sum uint32
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli, p)
	}
	return sum
}

const sumSize = 4

func sealValue(key, value []byte) []byte {
	sealed := make([]byte, 0, len(value)+sumSize)
	return binary.LittleEndian.AppendUint32(append(sealed, value...), checksum(key, value))
}

func openValue(key, sealed []byte) ([]byte, bool) {
	n := len(sealed) - sumSize
	if n < 0 {
		return nil, false
	}
	return sealed[:n], binary.LittleEndian.Uint32(sealed[n:]) == checksum(key, sealed[:n])
}

// Ref is where a chunk lies: until a Prune, which may move it. What was read
// with it from one Reader belongs together.
type Ref struct{ Segment, Slot uint32 }

// Piece is a passage of a content.
type Piece struct {
	Line, End int // first and last line, from 1
	// The lines from Line to End, joined by \n, hold the passage from byte Skip
	// on, Size bytes of it.
	Skip, Size int
	Chunk      Key // set for Commit
	Ref        Ref // set by Content
}

// fields reads what is stored as numbers of variable length. Once something is
// wrong, everything is.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() uint64 {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

func (f *fields) int() int {
	n := f.number()
	if n > 1<<40 {
		f.bad = true
		return 0
	}
	return int(n)
}

func appendRef(b []byte, r Ref) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.Segment)), uint64(r.Slot))
}

func (f *fields) ref() Ref {
	return Ref{uint32(f.number()), uint32(f.number())}
}

func encodeContent(pieces []Piece) []byte {
	b := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		for _, n := range []int{p.Line, p.End - p.Line, p.Skip, p.Size} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = appendRef(b, p.Ref)
	}
	return b
}

func decodeContent(value []byte) ([]Piece, bool) {
	f := &fields{rest: value}
	n := f.int()
	if n > len(value) { // a piece has more bytes than one
		return nil, false
	}
	pieces := make([]Piece, n)
	for i := range pieces {
		p := &pieces[i]
		p.Line = f.int()
		p.End = p.Line + f.int()
		p.Skip, p.Size = f.int(), f.int()
		p.Ref = f.ref()
	}
	return pieces, !f.bad && len(f.rest) == 0
}

func encodeFile(file File) []byte {
	var b []byte
	for _, n := range []uint64{uint64(file.Size), uint64(file.MTime), uint64(file.CTime), file.Device, file.Inode, uint64(file.Read)} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, file.Content[:]...)
}

func decodeFile(value []byte) (File, bool) {
	f := &fields{rest: value}
	file := File{Stat: Stat{int64(f.number()), int64(f.number()), int64(f.number()), f.number(), f.number()}, Read: int64(f.number())}
	if f.bad || len(f.rest) != len(file.Content) {
		return File{}, false
	}
	copy(file.Content[:], f.rest)
	return file, true
}

func encodeRef(r Ref) []byte { return appendRef(nil, r) }

func decodeRef(value []byte) (Ref, bool) {
	f := &fields{rest: value}
	r := f.ref()
	return r, !f.bad
}

func encodeTime(at time.Time) []byte { return binary.AppendUvarint(nil, uint64(at.Unix())) }

func decodeTime(value []byte) time.Time {
	f := &fields{rest: value}
	return time.Unix(int64(f.number()), 0)
}

// blockPlace is where a block lies.
type blockPlace struct {
	first         Ref // its first chunk
	count         int
	offset, bytes int64
}

func (p blockPlace) end() int64 { return p.offset + p.bytes }

// key sorts by segment, then slot.
func (p blockPlace) key() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, p.first.Segment), p.first.Slot)
}

func (p blockPlace) value() []byte {
	var b []byte
	for _, n := range []int64{int64(p.count), p.offset, p.bytes} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func decodePlace(key, value []byte) (blockPlace, bool) {
	f := &fields{rest: value}
	p := blockPlace{count: f.int(), offset: int64(f.int()), bytes: int64(f.int())}
	if f.bad || len(key) != 8 {
		return p, false
	}
	p.first = Ref{binary.BigEndian.Uint32(key), binary.BigEndian.Uint32(key[4:])}
	return p, true
}
