//go:build !unix && !windows

package filelock

import (
	"errors"
	"os"
)

// openFolder opens what stands for a folder.
func openFolder(dir string) (*os.File, error) { return os.Open(dir) }

// Try cannot lock here.
func Try(*os.File, bool) error { return errors.ErrUnsupported }

func unlock(*os.File) {}
