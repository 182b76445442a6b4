package jit

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// newShares is a run whose steps have so many tasks, for workers that ask in any
// order.
func newShares(workers int, counts ...uint32) *run {
	r := newRun(context.Background(), &Pool{}, make([]Step, len(counts)), counts, workers, workers)
	r.procs = 1 // nobody is called for
	return r
}

// Every task is dealt once, whoever asks.
func TestDeal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		workers := 1 + rng.IntN(6)
		counts := []uint32{1 + rng.Uint32N(9), 1 + rng.Uint32N(40)}
		r := newShares(workers, counts...)
		for step, n := range counts {
			r.begin(step)
			dealt := make(chan []int)
			go func() {
				var seen []int
				for range n {
					seen = append(seen, r.deal(rng.IntN(workers), step))
				}
				dealt <- seen
			}()
			select {
			case seen := <-dealt:
				slices.Sort(seen)
				for i, task := range seen {
					if task != i {
						t.Fatalf("%d workers, %d tasks: dealt %v", workers, n, seen)
					}
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%d workers, %d tasks: one is never dealt", workers, n)
			}
		}
	}
}

// A worker does its own share, in order, before it helps with those of others.
func TestOwnShareFirst(t *testing.T) {
	r := newShares(3, 10)
	r.begin(0)
	var got []int
	for _, worker := range []int{1, 2, 1, 1, 0, 1, 1, 2, 0, 2} {
		got = append(got, r.deal(worker, 0))
	}
	// Shares are 0-2, 3-5, 6-9. Worker 1 goes on with that of worker 2.
	if want := []int{3, 6, 4, 5, 0, 7, 8, 9, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("dealt %v, want %v", got, want)
	}
}
