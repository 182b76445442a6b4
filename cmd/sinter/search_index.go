package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sinterml/sinter/cmd/sinter/internal/passage"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
	"github.com/sinterml/sinter/embed"
)

// index holds passages with their vectors.
type index struct {
	files    int
	passages []indexed
}

type indexed struct {
	path string
	passage.Passage
	vector []float32
}

// indexBuilder embeds passages a batch at a time.
type indexBuilder struct {
	app     *app
	encoder *encoder
	most    int64 // bytes of a file
	skip    *skipped
	split   passage.Splitter
	index   index
	pending []indexed // without vectors yet
}

// maxPassage is the tokens of a passage, special tokens included: more than
// most models were trained on say little about any one thing.
const maxPassage = 256

func newIndexBuilder(a *app, e *encoder, most int64, skip *skipped) *indexBuilder {
	limit := maxPassage
	if n := e.MaxTokens(); n > 0 {
		limit = min(limit, n)
	}
	t := e.Tokenizer()
	special := len(t.Encode("").IDs)
	tokens := func(line string) [][2]int {
		// Special tokens stand for no bytes.
		return slices.DeleteFunc(t.Encode(line).Offsets, func(o [2]int) bool { return o[0] == o[1] })
	}
	return &indexBuilder{app: a, encoder: e, most: most, skip: skip, split: passage.Splitter{Tokens: tokens, Max: max(1, limit-special)}}
}

// build reads, splits and embeds files.
func (b *indexBuilder) build(ctx context.Context, files []textfiles.File) (*index, error) {
	total := int64(0)
	for _, f := range files {
		total += f.Size
	}
	bar := b.app.startProgress("indexing", total)
	defer bar.end()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.add(ctx, f); err != nil {
			return nil, err
		}
		bar.add(f.Size)
	}
	return &b.index, b.flush(ctx)
}

// add puts a file's passages into the index. A file that cannot be read is
// counted and left out.
func (b *indexBuilder) add(ctx context.Context, f textfiles.File) error {
	text, err := f.Read(interruptible{ctx, b.app.stdin}, b.most)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.app.skip(b.skip, err)
		if f.Named && errors.Is(err, textfiles.ErrBinary) {
			b.app.warn("%v", err)
		}
		return nil
	}
	b.index.files++
	for _, p := range b.split.Split(f.Path, text) {
		b.pending = append(b.pending, indexed{path: f.Path, Passage: p})
		const batch = 64
		if len(b.pending) == batch {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush embeds what is pending.
func (b *indexBuilder) flush(ctx context.Context) error {
	texts := make([]string, len(b.pending))
	for i, p := range b.pending {
		texts[i] = p.Text
	}
	vectors, err := b.encoder.Encode(ctx, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		b.pending[i].vector = v
	}
	b.index.passages = append(b.index.passages, b.pending...)
	b.pending = b.pending[:0]
	return nil
}

// perFile is how many passages of a file are shown while others have some.
const perFile = 2

// best ranks passages by their cosine with a vector. Passages that overlap a
// better one are left out, and those of a file beyond perFile come only where
// others are too few.
func (x *index) best(vector []float32, top int) []found {
	type ranked struct {
		*indexed
		score float32
	}
	all := make([]ranked, len(x.passages))
	for i := range x.passages {
		all[i] = ranked{&x.passages[i], embed.Cosine(vector, x.passages[i].vector)}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	chosen := map[string][]found{}
	var first, rest []found
	for _, r := range all {
		if len(first) == top {
			break
		}
		f := found{r.path, r.Line, r.End, r.score, r.Text}
		have := chosen[f.Path]
		if slices.ContainsFunc(have, func(h found) bool { return h.Line <= f.EndLine && f.Line <= h.EndLine }) {
			continue
		}
		chosen[f.Path] = append(have, f)
		if len(have) < perFile {
			first = append(first, f)
		} else if len(rest) < top {
			rest = append(rest, f)
		}
	}
	first = append(first, rest[:min(len(rest), top-len(first))]...)
	slices.SortStableFunc(first, func(a, b found) int { return cmp.Compare(b.Score, a.Score) })
	return append([]found{}, first...)
}
