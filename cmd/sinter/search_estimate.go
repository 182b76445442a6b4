package main

import (
	"context"
	"fmt"
	"time"
)

// worthSaying is how long indexing may take before one says how long it will.
const worthSaying = 3 * time.Second

// estimate is what there is to do.
type estimate struct {
	files, tokens int
	time          time.Duration
	kept          bool // what is done by then, if it is interrupted
}

func (e estimate) String() string {
	tokens := fmt.Sprintf("%d,000", max(1, (e.tokens+500)/1000))
	if e.tokens >= 1e6 {
		tokens = fmt.Sprintf("%.1f million", float64(e.tokens)/1e6)
	}
	text := fmt.Sprintf("indexing %s with about %s tokens takes about %s", count(e.files, "file"), tokens, about(e.time))
	if e.kept {
		text += "; what is done is kept if it is interrupted"
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// estimate measures how many tokens the bytes of some of the texts have, and
// how long a batch of them takes. It is itself a matter of a tenth of a second.
func (b *indexBuilder) estimate(ctx context.Context, sources []*source) (estimate, error) {
	total := estimate{files: len(sources), kept: b.keeper.open != nil}
	bytes := bytesOf(sources)
	if bytes == 0 {
		return total, nil
	}
	const batch = 1024 // tokens
	row := 128
	if n := b.encoder.MaxTokens(); n > 0 {
		row = min(row, n)
	}
	var rows [][]int32
	sampled, tokens := 0, 0
	for i := range sources { // from the middle on, as what comes first is often a README
		const piece = 4 << 10
		text := sources[(i+len(sources)/2)%len(sources)].text
		text = text[:min(len(text), piece)]
		ids := b.encoder.Tokenizer().Encode(text).IDs
		sampled += len(text)
		tokens += len(ids)
		for len(ids) > row && len(rows) < batch/row {
			rows, ids = append(rows, ids[:row]), ids[row:]
		}
		if sampled >= 16*piece {
			break
		}
	}
	total.tokens = int(float64(tokens) / float64(max(1, sampled)) * float64(bytes))
	if total.tokens < batch {
		return total, nil
	}
	if len(rows) == 0 {
		rows = [][]int32{make([]int32, row)}
	}
	if _, err := b.encoder.EncodeIDs(ctx, rows[:1]); err != nil { // weights come into the caches
		return total, err
	}
	start := time.Now()
	if _, err := b.encoder.EncodeIDs(ctx, rows); err != nil {
		return total, err
	}
	measured := time.Since(start)
	total.time = time.Duration(float64(measured) / float64(len(rows)*row) * float64(total.tokens))
	return total, nil
}
