package sinter

import (
	"errors"
	"runtime"
	"time"
)

// makeRoom has a device do what takes memory: make a buffer, or begin a run.
// Results that nobody has any more are freed by the garbage collector, which does
// not see how full a device is: where room is lacking it is called, and its
// cleanups are given a moment.
func makeRoom[T any](make func() (T, error)) (T, error) {
	b, err := make()
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 4 {
		var full *OutOfMemoryError
		if !errors.As(err, &full) || full.Allocated == 0 {
			break
		}
		runtime.GC()
		time.Sleep(wait)
		b, err = make()
	}
	return b, err
}
