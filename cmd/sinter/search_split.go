package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/cmd/sinter/internal/passage"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
	"github.com/sinterml/sinter/tokenizer"
)

// maxPassage is the tokens of a passage, special tokens included: more than
// most models were trained on say little about any one thing.
const maxPassage = 256

// splitter splits texts for an encoder.
func splitter(e *encoder) passage.Splitter {
	limit := maxPassage
	if n := e.MaxTokens(); n > 0 {
		limit = min(limit, n)
	}
	t := e.Tokenizer()
	special := len(t.Encode(e.PassagePrompt()).IDs)
	return passage.Splitter{Tokens: func(line string) [][2]int { return tokenRanges(t, line) }, Max: max(1, limit-special)}
}

// tokenRanges are the byte ranges of a line's tokens, without special ones,
// which stand for no bytes.
func tokenRanges(t *tokenizer.Tokenizer, line string) [][2]int {
	return slices.DeleteFunc(t.Encode(line).Offsets, func(o [2]int) bool { return o[0] == o[1] })
}

// read reads files, and looks up what they hold. It returns those that are to
// be split.
func (b *indexBuilder) read(ctx context.Context, sources []*source) ([]*source, error) {
	split := splitter(b.encoder)
	err := inParallel(ctx, sources, func(s *source) {
		if s.read(ctx, b.app, b.most); s.err == nil {
			s.content = contentKey(s.file.Path, s.text, split.Max)
		}
	})
	if err != nil {
		return nil, err
	}
	var good []*source
	for _, s := range sources {
		switch {
		case s.content == binaryContent:
			b.binary(s)
			b.batch.Files = append(b.batch.Files, s.record())
		case s.err != nil:
			b.app.skip(b.skip, s.err)
			if s.file.Named && (errors.Is(s.err, textfiles.ErrBinary) || errors.Is(s.err, textfiles.ErrTooLarge)) {
				b.app.warn("%v", s.err)
			}
		default:
			good = append(good, s)
		}
	}
	b.lookUp(ctx, good, func(_ *store.Reader, s *source) (store.Key, bool) { return s.content, true })
	rest := b.take(good)
	for _, s := range good {
		if s.found && s.keep {
			b.batch.Files = append(b.batch.Files, s.record())
		}
	}
	return rest, nil
}

// contentKey names the passages of a text: they depend on the kind of file and
// on the splitter.
func contentKey(name, text string, most int) store.Key {
	kind := strings.ToLower(cmp.Or(filepath.Ext(name), filepath.Base(name)))
	return store.KeyOf("content", fmt.Sprint(splitVersion, most), kind, text)
}

// split splits files into passages, looks up which of these are known, and puts
// all into the index. bar counts bytes of text.
func (b *indexBuilder) split(ctx context.Context, sources []*source, bar *indexBar) error {
	split := splitter(b.encoder)
	bar.begin("reading", bytesOf(sources))
	err := inParallel(ctx, sources, func(s *source) {
		s.split(split)
		bar.add(int64(len(s.text)))
	})
	if err != nil {
		return err
	}
	b.lookUpChunks(ctx, sources)
	for _, s := range sources {
		b.add(s)
	}
	return nil
}

func bytesOf(sources []*source) (n int64) {
	for _, s := range sources {
		n += int64(len(s.text))
	}
	return n
}

// split makes the pieces of a text, all of them fresh.
func (s *source) split(split passage.Splitter) {
	lines := linesOf(s.text)
	passages := split.Split(s.file.Path, s.text)
	s.pieces = make([]store.Piece, 0, len(passages))
	for _, p := range passages {
		joined := strings.Join(lines[p.Line-1:p.End], "\n")
		s.pieces = append(s.pieces, store.Piece{Line: p.Line, End: p.End, Skip: max(0, strings.Index(joined, p.Text)), Size: len(p.Text), Chunk: store.KeyOf(p.Text)})
		s.fresh = append(s.fresh, &fresh{text: p.Text, size: len(p.Text), terms: ranking.Terms(p.Text)})
	}
}

// lookUpChunks finds the passages that are known, from other files or from
// before these changed. Those whose records are damaged stay fresh, and take
// their place.
func (b *indexBuilder) lookUpChunks(ctx context.Context, sources []*source) {
	type place struct {
		s     *source
		piece int
	}
	var places []place
	var refs []store.Ref
	var segments *store.Segments
	b.keeper.read(ctx, func(r *store.Reader) error {
		segments.Close()
		places, refs = nil, nil
		for _, s := range sources {
			for i, p := range s.pieces {
				if ref, ok := r.Chunk(p.Chunk); ok && s.keep {
					places, refs = append(places, place{s, i}), append(refs, ref)
				}
			}
		}
		var err error
		segments, err = r.Segments()
		return err
	})
	if segments == nil || b.keeper.open == nil {
		return
	}
	b.segments = append(b.segments, segments)
	bad, err := segments.Verify(refs)
	if err != nil {
		b.keeper.fail(err)
		return
	}
	for i, at := range places {
		piece := &at.s.pieces[at.piece]
		key, _ := segments.Key(refs[i])
		damaged := len(bad) > 0 && bad[0] == i
		if damaged {
			bad = bad[1:]
		}
		if damaged || key != piece.Chunk {
			at.s.fresh[at.piece].replace = true
			continue
		}
		piece.Ref, at.s.kept, at.s.fresh[at.piece] = refs[i], segments, nil
	}
}

// inParallel calls f for each of all, on all processors. Its error is that of
// the context.
func inParallel[T any](ctx context.Context, all []T, f func(T)) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				f(all[i])
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}
