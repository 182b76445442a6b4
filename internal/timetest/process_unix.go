//go:build unix

package timetest

import (
	"syscall"
	"time"
)

// processTime is how long processors have been busy with this process; 0 if that
// is not known.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
