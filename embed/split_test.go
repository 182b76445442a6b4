package embed

import (
	"context"
	"errors"
	"fmt"
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

// TestBatchesFail: the first error ends what runs at once and names its texts, but
// for memory that has room for one batch.
func TestBatchesFail(t *testing.T) {
	broken := errors.New("broken")
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint(full), func(t *testing.T) {
			var now, calls atomic.Int32
			c := &coalescer{tokens: 3, most: 2, ahead: 2}
			c.run = func(ctx context.Context, texts [][]int32, _ int) ([][]float32, error) {
				calls.Add(1)
				defer now.Add(-1)
				switch n := now.Add(1); {
				case full && n > 1:
					return nil, fmt.Errorf("running: %w", &sinter.OutOfMemoryError{})
				case !full && texts[0][0] == 6:
					return nil, broken
				}
				time.Sleep(time.Millisecond)
				return make([][]float32, len(texts)), nil
			}
			vectors, err := c.all(t.Context(), split(numbered(30), c.tokens))
			switch {
			case full && (err != nil || len(vectors) != 30):
				t.Errorf("memory for one batch: %d vectors, %v", len(vectors), err)
			case !full && (!errors.Is(err, broken) || err.Error() != "embed: texts 6 to 8: broken" || calls.Load() > 5):
				t.Errorf("%v after %d batches", err, calls.Load())
			}
		})
	}
}
