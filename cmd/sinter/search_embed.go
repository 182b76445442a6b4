package main

import (
	"context"
	"time"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
)

// embedAtOnce is how many passages are embedded before anything else is looked
// at, such as whether there is something to keep: a fraction of a second.
const embedAtOnce = 32

// keepEvery is for how long a search that is killed may have worked in vain.
const keepEvery = 2 * time.Second

// pending is passages of one text that has no vector yet.
type pending struct {
	key    store.Key
	fresh  *fresh
	others []*fresh // with the same text
}

// waiting is a content, with its file, whose last passage comes with the
// pending of a number.
type waiting struct {
	source *source
	until  int
}

// embedder gives passages their vectors and keeps them.
type embedder struct {
	*indexBuilder
	encode  func(ctx context.Context, texts []string) ([][]float32, error)
	pending []*pending
	waiting []waiting // by until
	done    int       // of pending
	bytes   int64     // of pending texts
	kept    time.Time
	commits chan error // the one under way; nil: none
}

// newEmbedder lists what has no vector yet, in the order of files, so that
// these are complete one after the other.
func newEmbedder(b *indexBuilder, sources []*source) *embedder {
	e := &embedder{indexBuilder: b, encode: b.encoder.EncodePassage, kept: time.Now()}
	known := map[store.Key]int{}
	last := 0
	for _, s := range sources {
		for i, f := range s.fresh {
			if f == nil {
				continue
			}
			key := s.pieces[i].Chunk
			at, ok := known[key]
			if ok {
				e.pending[at].others = append(e.pending[at].others, f)
				continue
			}
			known[key] = len(e.pending)
			e.pending = append(e.pending, &pending{key: key, fresh: f})
			e.bytes += int64(len(f.text))
			last = len(e.pending)
		}
		// A text that came up before was pending earlier, so last will do.
		if s.keep {
			e.waiting = append(e.waiting, waiting{s, last})
		}
	}
	return e
}

// run embeds all that is pending. each is called now and then. What is embedded
// when the context ends, or anything fails, is kept.
func (e *embedder) run(ctx context.Context, bar *indexBar, each func() error) (err error) {
	bar.begin("indexing", e.bytes)
	defer func() { e.finish(ctx) }()
	for e.done < len(e.pending) {
		n := min(embedAtOnce, len(e.pending)-e.done)
		some := e.pending[e.done : e.done+n]
		if err := e.embed(ctx, some); err != nil {
			return err
		}
		for _, p := range some {
			bar.add(p.size())
		}
		e.done += n
		e.index.embedded += n
		if time.Since(e.kept) > keepEvery {
			e.commit(ctx)
		}
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

func (p *pending) size() int64 { return int64(p.fresh.size) }

// embed gives texts their vectors.
func (e *embedder) embed(ctx context.Context, some []*pending) error {
	texts := make([]string, len(some))
	for i, p := range some {
		texts[i] = p.fresh.text
	}
	vectors, err := e.encode(ctx, texts)
	if err != nil {
		return err
	}
	for i, p := range some {
		v := store.Float16(unit(vectors[i]))
		for _, f := range append(p.others, p.fresh) {
			f.vector, f.text = v, ""
		}
		e.batch.Chunks = append(e.batch.Chunks, store.Chunk{Key: p.key, Vector: v, Terms: p.fresh.terms, Replace: p.fresh.replace})
	}
	return nil
}

// commit begins to keep what is done, beside the next passages.
func (e *embedder) commit(ctx context.Context) {
	e.wait()
	e.complete()
	b := e.batch
	e.batch, e.kept = store.Batch{}, time.Now()
	done := make(chan error, 1)
	e.commits = done
	go func() { done <- e.keeper.commit(ctx, b) }()
}

// wait waits for the commit under way.
func (e *embedder) wait() {
	if e.commits != nil {
		e.keeper.failed(<-e.commits)
		e.commits = nil
	}
}

// complete adds the contents and files of which all passages have vectors.
func (e *embedder) complete() {
	for len(e.waiting) > 0 && e.waiting[0].until <= e.done {
		s := e.waiting[0].source
		e.batch.Contents = append(e.batch.Contents, store.Content{Key: s.content, Pieces: s.pieces})
		e.batch.Files = append(e.batch.Files, s.record())
		e.waiting = e.waiting[1:]
	}
}

// finish keeps the rest.
func (e *embedder) finish(ctx context.Context) {
	e.wait()
	e.complete()
	if len(e.batch.Chunks)+len(e.batch.Files) > 0 {
		e.batch.Roots = e.roots
		e.keeper.failed(e.keeper.commit(ctx, e.batch))
	}
	e.batch = store.Batch{}
}
