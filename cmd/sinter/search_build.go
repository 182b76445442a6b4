package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// An index is built in steps, each for all files before the next:
//
//	known    files that are as they were when they were indexed are looked up
//	read     the others are read, and contents that are known looked up
//	split    what is left is split, and passages that are known looked up
//	embed    what is left is embedded, a batch at a time, and kept
//
// So all words are known early, from when on an answer can be given, and what
// takes long, the last step, can be interrupted at any time.

// indexBuilder builds an index.
type indexBuilder struct {
	app     *app
	keeper  *keeper
	encoder *encoder // set before read
	most    int64    // bytes of a file
	skip    *skipped
	roots   []string
	words   bool // nothing is embedded: words are enough
	index   index

	segments []*store.Segments // to close
	batch    store.Batch       // to be kept
	left     int               // files that another process is indexing
}

func newIndexBuilder(a *app, k *keeper, q query, skip *skipped) *indexBuilder {
	return &indexBuilder{app: a, keeper: k, most: q.files.MaxBytes, skip: skip, roots: absolute(q.paths), words: q.rank.By == ranking.Words}
}

// close gives back what the index refers to.
func (b *indexBuilder) close() {
	for _, s := range b.segments {
		s.Close()
	}
}

// absolute are paths to folders and files as the index calls them.
func absolute(paths []string) []string {
	var all []string
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil && p != textfiles.Stdin {
			all = append(all, abs)
		}
	}
	return all
}

// build does all but the first step for the files that known left. each is
// called now and then while passages are embedded.
func (b *indexBuilder) build(ctx context.Context, sources []*source, each func(bar *indexBar) error) error {
	b.keeper.setDim(b.encoder.Dim())
	rest, err := b.read(ctx, sources)
	if err != nil {
		return err
	}
	rest = b.leave(rest)
	if e, err := b.estimate(ctx, rest); err != nil {
		return err
	} else if !b.words && e.time >= worthSaying {
		busy, done := b.keeper.announce(ctx, b.roots)
		defer done()
		before := len(rest)
		if rest = b.leaveTo(busy, rest); len(rest) == before { // else another has begun at the same time
			b.app.warn("%v", e)
		}
	}
	bar := &indexBar{progress: b.app.startProgress("", 0)}
	defer bar.end()
	if err := b.split(ctx, rest, bar); err != nil || b.words {
		return err
	}
	return newEmbedder(b, rest).run(ctx, bar, func() error {
		return each(bar)
	})
}

// binaryContent is the content of files that are no text: they have no passages
// and need not be read again.
var binaryContent = store.KeyOf("no text")

// known looks up the files that are as they were, and returns the others.
func (b *indexBuilder) known(ctx context.Context, files []textfiles.File) []*source {
	all := make([]*source, len(files))
	for i, f := range files {
		all[i] = newSource(f)
	}
	b.lookUp(ctx, all, func(r *store.Reader, s *source) (store.Key, bool) {
		f, ok := r.File(s.path)
		return f.Content, ok && f.Same(s.stat)
	})
	return b.take(all)
}

// leave takes out the files that another process is indexing: it embeds them as
// fast as this one could, and who asks meanwhile is answered from what is
// finished.
func (b *indexBuilder) leave(sources []*source) []*source {
	if b.keeper.open == nil || len(sources) == 0 {
		return sources
	}
	busy, err := b.keeper.open.Busy()
	if err != nil {
		b.keeper.fail(err)
	}
	return b.leaveTo(busy, sources)
}

// leaveTo takes out the files below what others are indexing.
func (b *indexBuilder) leaveTo(busy []string, sources []*source) []*source {
	if len(busy) == 0 {
		return sources
	}
	rest := slices.DeleteFunc(slices.Clone(sources), func(s *source) bool { return s.keep && store.Below(s.path, busy) })
	if left := len(sources) - len(rest); left > 0 {
		b.left += left
		b.app.warn("another search is indexing %s here, which this one leaves out", count(left, "file"))
	}
	return rest
}

// lookUp finds the pieces of sources whose content is known: which one it is,
// content says. Pieces count if all their records are sound.
func (b *indexBuilder) lookUp(ctx context.Context, all []*source, content func(*store.Reader, *source) (store.Key, bool)) {
	var segments *store.Segments
	b.keeper.read(ctx, func(r *store.Reader) error {
		segments.Close() // of an attempt that met damage
		for _, s := range all {
			s.found, s.pieces = false, nil
			if !s.keep {
				continue
			}
			key, ok := content(r, s)
			if ok && key == binaryContent {
				s.found, s.content = true, key
			} else if ok {
				s.content = key
				s.pieces, s.found = r.Content(key)
			}
		}
		var err error
		segments, err = r.Segments()
		return err
	})
	if segments == nil || b.keeper.open == nil {
		for _, s := range all {
			s.found = s.found && s.content == binaryContent
		}
		return
	}
	b.segments = append(b.segments, segments)
	n := 0
	for _, s := range all {
		n += len(s.pieces)
	}
	refs := make([]store.Ref, 0, n)
	for _, s := range all {
		for _, p := range s.pieces {
			refs = append(refs, p.Ref)
		}
	}
	bad, err := segments.Verify(refs)
	if err != nil {
		b.keeper.fail(err)
	}
	at := 0
	for _, s := range all {
		s.kept = segments
		end := at + len(s.pieces)
		for len(bad) > 0 && bad[0] < end {
			s.found, bad = false, bad[1:]
		}
		s.found = s.found && err == nil
		at = end
	}
}

// take puts sources that were found into the index and returns the others.
func (b *indexBuilder) take(all []*source) (rest []*source) {
	n := 0
	for _, s := range all {
		n += len(s.pieces)
	}
	b.index.passages = slices.Grow(b.index.passages, n)
	for _, s := range all {
		switch {
		case !s.found:
			rest = append(rest, s)
		case s.content == binaryContent:
			b.binary(s)
		default:
			b.add(s)
		}
	}
	return rest
}

func (b *indexBuilder) binary(s *source) {
	err := &os.PathError{Op: "read", Path: s.file.Path, Err: textfiles.ErrBinary}
	b.app.skip(b.skip, err)
	if s.file.Named {
		b.app.warn("%v", err)
	}
}

// add puts a source's pieces into the index.
func (b *indexBuilder) add(s *source) {
	b.index.files = append(b.index.files, s.file)
	if !s.keep {
		if b.index.once == nil {
			b.index.once = map[int]string{}
		}
		b.index.once[len(b.index.files)-1] = s.text
	}
	for i, p := range s.pieces {
		x := indexed{file: len(b.index.files) - 1, Piece: p}
		if s.fresh != nil {
			x.fresh = s.fresh[i]
		}
		if x.fresh == nil {
			x.kept = s.kept
		}
		b.index.passages = append(b.index.passages, x)
	}
}

// source is a file on its way into an index.
type source struct {
	file  textfiles.File
	path  string     // absolute
	keep  bool       // it can be kept: it is a file that can be read again
	stat  store.Stat // as it was listed, then as it was read
	begun int64      // when reading it began, in nanoseconds since 1970

	text    string
	content store.Key
	found   bool // pieces are known
	pieces  []store.Piece
	kept    *store.Segments
	fresh   []*fresh // of pieces that were made in this run; nil for others
	err     error    // of reading it
}

func newSource(f textfiles.File) *source {
	s := &source{file: f}
	abs, err := filepath.Abs(f.Path)
	if err == nil && f.Info != nil && f.Info.Mode().IsRegular() {
		s.path, s.keep, s.stat = abs, true, store.StatOf(f.Info)
	}
	return s
}

// read reads the text. What the system says of the file is asked before and
// after: one that changes meanwhile is read again by the next search.
func (s *source) read(ctx context.Context, a *app, most int64) {
	var before os.FileInfo
	if s.keep {
		before, s.err = os.Stat(s.file.Path)
		if s.err != nil {
			return
		}
	}
	s.begun = time.Now().UnixNano()
	s.text, s.err = s.file.Read(interruptible{ctx, a.stdin}, most)
	if !s.keep {
		return
	}
	after, err := os.Stat(s.file.Path)
	if err != nil || store.StatOf(before) != store.StatOf(after) {
		s.begun = 0
	}
	s.stat = store.StatOf(before)
	if errors.Is(s.err, textfiles.ErrBinary) {
		s.content = binaryContent
	}
}

// record is what is kept of the file.
func (s *source) record() store.FileAt {
	return store.FileAt{Path: s.path, File: store.File{Stat: s.stat, Read: s.begun, Content: s.content}}
}
