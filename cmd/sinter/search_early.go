package main

import (
	"context"
	"time"
)

// patience is how long a person waits for an answer before one is given from
// what is known by then.
const patience = 3 * time.Second

// early gives what is called while passages are embedded: once, after a while,
// it shows a person an answer from the words of all passages and the vectors
// there are.
func (b *indexBuilder) early(ctx context.Context, start time.Time, q query) func(*indexBar) error {
	a := b.app
	shown := !a.terminal || a.settings.json
	return func(bar *indexBar) error {
		if shown || time.Since(start) < patience {
			return nil
		}
		shown = true
		results, err := rank(ctx, b.encoder, &b.index, q)
		if err != nil {
			return err
		}
		if q.rerank.model != "" { // there are more, for the second model
			results = results[:min(len(results), q.rerank.top)]
		}
		bar.end()
		have := 0
		for _, p := range b.index.passages {
			if p.kept != nil || p.fresh.vector != nil {
				have++
			}
		}
		a.warn("so far, by the words of all %s and the meaning of %d:", count(len(b.index.passages), "passage"), have)
		if err := a.printFound(q, searchResult{Query: q.text, Files: len(b.index.files), Results: results}); err != nil {
			return err
		}
		a.warn("the answer from all of them follows")
		return nil
	}
}
