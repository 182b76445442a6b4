package main

import (
	"errors"
	"io"

	"golang.org/x/sys/windows"
)

// closedPipe reports whether err is of writing to a reader that has gone.
func closedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, io.ErrClosedPipe)
}
