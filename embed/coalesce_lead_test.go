package embed

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Whoever was told to lead and leaves instead, its context being done at the
// same moment, passes the lead on: to the next who waits, or back.
func TestCoalesceLeaveLeading(t *testing.T) {
	c := &coalescer{leaders: 1}
	first, second := &request{turn: make(chan bool, 1)}, &request{turn: make(chan bool, 1)}
	c.waiting = []*request{first, second}
	first.lead()
	c.leave(first)
	if !second.leads || c.leaders != 1 {
		t.Errorf("the second leads: %v, of %d leaders", second.leads, c.leaders)
	}
	c.leave(second)
	if c.leaders != 0 || len(c.waiting) != 0 {
		t.Errorf("%d leaders and %d requests are left", c.leaders, len(c.waiting))
	}
}

// A leader waits for callers who were served and may ask again, but not for
// long, and not where its batch is full.
func TestCoalesceGather(t *testing.T) {
	for _, test := range []struct {
		name   string
		tokens int           // of the first caller; 10 fill a batch
		left   time.Duration // to wait
		want   [][]int       // batches
	}{
		{"they come", 4, time.Hour, [][]int{{4, 1}}},
		{"the time is over", 4, 0, [][]int{{4}, {1}}},
		{"full", 10, 3 * time.Second, [][]int{{10}, {1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEcho(10, func() {})
			e.expected, e.until = 2, time.Now().Add(test.left)
			first, start := make(chan error, 1), time.Now()
			ask := func(tokens int) error {
				_, err := e.do(context.Background(), [][]int32{text(1, tokens)}, tokens)
				return err
			}
			go func() { first <- ask(test.tokens) }()
			if test.left > 0 && test.tokens < 10 {
				e.waitFor(t, 1)
				select {
				case <-first:
					t.Fatal("the first did not wait")
				case <-time.After(5 * time.Millisecond):
				}
			} else if err := <-first; err != nil {
				t.Fatal(err)
			} else if first <- nil; time.Since(start) > 2*time.Second {
				t.Error("the first waited")
			}
			if err := ask(1); err != nil {
				t.Error(err)
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
			if !slices.EqualFunc(e.batches, test.want, slices.Equal) {
				t.Errorf("batches %v, want %v", e.batches, test.want)
			}
		})
	}
}

// A leader whose batch is done expects its callers again, and each that asks is
// expected no more.
func TestCoalesceServed(t *testing.T) {
	e := newEcho(10, func() {})
	ask := func() {
		if _, err := e.do(context.Background(), [][]int32{text(1, 1)}, 1); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		ask()
		if e.expected != 1 {
			t.Fatalf("after a batch of one, %d callers are expected", e.expected)
		}
	}
}
