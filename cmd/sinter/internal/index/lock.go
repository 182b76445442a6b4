package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sinterml/sinter/internal/filelock"
)

// patience is how long a lock is waited for. Locks are held for milliseconds,
// or for as long as a disk takes to sync a few megabytes.
const patience = 30 * time.Second

// errBusy says that a lock was held for as long as one would wait.
var errBusy = errors.New("held by another process")

// acquire takes the lock that a file stands for: alone, or with others who do
// not want it alone. It ends with its process. Who waits longer than patience
// gets errBusy.
func acquire(ctx context.Context, name string, alone bool, patience time.Duration) (release func(), err error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := waitFor(ctx, f, alone, patience); err != nil {
			_ = f.Close()
			return nil, err
		}
		// A lock on a file that has lost its name binds nobody: Clear takes it.
		held, err := f.Stat()
		if err == nil {
			var named os.FileInfo
			if named, err = os.Stat(name); err == nil && os.SameFile(held, named) {
				return func() { _ = filelock.Close(f) }, nil
			}
		}
		_ = filelock.Close(f)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
}

// waitFor locks an open file.
func waitFor(ctx context.Context, f *os.File, alone bool, patience time.Duration) error {
	const least, most = time.Millisecond, 16 * time.Millisecond
	start, pause := time.Now(), least
	for {
		err := filelock.Try(f, alone)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, filelock.ErrLocked):
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(start) > patience:
			return fmt.Errorf("%s: %w for more than %v", f.Name(), errBusy, patience)
		}
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}
