package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Batch is what one Commit keeps.
type Batch struct {
	Chunks   []Chunk
	Contents []Content
	Files    []FileAt
	Roots    []string // absolute paths that were searched
}

// Content is the text of a file, by its key, as passages.
type Content struct {
	Key    Key
	Pieces []Piece // with Chunk set; each chunk is in this batch or an earlier one
}

// FileAt is a file with its absolute path.
type FileAt struct {
	Path string
	File
}

// Commit keeps a batch, as a whole or not at all. What is there already stays:
// of two writers the first is right about a chunk, and both about the rest.
// Contents whose chunks are not there, because another process has pruned them
// meanwhile, are left out and returned.
func (x *Index) Commit(ctx context.Context, b Batch) (lost []Key, err error) {
	if x.space.Dim == 0 {
		return nil, errors.New("index: nobody said how many numbers a vector has")
	}
	for _, c := range b.Chunks {
		if len(c.Vector) != x.space.Dim {
			return nil, fmt.Errorf("index: a vector of %d numbers among those of %d", len(c.Vector), x.space.Dim)
		}
	}
	err = x.update(ctx, func(t *tx) error {
		lost = nil
		w := &writer{index: x, tx: t, now: x.now()}
		if err := w.chunks(b.Chunks); err != nil {
			return err
		}
		for _, c := range b.Contents {
			ok, err := w.content(c)
			if err != nil {
				return err
			}
			if !ok {
				lost = append(lost, c.Key)
			}
		}
		for _, f := range b.Files {
			if err := w.file(f); err != nil {
				return err
			}
		}
		for _, r := range b.Roots {
			if err := t.put(tableRoots, []byte(r), encodeTime(w.now)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return lost, nil
}

// writer adds to an index within a transaction.
type writer struct {
	index *Index
	tx    *tx
	now   time.Time
}

// chunks appends those that are new.
func (w *writer) chunks(chunks []Chunk) error {
	seen := make(map[Key]bool, len(chunks))
	var fresh []Chunk
	termBytes := 0
	flush := func() error {
		_, err := w.append(fresh)
		fresh, termBytes = nil, 0
		return err
	}
	for _, c := range chunks {
		if len(c.Terms) > maxTerms {
			return fmt.Errorf("%d bytes of terms are too many for a passage", len(c.Terms))
		}
		if seen[c.Key] {
			continue
		}
		seen[c.Key] = true
		if _, there := w.tx.get(tableChunks, c.Key[:]); there && !c.Replace {
			continue
		}
		if len(fresh) == maxBlock || termBytes+len(c.Terms) > maxTerms {
			if err := flush(); err != nil {
				return err
			}
		}
		fresh = append(fresh, c)
		termBytes += len(c.Terms)
	}
	return flush()
}

// append writes chunks as a block, syncs it, and names it.
func (w *writer) append(chunks []Chunk) (blockPlace, error) {
	if len(chunks) == 0 {
		return blockPlace{}, nil
	}
	p, err := w.next()
	if err != nil {
		return p, err
	}
	data := encodeBlock(p.first, w.index.space.Dim, w.now, chunks)
	p.count, p.bytes = len(chunks), int64(len(data))
	if err := w.write(p, data); err != nil {
		return p, err
	}
	if err := w.tx.put(tableBlocks, p.key(), p.value()); err != nil {
		return p, err
	}
	for i, c := range chunks {
		r := Ref{p.first.Segment, p.first.Slot + uint32(i)}
		if err := w.tx.put(tableChunks, c.Key[:], encodeRef(r)); err != nil {
			return p, err
		}
	}
	return p, nil
}

// write puts a block into its file. What lies behind the last block that was
// committed is the rest of a commit that did not end, and is cut off first.
func (w *writer) write(p blockPlace, data []byte) (err error) {
	name := w.index.segmentPath(p.first.Segment)
	f, err := w.index.disk.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(p.offset); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, p.offset); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if p.offset > 0 {
		return nil
	}
	return w.index.disk.SyncDir(filepath.Dir(name))
}

var keyCurrent = []byte("current")

// next is where the next block goes.
func (w *writer) next() (blockPlace, error) {
	number := uint32(0)
	if value, ok := w.tx.get(tableInfo, keyCurrent); ok && len(value) == 4 {
		number = binary.BigEndian.Uint32(value)
	}
	p := blockPlace{first: Ref{Segment: number}}
	places, err := w.tx.places()
	if err != nil {
		return p, err
	}
	top := number
	for _, q := range places {
		top = max(top, q.first.Segment)
		if q.first.Segment == number && q.end() > p.offset {
			p.offset, p.first.Slot = q.end(), q.first.Slot+uint32(q.count)
		}
	}
	if number > 0 && p.offset < maxSegment {
		return p, nil
	}
	return w.newSegment(top)
}

// newSegment begins a segment with a number that no file has: that of one which
// was pruned may still be open elsewhere.
func (w *writer) newSegment(top uint32) (blockPlace, error) {
	numbers, err := segmentNumbers(w.index.dir)
	if err != nil {
		return blockPlace{}, err
	}
	for _, n := range numbers {
		top = max(top, n)
	}
	if top == 1<<32-1 {
		return blockPlace{}, errors.New("no number is left for a segment: use 'sinter index prune --all'")
	}
	number := top + 1
	return blockPlace{first: Ref{Segment: number}}, w.tx.put(tableInfo, keyCurrent, binary.BigEndian.AppendUint32(nil, number))
}

// content resolves the chunks of a content. It reports false if one is missing.
func (w *writer) content(c Content) (bool, error) {
	pieces := make([]Piece, len(c.Pieces))
	for i, p := range c.Pieces {
		value, ok := w.tx.get(tableChunks, p.Chunk[:])
		if ok {
			p.Ref, ok = decodeRef(value)
		}
		if !ok {
			return false, nil
		}
		pieces[i] = p
	}
	return true, w.tx.put(tableContents, c.Key[:], encodeContent(pieces))
}

// file keeps what is at a path, and when the content that was there before was
// there last.
func (w *writer) file(f FileAt) error {
	if value, ok := w.tx.get(tableFiles, []byte(f.Path)); ok {
		if old, ok := decodeFile(value); ok && old.Content != f.Content {
			if err := w.tx.put(tableReleased, old.Content[:], encodeTime(w.now)); err != nil {
				return err
			}
		}
	}
	if _, ok := w.tx.get(tableReleased, f.Content[:]); ok {
		if err := w.tx.remove(tableReleased, f.Content[:]); err != nil {
			return err
		}
	}
	return w.tx.put(tableFiles, []byte(f.Path), encodeFile(f.File))
}

// update changes the metadata. f may be called twice, for what it did before
// damage was found is gone.
func (x *Index) update(ctx context.Context, f func(*tx) error) error {
	release, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := x.mend(); err != nil {
		return err
	}
	err = update(x.path(dbName), f)
	var damage *DamageError
	if !x.ofDB(err) || !errors.As(err, &damage) {
		return err
	}
	if err := x.rebuild(damage); err != nil {
		return err
	}
	return update(x.path(dbName), f)
}
