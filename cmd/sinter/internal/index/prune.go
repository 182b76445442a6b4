package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// DefaultKeep is for how long vectors stay that no file needs any more: long
// enough for branches to come and go.
const DefaultKeep = 30 * 24 * time.Hour

// PruneOptions say what to forget.
type PruneOptions struct {
	// Keep is for how long to keep what no file needs, and spaces that nobody
	// searches. 0 keeps nothing.
	Keep time.Duration
	// All forgets everything.
	All bool
	// Warn is that of Options.
	Warn func(message string)
	disk disk
	now  func() time.Time
}

// Pruned says what was forgotten.
type Pruned struct {
	Spaces int   `json:"models"` // whole spaces
	Files  int   `json:"files"`  // that are gone, or of whole spaces
	Chunks int   `json:"chunks"`
	Bytes  int64 `json:"bytes"` // that the folder has less
}

// Prune forgets files that are gone and what nothing needs, in all spaces of an
// index. Searches may run meanwhile; they wait while a segment is copied.
func Prune(ctx context.Context, dir string, o PruneOptions) (Pruned, error) {
	if o.now == nil {
		o.now = time.Now
	}
	var p Pruned
	names, err := spaceNames(dir)
	if err != nil {
		return p, fmt.Errorf("index: %w", err)
	}
	before := folderBytes(dir, names)
	for _, name := range names {
		if err := pruneSpace(ctx, filepath.Join(dir, name), o, &p); err != nil {
			return p, fmt.Errorf("index: %w", err)
		}
	}
	p.Bytes = max(0, before-folderBytes(dir, names))
	return p, nil
}

func pruneSpace(ctx context.Context, dir string, o PruneOptions, p *Pruned) error {
	s, err := readSpace(dir)
	unused := o.now().Sub(lastUsed(dir, err == nil)) > o.Keep
	if o.All || unused && o.Keep > 0 {
		held := Status{Dir: dir}
		if held.read(ctx) == nil { // of a damaged one nobody can tell
			p.Files += held.Files
			p.Chunks += held.Chunks
		}
		p.Spaces++
		return removeSpace(ctx, dir)
	}
	if err != nil {
		if o.Warn != nil {
			o.Warn(fmt.Sprintf("%v: it stays as it is until a search mends it, or for as long as what nobody uses", &DamageError{filepath.Join(dir, spaceName), err.Error()}))
		}
		return nil
	}
	x := &Index{dir: dir, space: s, disk: o.disk, warn: o.Warn, now: o.now}
	if x.disk == nil {
		x.disk = osDisk{}
	}
	if x.warn == nil {
		x.warn = func(string) {}
	}
	files, chunks, err := x.prune(ctx, o.Keep)
	p.Files += files
	p.Chunks += chunks
	return err
}

// lastUsed is when a space was used, which its space.json tells. Of one that has
// none, as a search is just making it or it was damaged, it is when anything was
// written.
func lastUsed(dir string, named bool) time.Time {
	if info, err := os.Stat(filepath.Join(dir, spaceName)); named && err == nil {
		return info.ModTime()
	}
	var last time.Time
	entries, _ := os.ReadDir(dir) // what cannot be read tells nothing
	if info, err := os.Stat(dir); err == nil {
		last = info.ModTime()
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// removeSpace deletes the folder of a space; its lock last.
func removeSpace(ctx context.Context, dir string) error {
	release, err := acquire(ctx, filepath.Join(dir, lockName), true, patience)
	if err != nil {
		return err
	}
	defer release()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// prune forgets, then copies what is left of segments that hold little.
func (x *Index) prune(ctx context.Context, keep time.Duration) (files, chunks int, err error) {
	gone, err := x.gone(ctx, tableFiles)
	var roots []string
	if err == nil {
		roots, err = x.gone(ctx, tableRoots)
	}
	if err != nil {
		return 0, 0, err
	}
	var sparse []uint32
	err = x.update(ctx, func(t *tx) error {
		s := &sweep{index: x, tx: t, now: x.now(), keep: keep}
		for _, r := range roots {
			if err := t.remove(tableRoots, []byte(r)); err != nil {
				return err
			}
		}
		var err error
		sparse, err = s.run(gone)
		files, chunks = len(gone), s.dropped
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	for _, number := range sparse {
		if err := ctx.Err(); err != nil {
			return files, chunks, err
		}
		if err := x.compact(ctx, number); err != nil {
			return files, chunks, err
		}
	}
	return files, chunks, x.shrink(ctx)
}

// gone lists the paths of a table that are no longer there. It looks without a
// lock, as a file system may be slow.
func (x *Index) gone(ctx context.Context, table string) ([]string, error) {
	var paths []string
	err := x.Read(ctx, func(r *Reader) error {
		paths = nil
		if r.tx == nil {
			return nil
		}
		return r.tx.each(table, func(key, _ []byte) error {
			paths = append(paths, string(key))
			return nil
		})
	})
	var gone []string
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// ENOTDIR: a folder above it is a file now.
		if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			gone = append(gone, p)
		}
	}
	return gone, err
}

// sweep removes from the tables what nothing needs.
type sweep struct {
	index   *Index
	tx      *tx
	now     time.Time
	keep    time.Duration
	dropped int // chunks
}

// run returns the segments worth compacting.
func (s *sweep) run(gone []string) ([]uint32, error) {
	if err := s.files(gone); err != nil {
		return nil, err
	}
	live, err := s.contents()
	if err != nil {
		return nil, err
	}
	return s.chunks(live)
}

func (s *sweep) files(gone []string) error {
	for _, path := range gone {
		value, ok := s.tx.get(tableFiles, []byte(path))
		if ok {
			if f, ok := decodeFile(value); ok {
				// Also where another file that had it went before.
				if err := s.tx.put(tableReleased, f.Content[:], encodeTime(s.now)); err != nil {
					return err
				}
			}
		}
		if err := s.tx.remove(tableFiles, []byte(path)); err != nil {
			return err
		}
	}
	return nil
}

// release notes when a content was seen last, unless that is known.
func (s *sweep) release(k Key) error {
	if _, ok := s.tx.get(tableReleased, k[:]); ok {
		return nil
	}
	return s.tx.put(tableReleased, k[:], encodeTime(s.now))
}

// contents drops those that no file has had for a while, and returns the chunks
// of the others.
func (s *sweep) contents() (map[Ref]bool, error) {
	held := map[Key]bool{}
	err := s.tx.each(tableFiles, func(_, value []byte) error {
		if f, ok := decodeFile(value); ok {
			held[f.Content] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	live := map[Ref]bool{}
	var dropped, loose []Key
	err = s.tx.each(tableContents, func(key, value []byte) error {
		k := Key(key)
		if !held[k] {
			since, ok := s.tx.get(tableReleased, key)
			if s.keep <= 0 || ok && s.now.Sub(decodeTime(since)) > s.keep {
				dropped = append(dropped, k)
				return nil
			}
			loose = append(loose, k)
		}
		pieces, _ := decodeContent(value)
		for _, p := range pieces {
			live[p.Ref] = true
		}
		return nil
	})
	for _, k := range dropped {
		err = errors.Join(err, s.tx.remove(tableContents, k[:]))
	}
	for _, k := range loose {
		err = errors.Join(err, s.release(k))
	}
	return live, errors.Join(err, s.released())
}

// released forgets contents that are gone.
func (s *sweep) released() error {
	var dropped []Key
	err := s.tx.each(tableReleased, func(key, _ []byte) error {
		if _, ok := s.tx.get(tableContents, key); !ok {
			dropped = append(dropped, Key(key))
		}
		return nil
	})
	for _, k := range dropped {
		err = errors.Join(err, s.tx.remove(tableReleased, k[:]))
	}
	return err
}

// chunks drops those that no content has, unless they are young: they may
// belong to a file that is being indexed.
func (s *sweep) chunks(live map[Ref]bool) ([]uint32, error) {
	segments, places, err := s.open()
	if err != nil {
		return nil, err
	}
	defer segments.Close()
	var dropped []Key
	left := map[uint32]int{}
	err = s.tx.each(tableChunks, func(key, value []byte) error {
		r, ok := decodeRef(value)
		if ok && !live[r] && s.keep > 0 {
			_, b, _ := segments.find(r)
			ok = b != nil && s.now.Sub(b.made) <= s.keep
		} else if ok {
			ok = live[r]
		}
		if !ok {
			dropped = append(dropped, Key(key))
			return nil
		}
		left[r.Segment]++
		return nil
	})
	for _, k := range dropped {
		err = errors.Join(err, s.tx.remove(tableChunks, k[:]))
	}
	s.dropped = len(dropped)
	return sparseOf(places, left), err
}

func (s *sweep) open() (*Segments, []blockPlace, error) {
	places, err := s.tx.places()
	if err != nil {
		return nil, nil, err
	}
	return s.index.openSegments(places), places, nil
}

// sparseOf lists the segments of which more than a quarter is not needed, and
// those in many small blocks, which searches of one changed file leave behind.
func sparseOf(places []blockPlace, left map[uint32]int) []uint32 {
	const fewChunks = 32 // a block
	slots, blocks := map[uint32]int{}, map[uint32]int{}
	var order []uint32
	for _, p := range places {
		n := p.first.Segment
		if blocks[n] == 0 {
			order = append(order, n)
		}
		blocks[n]++
		slots[n] += p.count
	}
	var sparse []uint32
	for _, n := range order {
		if left[n] < slots[n]*3/4 || blocks[n] > 1 && slots[n] < blocks[n]*fewChunks {
			sparse = append(sparse, n)
		}
	}
	return sparse
}
