// Package index keeps the vectors of passages from one search to the next.
//
// An index is a folder. Each space, which is a model with a number format, has
// a folder of its own in it, with
//
//	space.json     what the space is, for people and for Spaces
//	lock           held shared by readers, alone by writers, for milliseconds
//	index.db       metadata, in bbolt: which file holds what, where a chunk lies
//	NNNNNNNN.seg   vectors and records of terms, appended in blocks
//
// A chunk is the text of a passage. It is found by a Key made of that text
// alone, so that a file that moved, a branch that was checked out again, or a
// folder reached by another path needs no new vectors. A content is the text of
// a whole file with the passages it was split into; a file is a path with what
// the system says of it (Stat) and the key of its content.
//
// How it is used:
//
//	x, err := index.Open(dir, space, index.Options{})
//	err = x.Read(ctx, func(r *index.Reader) error { // short: writers wait meanwhile
//		file, ok := r.File(path)          // ok && file.Same(stat): nothing to read
//		pieces, ok := r.Content(key)      // passages with the Ref of their chunks
//		ref, ok := r.Chunk(key)
//		segments, err = r.Segments()      // stay valid after Read
//		...
//	})
//	bad, err := segments.Verify(refs)     // records whose checksum is wrong
//	err = segments.Scores(ctx, device, query, refs, cosines)
//	terms := segments.Terms(refs)             // read them within segments.Guard
//	lost, err := x.Commit(ctx, batch)
//
// What is committed stays: blocks are synced before the transaction that names
// them. A process may be killed at any moment. Every record has a checksum, so
// that damage is noticed before it can change a result: damaged records are
// reported as missing, a damaged index.db is set aside and made anew from the
// segments, whose records carry their keys.
package index

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// formatVersion is that of all files of a space. Another version is another
// space, and the old one ends by Prune.
const formatVersion = 1

// Key names a text, or anything that is told apart by its bytes.
type Key [16]byte

// KeyOf hashes parts; where one ends matters. 128 bits of SHA-256: among 2^40
// texts two share a key with a chance of 2^-49.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	var size [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return Key(h.Sum(nil)[:16])
}

// Hash makes a Key of what is written to it.
type Hash struct{ hash.Hash }

// NewHash begins a Hash.
func NewHash() Hash { return Hash{sha256.New()} }

// Key is that of all that was written.
func (h Hash) Key() Key { return Key(h.Sum(nil)[:16]) }

func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Space is what vectors can be compared within.
type Space struct {
	Model string `json:"model"` // for people
	DType string `json:"dtype"`
	Dim   int    `json:"dim"`
	// ID names all that decides which vector, which terms and which passages a
	// text has: weights, configuration, tokenizer, number format, splitter.
	ID Key `json:"-"`
}

// Options of an index. The zero value is right outside tests.
type Options struct {
	// Warn, if set, is told of what was damaged and how it was mended.
	Warn func(message string)
	disk disk
	now  func() time.Time
}

// Index is one space of an index. It may be used by several goroutines, and
// by several processes, at once. Nothing is open between calls.
type Index struct {
	dir   string
	space Space
	disk  disk
	warn  func(string)
	now   func() time.Time
}

// maxDim bounds vectors: the largest models have 8,192 numbers.
const maxDim = 1 << 16

// Open finds a space in the folder of an index, or makes it. With s.Dim 0 a new
// space reads as empty, and takes nothing, until SetDim.
func Open(dir string, s Space, o Options) (*Index, error) {
	id := KeyOf("space", s.ID.String(), s.DType, fmt.Sprint(formatVersion))
	x := &Index{dir: filepath.Join(dir, id.String()), space: s, disk: o.disk, warn: o.Warn, now: o.now}
	if x.disk == nil {
		x.disk = osDisk{}
	}
	if x.warn == nil {
		x.warn = func(string) {}
	}
	if x.now == nil {
		x.now = time.Now
	}
	x.space.Dim = 0
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	old, err := readSpace(x.dir)
	switch {
	case err == nil:
		x.space.Dim = old.Dim
		if err := x.touch(); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		x.warn(fmt.Sprintf("%v: it is written anew", &DamageError{x.path(spaceName), err.Error()}))
	}
	if s.Dim == 0 {
		return x, nil
	}
	return x, x.SetDim(s.Dim)
}

// SetDim says how many numbers vectors have.
func (x *Index) SetDim(n int) error {
	switch {
	case n == x.space.Dim:
		return nil
	case x.space.Dim != 0:
		return fmt.Errorf("index: %s: its vectors have %d numbers and not %d: use 'sinter index prune --all'", x.dir, x.space.Dim, n)
	case n < 1 || n > maxDim:
		return fmt.Errorf("index: vectors of %d numbers: an index holds 1 to %d", n, maxDim)
	}
	x.space.Dim = n
	data, err := json.Marshal(x.space)
	if err == nil {
		err = WriteFile(x.path(spaceName), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// Dir is the folder of the space.
func (x *Index) Dir() string { return x.dir }

// Space is what Open was given.
func (x *Index) Space() Space { return x.space }

const (
	spaceName = "space.json"
	lockName  = "lock"
	dbName    = "index.db"
	// asideName is what a damaged index.db is renamed to.
	asideName = "index.db.damaged"
	// freshName is one that is being made.
	freshName = "index.db.new"
)

// touch notes in the time of space.json, at most once an hour, that the space
// is used.
func (x *Index) touch() error {
	name := x.path(spaceName)
	info, err := os.Stat(name)
	if err != nil || x.now().Sub(info.ModTime()) < time.Hour {
		return err
	}
	return os.Chtimes(name, x.now(), x.now())
}

func readSpace(dir string) (Space, error) {
	var s Space
	data, err := os.ReadFile(filepath.Join(dir, spaceName))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", spaceName, err)
	}
	if s.Dim < 1 || s.Dim > maxDim {
		return s, fmt.Errorf("%s: vectors of %d numbers", spaceName, s.Dim)
	}
	return s, nil
}

// WriteFile puts a small file in place as a whole, for its owner alone.
func WriteFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// lock is held alone by writers.
func (x *Index) lock(ctx context.Context) (func(), error) {
	release, err := acquire(ctx, x.path(lockName), true, patience)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return release, nil
}
