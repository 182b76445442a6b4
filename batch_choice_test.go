package sinter

import (
	"math"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
)

// Systems that do not tell what is free have what is not in use.
func TestBatchRoom(t *testing.T) {
	for _, c := range []struct {
		memory, free uint64
		now          bool
		want         int64
	}{
		{1000, 800, true, 600}, {1000, 800, false, 300}, {1000, 0, false, 450}, {1000, 0, true, 450}, {1000, 200, false, 0},
		{0, 0, true, math.MaxInt64}, {0, 0, false, math.MaxInt64},
	} {
		if got := roomOf(device.Properties{Memory: c.memory, Free: c.free}, 400, c.now); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The smallest batch is chosen that is as good as any, and the search ends when
// two in a row bring no more.
func TestBatchChoice(t *testing.T) {
	for _, c := range []struct {
		rates []float64 // of batches of 1, 2, 4, ...
		size  int
		ended int // tries after which it was level; 0: never
	}{
		{[]float64{100}, 1, 0},
		{[]float64{100, 200, 400, 800}, 8, 0},
		{[]float64{100, 101, 101}, 1, 3},
		{[]float64{100, 90, 80}, 1, 3},
		{[]float64{100, 103, 101, 100, 104}, 2, 4},
		{[]float64{100, 95, 130, 131, 129}, 4, 5},
		{[]float64{100, 99, 102.5}, 4, 0},
	} {
		a := &BatchAdvice{}
		ended := 0
		for i, r := range c.rates {
			n := 1 << i
			a.Tried = append(a.Tried, BatchTry{Size: n, Time: time.Duration(float64(n) / r * 1e9)})
			if a.level() && ended == 0 {
				ended = i + 1
			}
		}
		a.choose()
		if a.Size != c.size || ended != c.ended {
			t.Errorf("%v: a batch of %d, level after %d; want %d and %d", c.rates, a.Size, ended, c.size, c.ended)
		}
	}
}
