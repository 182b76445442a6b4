// Package filelock locks files against other processes, and against others who
// have opened them in this one. A lock ends with Close, and by the end of the process.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked is what Try returns while another holds the lock.
var ErrLocked = errors.New("locked")

// Folder locks a folder for who writes to it alone, or says that another has it:
// ErrLocked. Where the system cannot lock it, as some network disks, nobody is
// kept out.
func Folder(dir string) (release func(), err error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("locking a folder: %w", err)
	}
	if err := Try(f, true); errors.Is(err, ErrLocked) {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return func() { _ = Close(f) }, nil
}

// Close gives a lock free and closes its file. Closing alone is not enough: a child that
// another goroutine is about to start has the file, and with it the lock, until it runs a
// program.
func Close(f *os.File) error {
	unlock(f)
	return f.Close()
}
