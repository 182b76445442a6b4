// Package ranking puts passages in order for a question: by the words they
// share with it (BM25), by the meaning of both (cosines of vectors), or both.
package ranking

import (
	"math"
	"path/filepath"
	"strings"
)

// The free parameters of BM25, of the ranges that Robertson and Zaragoza call
// reasonable for most collections (1.2 < k1 < 2, 0.5 < b < 0.8). The lower end
// of b is for texts whose length says little: passages are cut to be about equal.
const (
	k1 = 1.2
	b  = 0.5
	// inPath is the weight of a term in the path of a file, beside one for an
	// occurrence in a passage of average length.
	inPath = 1
)

// Chunk is a passage in the scope of a search.
type Chunk struct {
	File      int // of the paths that come with the chunks
	Line, End int
	Terms     []byte // made by Terms; none: nothing is known of its words
}

// Matches is how well passages match the words of a query.
type Matches struct {
	Scores []float32 // BM25, at least 0, below Most
	Most   float32   // of a passage that says nothing but what is asked, again and again
}

// BM25 scores chunks by the terms they share with a query, after Robertson and
// Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
// equation 3.15, with the path of the file as a second field whose length does
// not count (BM25F, section 3.6):
//
//	score = Σ idf(t) · w(t) / (k1 + w(t))
//	w(t)  = count(t) / (1 - b + b · length / average length) + inPath, if t is in the path
//	idf(t) = ln(1 + (N - n(t) + 1/2) / (n(t) + 1/2))
//
// N, n and the average are of the chunks given, which makes scores depend on
// nothing but the scope of the search. The sum of all idf bounds the score. All
// records are read one after the other: that is exact for any scope, needs no
// index besides them, and takes less time than embedding the query.
func BM25(q Query, paths []string, chunks []Chunk) Matches {
	m := Matches{Scores: make([]float32, len(chunks))}
	if q.Empty() || len(chunks) == 0 {
		return m
	}
	named := newPathTerms(q, paths)
	type hit struct {
		chunk, term int32
		count       float32
	}
	var hits []hit
	holding := make([]int, len(q.terms))    // chunks with a term
	lengths := make([]float32, len(chunks)) //
	known, total := 0, 0.0                  // chunks with a record, and their length
	for i, c := range chunks {
		r := parse(c.Terms)
		lengths[i] = r.length
		if r.length > 0 {
			known++
			total += float64(r.length)
		}
		for t, h := range q.terms {
			n := r.count(h)
			if n > 0 || named.in(c.File, t) {
				hits = append(hits, hit{int32(i), int32(t), n})
				holding[t]++
			}
		}
	}
	average := float32(total / float64(max(known, 1)))
	idf := make([]float32, len(q.terms))
	for t, n := range holding {
		idf[t] = float32(math.Log1p((float64(len(chunks)-n) + 0.5) / (float64(n) + 0.5)))
		m.Most += idf[t]
	}
	for _, h := range hits {
		weight := h.count
		if weight > 0 {
			weight /= 1 - b + b*lengths[h.chunk]/average
		}
		if named.in(chunks[h.chunk].File, int(h.term)) {
			weight += inPath
		}
		m.Scores[h.chunk] += idf[h.term] * weight / (k1 + weight)
	}
	return m
}

// pathTerms says which terms of a query are in the path of each file.
type pathTerms struct {
	terms int
	found []bool // for each file, for each term
}

func newPathTerms(q Query, paths []string) pathTerms {
	p := pathTerms{len(q.terms), make([]bool, len(paths)*len(q.terms))}
	index := make(map[uint32]int, len(q.terms))
	for i, t := range q.terms {
		index[t] = i
	}
	folders := map[string][]int{} // terms found in a folder's name
	find := func(text string) (found []int) {
		eachTerm(text, func(term []byte) {
			if t, ok := index[hash(term)]; ok {
				found = append(found, t)
			}
		})
		return found
	}
	for i, path := range paths {
		dir, name := splitPath(path)
		found, ok := folders[dir]
		if !ok {
			found = find(dir)
			folders[dir] = found
		}
		for _, t := range append(found[:len(found):len(found)], find(name)...) {
			p.found[i*p.terms+t] = true
		}
	}
	return p
}

// splitPath cuts a path before its last part. Folders that all files are in
// need no care: what all chunks have weighs next to nothing.
func splitPath(path string) (dir, name string) {
	path = filepath.ToSlash(path)
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at], path[at:]
}

func (p pathTerms) in(file, term int) bool { return p.found[file*p.terms+term] }
