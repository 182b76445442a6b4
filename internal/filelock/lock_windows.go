package filelock

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// openFolder opens what stands for a folder: a file beside it, as a folder has no
// bytes to lock.
func openFolder(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Clean(dir)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
}

// Try locks an open file, or says that another has it: ErrLocked.
func Try(f *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func unlock(*os.File) {} // children have no part in it
