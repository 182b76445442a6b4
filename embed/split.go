package embed

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// batch is texts that are run together, of all that a caller has.
type batch struct {
	first  int
	texts  [][]int32
	tokens int
}

// split is the texts in batches of so many tokens at most, unless one text has more.
func split(ids [][]int32, limit int) []batch {
	var all []batch
	target := evenly(ids, limit)
	for start := 0; start < len(ids); {
		end, tokens := start, 0
		for end < len(ids) && (end == start || tokens < target && tokens+len(ids[end]) <= limit) {
			tokens += len(ids[end])
			end++
		}
		all = append(all, batch{start, ids[start:end], tokens})
		start = end
	}
	return all
}

// evenly is the tokens at which a batch ends so that no small one is left for
// the end, where each may have limit.
func evenly(ids [][]int32, limit int) int {
	total := 0
	for _, t := range ids {
		total += len(t)
	}
	total = max(1, total)
	batches := (total-1)/limit + 1
	return (total-1)/batches + 1
}

// all runs batches, as many at once as a caller may, and returns the vectors of all
// texts in order.
func (c *coalescer) all(ctx context.Context, batches []batch) ([][]float32, error) {
	done := make([][][]float32, len(batches))
	if c.ahead > 1 && len(batches) > 1 {
		if err := c.several(ctx, batches, done); err != nil {
			return nil, err
		}
	}
	var vectors [][]float32
	for i, b := range batches {
		if done[i] == nil {
			if err := c.one(ctx, b, &done[i]); err != nil {
				return nil, err
			}
		}
		vectors = append(vectors, done[i]...)
	}
	return vectors, nil
}

// several runs batches at once, so that a device has the next before it is done with
// one, until one fails. A panic is the caller's, who may know what to do.
func (c *coalescer) several(ctx context.Context, batches []batch, done [][][]float32) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	running := make(chan struct{}, c.ahead)
	panics := make(chan any, len(batches))
	var wait sync.WaitGroup
	for i, b := range batches {
		running <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
					cancel(nil)
				}
				<-running
			}()
			if err := c.one(ctx, b, &done[i]); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
	}
	if slices.ContainsFunc(done, func(vectors [][]float32) bool { return vectors == nil }) {
		return context.Cause(ctx)
	}
	return nil
}

// one runs a batch.
func (c *coalescer) one(ctx context.Context, b batch, done *[][]float32) (err error) {
	if *done, err = c.do(ctx, b.texts, b.tokens); err != nil {
		return fmt.Errorf("embed: texts %d to %d: %w", b.first, b.first+len(b.texts)-1, err)
	}
	return nil
}
