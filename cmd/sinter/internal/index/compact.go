package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// compact moves the chunks of a segment that are needed to the end of another,
// and deletes the file.
func (x *Index) compact(ctx context.Context, number uint32) error {
	release, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := x.mend(); err != nil {
		return err
	}
	err = update(x.path(dbName), func(t *tx) error {
		m := &move{writer: writer{index: x, tx: t, now: x.now()}, number: number, to: map[Ref]Ref{}}
		return m.run()
	})
	if err == nil {
		// Where the file is open elsewhere it may stay, until another Prune.
		_ = os.Remove(x.segmentPath(number))
	}
	return err
}

// move empties a segment.
type move struct {
	writer
	number uint32
	to     map[Ref]Ref // where chunks went
}

func (m *move) run() error {
	places, err := m.tx.places()
	if err != nil {
		return err
	}
	var own []blockPlace
	top := uint32(0)
	for _, p := range places {
		top = max(top, p.first.Segment)
		if p.first.Segment == m.number {
			own = append(own, p)
		}
	}
	if p, err := m.next(); err != nil {
		return err
	} else if p.first.Segment == m.number {
		if _, err := m.newSegment(top); err != nil {
			return err
		}
	}
	if err := m.copy(own); err != nil {
		return err
	}
	for _, p := range own {
		if err := m.tx.remove(tableBlocks, p.key()); err != nil {
			return err
		}
	}
	return m.contents()
}

// copy appends the chunks that the tables name. One that is damaged is dropped.
// The others get no younger: those that a content has, of which the age says
// nothing, count as old as the oldest, the others as the youngest of them.
func (m *move) copy(own []blockPlace) error {
	segments := m.index.openSegments(own)
	defer segments.Close()
	needed, err := m.needed()
	if err != nil {
		return err
	}
	var dropped []Key
	var live, loose []Ref
	err = m.tx.each(tableChunks, func(key, value []byte) error {
		r, ok := decodeRef(value)
		if !ok || r.Segment != m.number {
			return nil
		}
		_, b, i := segments.find(r)
		switch {
		case b == nil || b.key(i) != Key(key):
			dropped = append(dropped, Key(key))
		case needed[r]:
			live = append(live, r)
		default:
			loose = append(loose, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	damaged, err := m.copyChunks(segments, live, time.Time.Before)
	if err == nil {
		dropped = append(dropped, damaged...)
		damaged, err = m.copyChunks(segments, loose, time.Time.After)
	}
	for _, k := range append(dropped, damaged...) {
		err = errors.Join(err, m.tx.remove(tableChunks, k[:]))
	}
	return err
}

// needed are the chunks of the segment that a content has.
func (m *move) needed() (map[Ref]bool, error) {
	needed := map[Ref]bool{}
	err := m.tx.each(tableContents, func(_, value []byte) error {
		pieces, _ := decodeContent(value)
		for _, p := range pieces {
			if p.Ref.Segment == m.number {
				needed[p.Ref] = true
			}
		}
		return nil
	})
	return needed, err
}

// copyChunks appends chunks, in blocks with the first of their times by an order,
// and returns those that are damaged.
func (m *move) copyChunks(segments *Segments, refs []Ref, before func(a, b time.Time) bool) (damaged []Key, err error) {
	var chunks []Chunk
	var from []Ref
	flush := func() error {
		p, err := m.append(chunks)
		for i, r := range from {
			m.to[r] = Ref{p.first.Segment, p.first.Slot + uint32(i)}
		}
		chunks, from = nil, nil
		return err
	}
	err = segments.Guard(func() error {
		for _, r := range refs {
			_, b, i := segments.find(r)
			if !b.sound(i, segments.dim) {
				damaged = append(damaged, b.key(i))
				continue
			}
			if len(chunks) == 0 || before(b.made, m.now) {
				m.now = b.made
			}
			chunks, from = append(chunks, b.chunk(i, segments.dim)), append(from, r)
			if len(chunks) == maxBlock {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return damaged, errors.Join(err, flush())
}

// contents are told where their chunks went. One that lost a chunk goes too:
// its file is split again when it is searched.
func (m *move) contents() error {
	changed := map[Key][]Piece{}
	err := m.tx.each(tableContents, func(key, value []byte) error {
		pieces, ok := decodeContent(value)
		touched := !ok
		for i, p := range pieces {
			if p.Ref.Segment != m.number {
				continue
			}
			touched = true
			to, moved := m.to[p.Ref]
			ok = ok && moved
			pieces[i].Ref = to
		}
		switch {
		case !ok:
			changed[Key(key)] = nil
		case touched:
			changed[Key(key)] = pieces
		}
		return nil
	})
	for k, pieces := range changed {
		if pieces == nil {
			err = errors.Join(err, m.tx.remove(tableContents, k[:]))
		} else {
			err = errors.Join(err, m.tx.put(tableContents, k[:], encodeContent(pieces)))
		}
	}
	return err
}

// shrink writes index.db anew, as bbolt keeps free pages for ever, and deletes
// what is left of damage.
func (x *Index) shrink(ctx context.Context) error {
	release, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := x.removeOrphans(); err != nil {
		return err
	}
	fresh := x.path(freshName)
	err = view(x.path(dbName), func(old *tx) error {
		return createDB(fresh, func(t *tx) error {
			for _, table := range tables {
				if err := old.each(table, func(key, value []byte) error { return t.put(table, key, value) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return x.replaceDB(fresh)
}

// removeOrphans deletes segments that nothing names, those that could not be
// deleted when they were emptied, and what processes that were killed left.
func (x *Index) removeOrphans() error {
	for _, pattern := range []string{asideName, copyPattern, spaceName + ".new-*"} {
		names, err := filepath.Glob(filepath.Join(globQuote(x.dir), pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && x.now().Sub(info.ModTime()) > patience {
				_ = os.Remove(name)
			}
		}
	}
	numbers, err := segmentNumbers(x.dir)
	if err != nil {
		return err
	}
	named := map[uint32]bool{}
	err = view(x.path(dbName), func(t *tx) error {
		places, err := t.places()
		for _, p := range places {
			named[p.first.Segment] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if !named[n] {
			_ = os.Remove(x.segmentPath(n))
		}
	}
	return nil
}
