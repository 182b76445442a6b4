package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// index is what a search looks at: the passages of files, each with its vector
// where the index on disk has it, or in memory.
type index struct {
	files    []textfiles.File
	passages []indexed
	once     map[int]string // texts of files that cannot be read again: standard input, pipes
	embedded int            // passages that were embedded for this search

	last struct { // the file whose lines were asked for last
		file  int
		lines []string
	}
}

// indexed is a passage. Its text is Size bytes from byte Skip on of its lines.
type indexed struct {
	file int // of the index
	store.Piece
	kept  *store.Segments // where Ref points into; nil for one made in this run
	fresh *fresh          // one made in this run
}

// fresh is a passage as it is made.
type fresh struct {
	text    string // until it is embedded
	size    int    // of the text
	terms   []byte
	vector  []uint16 // nil until it is embedded
	replace bool     // a damaged record
}

// scope is what there is to rank, with the cosines of all passages that have a
// vector unless query is nil. What it refers to is valid until close, and may
// be read within guard alone.
func (x *index) scope(ctx context.Context, d *sinter.Device, query []float32) (ranking.Scope, error) {
	s := ranking.Scope{
		Paths:  make([]string, len(x.files)),
		Chunks: make([]ranking.Chunk, len(x.passages)),
	}
	for i, f := range x.files {
		s.Paths[i] = f.Path
	}
	if query != nil {
		query = unit(query)
		s.Cosines = make([]float32, len(x.passages))
	}
	for from := 0; from < len(x.passages); {
		to := from + 1 // those that lie together are looked up together
		for to < len(x.passages) && x.passages[to].kept == x.passages[from].kept {
			to++
		}
		run := x.passages[from:to]
		for i, t := range termsOf(run) {
			s.Chunks[from+i] = ranking.Chunk{File: run[i].file, Line: run[i].Line, End: run[i].End, Terms: t}
		}
		if query != nil {
			if err := scores(ctx, d, query, run, s.Cosines[from:to]); err != nil {
				return s, err
			}
		}
		from = to
	}
	return s, nil
}

// termsOf are the terms of passages that lie in the same place.
func termsOf(run []indexed) [][]byte {
	if run[0].kept != nil {
		return run[0].kept.Terms(refsOf(run))
	}
	terms := make([][]byte, len(run))
	for i, p := range run {
		terms[i] = p.fresh.terms
	}
	return terms
}

// scores computes the cosines of passages that lie in the same place.
func scores(ctx context.Context, d *sinter.Device, query []float32, run []indexed, cosines []float32) error {
	if run[0].kept != nil {
		return run[0].kept.Scores(ctx, d, query, refsOf(run), cosines)
	}
	for i, p := range run {
		cosines[i] = float32(math.NaN())
		if v := p.fresh.vector; v != nil {
			cosines[i] = store.Dot(query, v)
		}
	}
	return nil
}

func refsOf(run []indexed) []store.Ref {
	refs := make([]store.Ref, len(run))
	for i, p := range run {
		refs[i] = p.Ref
	}
	return refs
}

// key is that of the passage's text.
func (p *indexed) key() store.Key {
	if p.kept != nil {
		k, _ := p.kept.Key(p.Ref)
		return k
	}
	return p.Chunk
}

// guard calls f, which may read what scope refers to. A file of the index that
// is cut short meanwhile is an error.
func (x *index) guard(f func()) error {
	for _, s := range x.segments() {
		return s.Guard(func() error { f(); return nil })
	}
	f()
	return nil
}

// segments are all that passages refer to.
func (x *index) segments() []*store.Segments {
	var all []*store.Segments
	var last *store.Segments
	for i := range x.passages {
		if kept := x.passages[i].kept; kept != last && kept != nil && !slices.Contains(all, kept) {
			all, last = append(all, kept), kept
		}
	}
	return all
}

// text is that of a passage.
func (x *index) text(passage int) (string, error) {
	p := &x.passages[passage]
	lines, err := x.lines(p.file)
	if err != nil {
		return "", err
	}
	if p.End <= len(lines) {
		joined := strings.Join(lines[p.Line-1:p.End], "\n")
		if p.Skip+p.Size <= len(joined) {
			if text := joined[p.Skip:][:p.Size]; store.KeyOf(text) == p.key() {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("%s has changed since it was searched", x.files[p.file].Path)
}

// lines are those of a file of the index.
func (x *index) lines(file int) ([]string, error) {
	if x.last.lines != nil && x.last.file == file {
		return x.last.lines, nil
	}
	text, ok := x.once[file]
	if !ok {
		f := x.files[file]
		f.Named = true // whatever its size: it is in the index
		var err error
		if text, err = f.Read(nil, 0); err != nil {
			return nil, err
		}
	}
	x.last.file, x.last.lines = file, linesOf(text)
	return x.last.lines, nil
}

// linesOf are those of a text, of which the last may have its end or not.
func linesOf(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// unit is a vector of length 1 in the direction of v.
func unit(v []float32) []float32 {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if sum == 0 {
		return v
	}
	u := make([]float32, len(v))
	for i, f := range v {
		u[i] = float32(float64(f) / math.Sqrt(sum))
	}
	return u
}
