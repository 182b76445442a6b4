package main

import (
	"sync"
	"time"
)

// indexBar is a bar that says how much time is left. Several goroutines may
// add.
type indexBar struct {
	mu sync.Mutex
	*progress
	begun time.Time
}

// begin counts something else.
func (b *indexBar) begin(what string, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.what, b.total, b.done, b.begun = what, total, 0, time.Now()
}

func (b *indexBar) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due(n) {
		b.draw(b.text(time.Since(b.begun)))
	}
}

// end clears the line. What is added afterwards is drawn again.
func (b *indexBar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.end()
}

// text is what is drawn after a time from the beginning.
func (b *indexBar) text(after time.Duration) string {
	if left := b.left(after); left >= time.Second {
		return b.bar() + ", " + about(left) + " left"
	}
	return b.bar()
}

// left is how long the rest takes at the rate so far; 0 before that is known.
func (b *indexBar) left(after time.Duration) time.Duration {
	const settled = 2 * time.Second
	if after < settled || b.done == 0 || b.done >= b.total {
		return 0
	}
	return time.Duration(float64(after) / float64(b.done) * float64(b.total-b.done))
}

// about says a duration as one would.
func about(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return rounded(d.Seconds(), "second")
	case d < 90*time.Minute:
		return rounded(d.Minutes(), "minute")
	}
	return rounded(d.Hours(), "hour")
}

func rounded(n float64, what string) string { return count(max(1, int(n+0.5)), what) }
