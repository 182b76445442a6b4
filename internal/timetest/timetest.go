// Package timetest holds functions to the time that they may take, on machines
// that are busy with other things.
package timetest

import (
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
	if underRace {
		limit *= 10
	}
	var took time.Duration
	for range tries {
		start := time.Now()
		f()
		if took = time.Since(start); took <= limit {
			return
		}
	}
	t.Errorf("%s took %v, which is more than %v, %d times", what, took, limit, tries)
}
