// Package timetest holds functions to the time that they may take, on machines
// that are busy with other things.
package timetest

import (
	"math"
	"testing"
	"time"
)

// tries is how often a function may be interrupted by others before its time is
// held to be its own.
const tries = 3

// Within calls f, and fails the test if that takes longer than limit three times
// in a row; what names f there. So f may be called again, and checks of its results
// belong behind Within. Under the race detector it may take ten times as long, as
// most of its time is the detector's.
func Within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	within(t, limit, what, func() time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	})
}

// BusyWithin is Within for what waits for nothing: it may take as long as others
// keep the processors from it.
func BusyWithin(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	within(t, limit, what, func() time.Duration {
		start, busy := time.Now(), processTime()
		f()
		took := time.Since(start)
		if busy > 0 { // else this system does not say
			took = min(took, processTime()-busy)
		}
		return took
	})
}

func within(t testing.TB, limit time.Duration, what string, f func() time.Duration) {
	t.Helper()
	if underRace {
		limit *= 10
	}
	var took time.Duration
	for range tries {
		if took = f(); took <= limit {
			return
		}
	}
	t.Errorf("%s took %v, which is more than %v, %d times", what, took, limit, tries)
}

// Best calls f up to so many times, and fails the test if none of them takes limit
// or less: for times so short that others interrupt some calls. Under the race
// detector they may take ten times as long.
func Best(t testing.TB, limit time.Duration, times int, what string, f func()) {
	t.Helper()
	if underRace {
		limit *= 10
	}
	best := time.Duration(math.MaxInt64)
	for range times {
		start := time.Now()
		f()
		if best = min(best, time.Since(start)); best <= limit {
			return
		}
	}
	t.Errorf("%s took %v at best, which is more than %v, %d times", what, best, limit, times)
}
