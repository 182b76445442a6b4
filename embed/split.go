package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sinterml/sinter"
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

// all runs batches, as many at once as callers may, and returns the vectors of all
// texts in order. Where memory is for fewer of them the rest go one after another.
func (c *coalescer) all(ctx context.Context, batches []batch) ([][]float32, error) {
	done := make([][][]float32, len(batches))
	if err := c.several(ctx, batches, done); err != nil && !errors.As(err, new(*sinter.OutOfMemoryError)) {
		return nil, err
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

// several runs batches at once where a device is to have the next before it is done
// with one, until one fails.
func (c *coalescer) several(ctx context.Context, batches []batch, done [][][]float32) error {
	if c.ahead < 2 || len(batches) < 2 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	running := make(chan struct{}, c.ahead)
	var wait sync.WaitGroup
	for i, b := range batches {
		running <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-running }()
			if err := c.one(ctx, b, &done[i]); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// one runs a batch.
func (c *coalescer) one(ctx context.Context, b batch, done *[][]float32) (err error) {
	if *done, err = c.do(ctx, b.texts, b.tokens); err != nil {
		return fmt.Errorf("embed: texts %d to %d: %w", b.first, b.first+len(b.texts)-1, err)
	}
	return nil
}
