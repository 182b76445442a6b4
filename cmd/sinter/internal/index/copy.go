package index

import (
	"context"
	"errors"
	"os"
	"time"
)

// readPatience is how long a reader waits for a writer. A commit takes a few
// milliseconds, or as long as a busy disk needs to sync it.
const readPatience = 200 * time.Millisecond

// copyPattern names copies, which are there for milliseconds.
const copyPattern = "copy-*.db"

// readCopy calls f with a copy of index.db, beside a writer that has it locked.
//
// bbolt writes a commit into pages that the commit before does not use, and
// names them in a meta page last. So a copy holds that commit whole, unless the
// next but one began while it was made; then its pages do not fit together,
// which checkPages sees, or their values have wrong checksums.
func (x *Index) readCopy(ctx context.Context, f func(*Reader) error) error {
	const attempts = 5
	var err error
	for range attempts {
		var data []byte
		if data, err = os.ReadFile(x.path(dbName)); err != nil {
			return err
		}
		if err = checkPages(data); err == nil {
			return x.readBytes(data, f)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(readPatience / attempts)
	}
	return errors.Join(errBusy, err)
}

// readBytes reads a database that is in memory: from a file, as bbolt can do no
// other.
func (x *Index) readBytes(data []byte, f func(*Reader) error) error {
	file, err := os.CreateTemp(x.dir, copyPattern)
	if err != nil {
		return err
	}
	name := file.Name()
	defer os.Remove(name)
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	err = view(name, func(t *tx) error { return f(&Reader{index: x, tx: t}) })
	var damage *DamageError
	if errors.As(err, &damage) && damage.File == name {
		return errBusy
	}
	return err
}
