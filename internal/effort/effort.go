// Package effort says how much of what a test could try it is to try, and what
// becomes of one that lacks a device or a program.
package effort

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests leave much garbage and hold little: collecting it less often is a fifth of
// their time. Those that hold more collect it as if nothing were said here.
func init() {
	if testing.Testing() && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(1600)
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(1 << 30)
		}
	}
}

// Level is what a run of tests has time for.
type Level int

const (
	Short Level = iota // go test -short: also under a race detector or an emulator
	Plain              // go test: all packages in a few minutes
	CI                 // with SINTER_CI set, before a change lands
	Long               // -tags long: what takes minutes for one test, and all that CI takes a part of
)

// AsCI is a variable that, where it is set, gives an ordinary run as many cases as CI
// has; what it leaves to CI as a whole it still does.
const AsCI = "SINTER_AS_CI"

// Now is the level of this run.
func Now() Level {
	switch {
	case testing.Short():
		return Short
	case long:
		return Long
	case os.Getenv("SINTER_CI") != "":
		return CI
	}
	return Plain
}

// Of chooses by the level of this run.
func Of[T any](short, plain, ci, long T) T { return [...]T{short, plain, ci, long}[cases()] }

// Less tells that this run has fewer cases than CI.
func Less() bool { return cases() < CI }

// cases is the level that has as many cases as this run.
func cases() Level {
	if now := Now(); now != Plain || os.Getenv(AsCI) == "" {
		return now
	}
	return CI
}

// Missing ends a test that lacks what not every machine has: it is skipped, or
// fails where SINTER_CI is set, as nothing may be skipped there.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("SINTER_CI") != "" {
		t.Fatal(append([]any{"may not be skipped here: "}, why...)...)
	}
	t.Skip(why...)
}
