package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sinterml/sinter/cmd/sinter/internal/passage"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
	"github.com/sinterml/sinter/embed"
)

// index holds passages with their vectors.
type index struct {
	files    []textfiles.File
	passages []indexed
	stdin    string // its text: it cannot be read again
}

type indexed struct {
	file int // of the index
	passage.Passage
	terms  []byte
	vector []float32
}

// scope is what there is to rank, with the cosines of all passages with a
// vector.
func (x *index) scope(query []float32) ranking.Scope {
	var s ranking.Scope
	for _, f := range x.files {
		s.Paths = append(s.Paths, f.Path)
	}
	for _, p := range x.passages {
		s.Chunks = append(s.Chunks, ranking.Chunk{File: p.file, Line: p.Line, End: p.End, Terms: p.terms})
		s.Cosines = append(s.Cosines, embed.Cosine(query, p.vector))
	}
	return s
}

// text is that of a passage.
func (x *index) text(passage int) string { return x.passages[passage].Text }

// lines are those of a file of the index.
func (x *index) lines(file int) ([]string, error) {
	text := x.stdin
	if f := x.files[file]; f.Path != textfiles.Stdin {
		f.Named = true // whatever its size: it is in the index
		var err error
		if text, err = f.Read(nil, 0); err != nil {
			return nil, err
		}
	}
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), nil
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
	special := len(t.Encode(e.PassagePrompt()).IDs)
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
	if f.Path == textfiles.Stdin {
		b.index.stdin = text
	}
	b.index.files = append(b.index.files, f)
	for _, p := range b.split.Split(f.Path, text) {
		b.pending = append(b.pending, indexed{file: len(b.index.files) - 1, Passage: p, terms: ranking.Terms(p.Text)})
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
	vectors, err := b.encoder.EncodePassage(ctx, texts)
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
