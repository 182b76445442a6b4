//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreClosedPipe makes writing to a reader that has gone an error, which run
// takes for the end, where it would end the process by a signal.
func ignoreClosedPipe() { signal.Ignore(syscall.SIGPIPE) }
