package ranking

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Method is what passages are ranked by.
type Method string

const (
	Hybrid  Method = "hybrid"  // both of the below
	Vectors Method = "vectors" // the cosine of a passage's vector with the query's
	Words   Method = "words"   // BM25
)

// Methods are all there are.
var Methods = []Method{Hybrid, Vectors, Words}

// Scope is the passages that a search looks at.
type Scope struct {
	Paths  []string // of files
	Chunks []Chunk
	// Cosines of the chunks' vectors with the query's. NaN: the chunk has no
	// vector yet; nil: none has.
	Cosines []float32
	// Unrelated is the cosine of texts that have nothing to do with each other,
	// which is far from 0 with some models.
	Unrelated float32
}

// Options are for Rank.
type Options struct {
	By      Method  // "": Hybrid
	Top     int     // results at most
	Least   float32 // score of a result; 0: any
	OneEach bool    // one result a file, where otherwise a few come
}

// Result is a passage that answers.
type Result struct {
	Chunk  int     // of the scope
	Score  float32 // what it is ranked by
	Cosine float32 // NaN: unknown
	BM25   float32
}

// wordsWeight is the share of words in a hybrid score. On the evaluation corpus
// anything from 0.2 to 0.45 finds the same number of files among five results.
const wordsWeight = 0.3

// scores gives every chunk a score to compare it with others by.
//
// The hybrid score is a convex combination of two numbers that are both 0 for
// what has nothing in common with the query and 1 for what cannot have more:
//
//	(1 - wordsWeight) · (cosine - unrelated) / (1 - unrelated) + wordsWeight · BM25 / its bound
//
// Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval"
// (2023), find such combinations better than reciprocal ranks, which forget how
// much better one passage is than the next, their one parameter easy to set, and
// a greater weight of vectors best. Both bounds are known without looking at
// other passages: a score says something about a passage alone, so that a least
// score can be asked for.
//
// A chunk without a vector counts as unrelated. Where no chunk has one, or the
// query has no words, the other number is the score.
func (s Scope) scores(by Method, words Matches) []float32 {
	scores := make([]float32, len(s.Chunks))
	for i := range scores {
		switch {
		case by == Vectors:
			scores[i] = s.cosine(i)
		case by == Words:
			scores[i] = words.Scores[i] / words.Most
		case words.Most == 0:
			scores[i] = s.meaning(i)
		default:
			scores[i] = (1-wordsWeight)*s.meaning(i) + wordsWeight*words.Scores[i]/words.Most
		}
	}
	return scores
}

// method is how to rank: hybrid is by words where there are no vectors.
func (s Scope) method(by Method) Method {
	by = cmp.Or(by, Hybrid)
	known := func(c float32) bool { return c == c }
	if by == Hybrid && !slices.ContainsFunc(s.Cosines, known) {
		return Words
	}
	return by
}

func (s Scope) cosine(chunk int) float32 {
	if s.Cosines == nil {
		return float32(math.NaN())
	}
	return s.Cosines[chunk]
}

// meaning is the cosine of a chunk on a scale that all models share.
func (s Scope) meaning(chunk int) float32 {
	c := s.Cosines[chunk]
	if c != c {
		return 0
	}
	return (c - s.Unrelated) / (1 - s.Unrelated)
}

// perFile is how many passages of a file are shown while others have some.
const perFile = 2

// Rank finds the best passages, best first; equals are in the order of their
// paths and lines. Passages that overlap a better one are left out, and those
// of a file beyond perFile come only where others are too few. By Words, what
// shares none with the query is left out; by Vectors, what has no vector.
func (s Scope) Rank(q Query, o Options) []Result {
	by := s.method(o.By)
	words := Matches{Scores: make([]float32, len(s.Chunks))}
	if by != Vectors {
		words = BM25(q, s.Paths, s.Chunks)
	}
	r := ranked{scope: s, scores: s.scores(by, words)}
	for i, score := range r.scores {
		answers := score == score && (by != Words || score > 0)
		if answers && (o.Least == 0 || score >= o.Least) {
			r.chunks = append(r.chunks, int32(i))
		}
	}
	heap.Init(&r)
	many := perFile
	if o.OneEach {
		many = 1
	}
	chosen := map[int][]Chunk{} // by file
	var first, rest []Result
	for len(r.chunks) > 0 && len(first) < o.Top {
		i := int(heap.Pop(&r).(int32))
		c := s.Chunks[i]
		have := chosen[c.File]
		if o.OneEach && len(have) > 0 || slices.ContainsFunc(have, c.overlaps) {
			continue
		}
		chosen[c.File] = append(have, c)
		result := Result{i, r.scores[i], s.cosine(i), words.Scores[i]}
		if len(have) < many {
			first = append(first, result)
		} else if len(rest) < o.Top {
			rest = append(rest, result)
		}
	}
	first = append(first, rest[:min(len(rest), o.Top-len(first))]...)
	slices.SortFunc(first, func(a, b Result) int { return r.compare(a.Chunk, b.Chunk) })
	return first
}

func (c Chunk) overlaps(o Chunk) bool { return c.Line <= o.End && o.Line <= c.End }

// ranked is a heap of chunks, the best on top: few are asked for of many.
type ranked struct {
	scope  Scope
	scores []float32
	chunks []int32
}

func (r *ranked) compare(a, b int) int {
	if c := cmp.Compare(r.scores[b], r.scores[a]); c != 0 { // as nearly always
		return c
	}
	x, y := &r.scope.Chunks[a], &r.scope.Chunks[b]
	return cmp.Or(
		cmp.Compare(r.scope.Paths[x.File], r.scope.Paths[y.File]),
		cmp.Compare(x.Line, y.Line),
		cmp.Compare(a, b),
	)
}

func (r *ranked) Len() int           { return len(r.chunks) }
func (r *ranked) Less(i, j int) bool { return r.compare(int(r.chunks[i]), int(r.chunks[j])) < 0 }
func (r *ranked) Swap(i, j int)      { r.chunks[i], r.chunks[j] = r.chunks[j], r.chunks[i] }
func (r *ranked) Push(x any)         { r.chunks = append(r.chunks, x.(int32)) }
func (r *ranked) Pop() any {
	last := len(r.chunks) - 1
	c := r.chunks[last]
	r.chunks = r.chunks[:last]
	return c
}
