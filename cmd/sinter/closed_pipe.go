//go:build !windows

package main

import (
	"errors"
	"io"
	"syscall"
)

// closedPipe reports whether err is of writing to a reader that has gone.
func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
