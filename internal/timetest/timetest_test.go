package timetest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a test that remembers how it failed.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// A function that is slow once is not at fault, one that always is fails.
func TestWithin(t *testing.T) {
	for _, test := range []struct {
		slow, calls, errors int // f is slow in its first calls
	}{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 3, 1}} {
		synctest.Test(t, func(t *testing.T) { // time passes in Sleep alone
			r, calls := &recorder{TB: t}, 0
			Within(r, time.Second, "f", func() {
				if calls++; calls <= test.slow {
					time.Sleep(10*time.Second + 1) // too long under the race detector too
				}
			})
			if calls != test.calls || len(r.errors) != test.errors {
				t.Errorf("slow %d times: %d calls, errors %q", test.slow, calls, r.errors)
			}
		})
	}
}

// A function that waits for others is not at fault, one that computes is.
func TestBusyWithin(t *testing.T) {
	if processTime() == 0 {
		t.Skip("this system does not say how long a process has computed")
	}
	limit := 100 * time.Millisecond
	if underRace {
		limit /= 10
	}
	for _, test := range []struct {
		name   string
		f      func()
		errors int
	}{
		{"waits", func() { time.Sleep(200 * time.Millisecond) }, 0},
		{"computes", func() {
			for begun := processTime(); processTime()-begun < 120*time.Millisecond; {
			}
		}, 1},
	} {
		r := &recorder{TB: t}
		BusyWithin(r, limit, test.name, test.f)
		if len(r.errors) != test.errors {
			t.Errorf("%s: errors %q", test.name, r.errors)
		}
	}
}

// One call of several that is fast is enough, and the last; none is not.
func TestBest(t *testing.T) {
	for _, test := range []struct{ slow, calls, errors int }{{0, 1, 0}, {4, 5, 0}, {5, 5, 1}} {
		synctest.Test(t, func(t *testing.T) { // time passes in Sleep alone
			r, calls := &recorder{TB: t}, 0
			Best(r, time.Second, 5, "f", func() {
				if calls++; calls <= test.slow {
					time.Sleep(10*time.Second + 1)
				}
			})
			if calls != test.calls || len(r.errors) != test.errors {
				t.Errorf("slow %d times: %d calls, errors %q", test.slow, calls, r.errors)
			}
		})
	}
}
