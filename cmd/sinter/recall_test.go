package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter/cmd/sinter/internal/corpus"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/model/minilm"
)

// corpusSearch searches the evaluation corpus as the command would.
type corpusSearch struct {
	*corpus.Corpus
	scope   ranking.Scope // without cosines
	chunks  [][]float32   // our vectors
	queries [][]float32
}

// embeddedCorpus is opened once: that takes as long as all else here.
var embeddedCorpus = sync.OnceValues(openCorpus)

func searchedCorpus(t *testing.T) *corpusSearch {
	t.Helper()
	if effort.Now() < effort.CI {
		t.Skip("embeds 1,500 passages: set SINTER_CI")
	}
	s, err := embeddedCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openCorpus() (*corpusSearch, error) {
	c, err := corpus.Load("testdata/corpus")
	if err != nil {
		return nil, err
	}
	s := &corpusSearch{Corpus: c}
	texts := slices.Clone(apart)
	for _, q := range c.Queries {
		texts = append(texts, q.Text)
	}
	for _, c := range c.Chunks {
		texts = append(texts, c.Text)
		if n := len(s.scope.Paths); n == 0 || s.scope.Paths[n-1] != c.File {
			s.scope.Paths = append(s.scope.Paths, c.File)
		}
		s.scope.Chunks = append(s.scope.Chunks, ranking.Chunk{File: len(s.scope.Paths) - 1, Line: c.Line, End: c.EndLine, Terms: ranking.Terms(c.Text)})
	}
	e, err := embed.New(context.Background(), embed.Options{FS: minilm.FS, Precision: minilm.Precision})
	if err != nil {
		return nil, err
	}
	vectors, err := e.Encode(context.Background(), texts)
	if err := errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	s.scope.Unrelated = unrelated(vectors[:len(apart)])
	s.queries = vectors[len(apart):][:len(c.Queries)]
	s.chunks = vectors[len(apart)+len(c.Queries):]
	return s, nil
}

func cosines(query []float32, vectors [][]float32) []float32 {
	all := make([]float32, len(vectors))
	for i, v := range vectors {
		all[i] = embed.Cosine(query, v)
	}
	return all
}

// rank of a query is the place, from 1, of the first result in a file that
// answers it, 0 if there is none.
func (s *corpusSearch) rank(query int, by ranking.Method, top int) int {
	scope := s.scope
	scope.Cosines = cosines(s.queries[query], s.chunks)
	q := s.Queries[query]
	return 1 + slices.IndexFunc(scope.Rank(ranking.ParseQuery(q.Text), ranking.Options{By: by, Top: top}), func(r ranking.Result) bool {
		return slices.Contains(q.Files, scope.Paths[scope.Chunks[r.Chunk].File])
	})
}

// Vectors of our model, which computes in 8-bit integers, rank passages as
// exact ones do: of the ten best, most are the same.
func TestCorpusVectors(t *testing.T) {
	s := searchedCorpus(t)
	exact := make([][]float32, len(s.Chunks))
	for i, c := range s.Chunks {
		exact[i] = c.Vector
	}
	const best = 10
	first := func(cosines []float32) []int {
		order := make([]int, len(cosines))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
		return order[:best]
	}
	same := 0
	for i, q := range s.Queries {
		theirs := first(cosines(q.Vector, exact))
		for _, c := range first(cosines(s.queries[i], s.chunks)) {
			if slices.Contains(theirs, c) {
				same++
			}
		}
	}
	overlap := float64(same) / float64(best*len(s.Queries))
	t.Logf("top-%d overlap %.3f", best, overlap)
	if overlap < 0.93 {
		t.Errorf("overlap %.3f of the ten best with those of exact vectors, want at least 0.93", overlap)
	}
}

// Words and meaning together find the right file more often than either alone.
func TestCorpusRecall(t *testing.T) {
	s := searchedCorpus(t)
	const few, deep = 5, 10
	type figures struct {
		queries, first, few int
		reciprocal          float64
	}
	all := map[ranking.Method]figures{}
	var table strings.Builder
	for _, kind := range []corpus.Kind{corpus.Paraphrase, corpus.Identifier, corpus.Markdown, "all"} {
		for _, by := range ranking.Methods {
			var f figures
			for i, q := range s.Queries {
				if kind != "all" && q.Kind != kind {
					continue
				}
				f.queries++
				switch s.rank(i, by, few) {
				case 0:
				case 1:
					f.first++
					fallthrough
				default:
					f.few++
				}
				if r := s.rank(i, by, deep); r > 0 {
					f.reciprocal += 1 / float64(r)
				}
			}
			fmt.Fprintf(&table, "\n%-10s %-8s %2d queries: first %2d, among %d %2d, MRR at %d %.3f", kind, by, f.queries, f.first, few, f.few, deep, f.reciprocal/float64(f.queries))
			all[by] = f // the last: of all queries
		}
	}
	t.Log(table.String())
	hybrid, vectors, words := all[ranking.Hybrid], all[ranking.Vectors], all[ranking.Words]
	if hybrid.few < 45 || hybrid.few < words.few+3 || hybrid.few < vectors.few+3 {
		t.Errorf("hybrid finds %d files among %d results: want at least 45, and 3 more than words (%d) and vectors (%d)", hybrid.few, few, words.few, vectors.few)
	}
	if hybrid.first < vectors.first+3 || hybrid.first < words.first+3 {
		t.Errorf("hybrid has %d files in the first place: want 3 more than vectors (%d) and words (%d)", hybrid.first, vectors.first, words.first)
	}
}
