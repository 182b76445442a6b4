//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// openFolder opens what stands for a folder: here it is a file like others.
func openFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Try locks an open file, or says that another has it: ErrLocked.
func Try(f *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch err {
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			return ErrLocked
		}
		return err
	}
}

func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
