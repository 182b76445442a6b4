package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// ofDB reports whether err says that index.db is damaged.
func (x *Index) ofDB(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage) && damage.File == x.path(dbName)
}

// repair looks at index.db again, alone: another process may have mended it.
func (x *Index) repair(ctx context.Context) error {
	release, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := x.mend(); err != nil {
		return err
	}
	// What a reader stumbled over may be out of checkFile's sight.
	err = view(x.path(dbName), func(t *tx) error { return t.readAll() })
	var damage *DamageError
	if x.ofDB(err) && errors.As(err, &damage) {
		return x.rebuild(damage)
	}
	return err
}

// readAll visits every value.
func (t *tx) readAll() error {
	for _, table := range tables {
		if err := t.each(table, func(_, _ []byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// mend makes index.db anew where it is missing or damaged. The lock is held
// alone.
func (x *Index) mend() error {
	name := x.path(dbName)
	err := checkFile(name)
	var damage *DamageError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		numbers, err := segmentNumbers(x.dir)
		if err != nil {
			return err
		}
		if len(numbers) == 0 {
			return x.rebuild(nil)
		}
		return x.rebuild(&DamageError{name, "it is missing"})
	case errors.As(err, &damage):
		return x.rebuild(damage)
	}
	return err
}

// rebuild sets a damaged index.db aside and makes one that names the sound
// chunks of all segments. Which files hold them is lost: files are read and
// split again, but what they hold need not be embedded.
func (x *Index) rebuild(damage *DamageError) error {
	name := x.path(dbName)
	if err := os.Rename(name, x.path(asideName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	numbers, err := segmentNumbers(x.dir)
	if err != nil {
		return err
	}
	slices.Sort(numbers)
	count := 0
	fresh := x.path(freshName)
	err = createDB(fresh, func(t *tx) error {
		top := uint32(0)
		for _, n := range numbers {
			top = max(top, n)
			found, err := x.recover(t, n)
			if err != nil {
				return err
			}
			count += found
		}
		// Old segments get no more blocks: their last may be damaged, and open
		// elsewhere.
		return t.put(tableInfo, keyCurrent, binary.BigEndian.AppendUint32(nil, top+1))
	})
	if err == nil {
		err = x.replaceDB(fresh)
	}
	if damage != nil && err == nil {
		x.warn(fmt.Sprintf("the index had to be mended: %v; %d vectors were found in its segments, and files are read again", damage, count))
	}
	return err
}

// replaceDB puts a database in place as a whole.
func (x *Index) replaceDB(fresh string) error {
	if err := os.Rename(fresh, x.path(dbName)); err != nil {
		return err
	}
	return x.disk.SyncDir(x.dir)
}

// recover names the sound chunks of a segment.
func (x *Index) recover(t *tx, number uint32) (count int, err error) {
	m, err := mapFile(x.segmentPath(number), -1)
	if err != nil {
		return 0, err
	}
	defer m.close()
	var places []blockPlace
	var found []Chunk // keys alone
	var refs []Ref
	err = guard(x.segmentPath(number), func() error {
		for _, p := range findBlocks(m.data, number, x.space.Dim) {
			b, err := parseBlock(m.data[p.offset:p.end()], x.space.Dim)
			if err != nil {
				continue
			}
			places = append(places, p)
			for i := range b.count {
				if b.sound(i, x.space.Dim) {
					found = append(found, Chunk{Key: b.key(i)})
					refs = append(refs, Ref{number, p.first.Slot + uint32(i)})
				}
			}
		}
		return nil
	})
	var damage *DamageError
	if errors.As(err, &damage) { // what was read so far counts
		err = nil
	}
	for _, p := range places {
		err = errors.Join(err, t.put(tableBlocks, p.key(), p.value()))
	}
	for i, c := range found {
		err = errors.Join(err, t.put(tableChunks, c.Key[:], encodeRef(refs[i])))
	}
	return len(found), err
}
