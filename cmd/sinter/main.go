// Command sinter runs machine learning models on this machine: it searches
// text by meaning, embeds it, and shows how programs are compiled and how fast
// they are.
package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// grace is how long an interrupted command may take to end.
const grace = 900 * time.Millisecond

// saving is locked for reading by what is kept when it is interrupted, and must
// not be cut off then.
var saving sync.RWMutex

func main() {
	ignoreClosedPipe()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back: the second ends a
	// program that does not get to its end. So does the clock, as a read from a
	// pipe that nobody writes to has no end; what is kept survives a kill.
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(grace, func() {
			saving.Lock()
			os.Exit(statusInterrupted)
		})
	})
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	os.Exit(status)
}
