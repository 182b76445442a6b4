//go:build !js && !wasip1

package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// tx is a transaction. What it returns is valid until it ends.
type tx struct {
	bolt *bbolt.Tx
	// damaged counts the values left out because their checksum was wrong.
	damaged int
}

// boltOptions fit transactions that open the file, each for itself. Our own
// lock is held already, so bbolt's is free: but for a while, on systems where a
// process that was killed keeps its files open until all its threads are gone.
func boltOptions() *bbolt.Options {
	return &bbolt.Options{Timeout: patience, NoStatistics: true}
}

// view calls f with a transaction that sees the last commit.
func view(name string, f func(*tx) error) error {
	if err := checkFile(name); err != nil {
		return err
	}
	o := boltOptions()
	o.ReadOnly = true
	return transact(name, o, func(db *bbolt.DB) error {
		return db.View(func(t *bbolt.Tx) error { return withTables(name, t, f) })
	})
}

// update calls f with a transaction that is committed, and synced, if f returns
// nil. The file has passed checkFile since anyone last wrote it.
func update(name string, f func(*tx) error) error {
	return transact(name, boltOptions(), func(db *bbolt.DB) error {
		return db.Update(func(t *bbolt.Tx) error { return withTables(name, t, f) })
	})
}

func withTables(name string, t *bbolt.Tx, f func(*tx) error) error {
	for _, table := range tables {
		if t.Bucket([]byte(table)) == nil {
			return &DamageError{name, "it has no table " + table}
		}
	}
	return f(&tx{bolt: t})
}

// createDB makes a new database that f fills.
func createDB(name string, f func(*tx) error) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return transact(name, boltOptions(), func(db *bbolt.DB) error {
		return db.Update(func(t *bbolt.Tx) error {
			for _, table := range tables {
				if _, err := t.CreateBucket([]byte(table)); err != nil {
					return err
				}
			}
			return f(&tx{bolt: t})
		})
	})
}

// transact opens a database, for f alone. After a panic it is not closed but
// left, for its locks may be held; its file is closed, as it holds one too.
func transact(name string, o *bbolt.Options, f func(*bbolt.DB) error) error {
	var file *os.File
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	finished := false
	err := guard(name, func() error {
		db, err := bbolt.Open(name, 0o600, o)
		if err != nil {
			finished = true
			return boltError(name, err)
		}
		err = f(db)
		finished = true
		return errors.Join(err, db.Close())
	})
	if !finished && file != nil {
		_ = file.Close()
	}
	return err
}

// boltError tells damage from what else may keep a file from being opened.
func boltError(name string, err error) error {
	for _, damage := range []error{bolterrors.ErrInvalid, bolterrors.ErrVersionMismatch, bolterrors.ErrChecksum} {
		if errors.Is(err, damage) {
			return &DamageError{name, err.Error()}
		}
	}
	var number syscall.Errno
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("%s: %w for more than %v", name, errBusy, patience)
	}
	if errors.As(err, &number) {
		return err // the system's: it names the file
	}
	return fmt.Errorf("%s: %w", name, err)
}

// checkFile looks for damage in the pages of a database.
func checkFile(name string) error {
	m, err := mapFile(name, -1)
	if err != nil {
		return err
	}
	defer m.close()
	return guard(name, func() error {
		if err := checkPages(m.data); err != nil {
			return &DamageError{name, err.Error()}
		}
		return nil
	})
}

// get looks up a value. One whose checksum is wrong is not there.
func (t *tx) get(table string, key []byte) ([]byte, bool) {
	stored := t.bolt.Bucket([]byte(table)).Get(key)
	if stored == nil {
		return nil, false
	}
	value, ok := openValue(key, stored)
	if !ok {
		t.damaged++
	}
	return value, ok
}

func (t *tx) put(table string, key, value []byte) error {
	return t.bolt.Bucket([]byte(table)).Put(key, sealValue(key, value))
}

func (t *tx) remove(table string, key []byte) error {
	return t.bolt.Bucket([]byte(table)).Delete(key)
}

// each goes over a table in the order of its keys. f may not change the table.
func (t *tx) each(table string, f func(key, value []byte) error) error {
	return t.bolt.Bucket([]byte(table)).ForEach(func(key, stored []byte) error {
		value, ok := openValue(key, stored)
		if !ok {
			t.damaged++
			return nil
		}
		return f(key, value)
	})
}
