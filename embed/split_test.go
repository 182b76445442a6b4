package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sinterml/sinter"
)

// numbered are texts of one token each, their numbers.
func numbered(n int) [][]int32 {
	all := make([][]int32, n)
	for i := range all {
		all[i] = []int32{int32(i)}
	}
	return all
}

// TestBatchesAtOnce: a caller's batches run two at once on a GPU, one by one
// elsewhere, and vectors come in order.
func TestBatchesAtOnce(t *testing.T) {
	for _, test := range []struct {
		device string
		want   int32
	}{{"cpu", 1}, {"opencl:0", 1}, {"cuda:0", 2}, {"hip", 2}, {"metal:1", 2}} {
		t.Run(test.device, func(t *testing.T) {
			var now, most atomic.Int32
			c := &coalescer{tokens: 3}
			c.most, c.ahead = batchesAtOnce(test.device)
			c.run = func(_ context.Context, texts [][]int32, _ int) ([][]float32, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(time.Duration(20-texts[0][0]) * time.Millisecond) // the first take longest
				vectors := make([][]float32, len(texts))
				for i, x := range texts {
					vectors[i] = []float32{float32(x[0])}
				}
				return vectors, nil
			}
			vectors, err := c.all(t.Context(), split(numbered(20), c.tokens))
			if err != nil || len(vectors) != 20 || most.Load() != test.want {
				t.Fatalf("%s: %d vectors, %v, %d batches at once", test.device, len(vectors), err, most.Load())
			}
			for i, v := range vectors {
				if v[0] != float32(i) {
					t.Errorf("%s: vector %d is that of text %v", test.device, i, v[0])
				}
			}
		})
	}
}

// TestBatchesFail: the first error ends what runs at once and names its texts.
func TestBatchesFail(t *testing.T) {
	broken := errors.New("broken")
	var calls atomic.Int32
	c := &coalescer{tokens: 3, most: 2, ahead: 2}
	c.run = func(_ context.Context, texts [][]int32, _ int) ([][]float32, error) {
		calls.Add(1)
		if texts[0][0] == 6 {
			return nil, broken
		}
		time.Sleep(time.Millisecond)
		return make([][]float32, len(texts)), nil
	}
	_, err := c.all(t.Context(), split(numbered(30), c.tokens))
	if !errors.Is(err, broken) || err.Error() != "embed: texts 6 to 8: broken" || calls.Load() > 6 {
		t.Errorf("%v after %d batches", err, calls.Load())
	}
}

// TestBatchesRoom: where memory has room for one batch all are run, of one caller and
// of several, and at once only until that is known. One that never fits is an error.
func TestBatchesRoom(t *testing.T) {
	for _, texts := range []int{3, 9, 30} {
		var now, refused atomic.Int32
		c := &coalescer{tokens: 3, most: 3, ahead: 2}
		c.run = func(_ context.Context, texts [][]int32, _ int) ([][]float32, error) {
			defer now.Add(-1)
			if now.Add(1) > 1 {
				refused.Add(1)
				return nil, fmt.Errorf("running: %w", &sinter.OutOfMemoryError{})
			}
			time.Sleep(5 * time.Millisecond)
			return make([][]float32, len(texts)), nil
		}
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() {
				vectors, err := c.all(t.Context(), split(numbered(texts), c.tokens))
				if err != nil || len(vectors) != texts {
					t.Errorf("%d texts, caller %d: %d vectors, %v", texts, i, len(vectors), err)
				}
			})
		}
		callers.Wait()
		if n := refused.Load(); n > 4 {
			t.Errorf("%d texts: memory was full %d times", texts, n)
		}
		c.run = func(context.Context, [][]int32, int) ([][]float32, error) { return nil, &sinter.OutOfMemoryError{} }
		if _, err := c.all(t.Context(), split(numbered(texts), c.tokens)); !errors.As(err, new(*sinter.OutOfMemoryError)) {
			t.Errorf("without any memory: %v", err)
		}
	}
}

// TestBatchesPanic: a panic in a run is the caller's.
func TestBatchesPanic(t *testing.T) {
	c := &coalescer{tokens: 3, most: 2, ahead: 2, run: func(context.Context, [][]int32, int) ([][]float32, error) { panic("lost") }}
	defer func() {
		if p := recover(); p != "lost" {
			t.Errorf("recovered %v", p)
		}
		if !c.room.TryLock() {
			t.Error("whoever needs all memory waits for a run that is over")
		}
	}()
	_, err := c.all(t.Context(), split(numbered(30), c.tokens))
	t.Errorf("no panic: %v", err)
}

// TestPanicOfAnother: callers whose texts ran in the batch of one that panicked have
// an error, not vectors that are none.
func TestPanicOfAnother(t *testing.T) {
	oneLeader(t)
	begun, gate := make(chan bool, 1), make(chan bool)
	c := newEcho(10, nil)
	c.run = func(_ context.Context, texts [][]int32, _ int) ([][]float32, error) {
		if len(texts) > 1 {
			panic("lost")
		}
		begun <- true
		<-gate
		return make([][]float32, 1), nil
	}
	var callers sync.WaitGroup
	ask := func() {
		defer func() {
			if p := recover(); p != nil && p != "lost" {
				t.Errorf("recovered %v", p)
			}
		}()
		if vectors, err := c.all(t.Context(), split(numbered(1), c.tokens)); err == nil && len(vectors) != 1 {
			t.Errorf("%d vectors of one text, and no error", len(vectors))
		}
	}
	callers.Go(ask)
	<-begun
	for range 3 {
		callers.Go(ask)
	}
	c.waitFor(t, 3)
	close(gate)
	callers.Wait()
}

// TestBatchesCancelled: a caller that gives up has an error, unless all was done.
func TestBatchesCancelled(t *testing.T) {
	for _, texts := range []int32{6, 30} {
		ctx, cancel := context.WithCancel(t.Context())
		c := &coalescer{tokens: 3, most: 2, ahead: 2}
		c.run = func(_ context.Context, texts [][]int32, _ int) ([][]float32, error) {
			if texts[0][0] == 3 {
				time.Sleep(10 * time.Millisecond)
				cancel()
			}
			return make([][]float32, len(texts)), nil
		}
		vectors, err := c.all(ctx, split(numbered(int(texts)), c.tokens))
		if err != nil && !errors.Is(err, context.Canceled) || err == nil && len(vectors) != int(texts) {
			t.Errorf("%d texts: %d vectors, %v", texts, len(vectors), err)
		}
	}
}
