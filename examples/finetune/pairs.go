package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed pairs/train.tsv
var trainPairs string

//go:embed pairs/heldout.tsv
var heldOutPairs string

// pair is a text and what should be found by it: a sentence about a function,
// and the function's declaration.
type pair struct{ query, answer string }

// readPairs reads lines of answer, tab, query.
func readPairs(file string) ([]pair, error) {
	var all []pair
	for i, line := range strings.Split(strings.TrimSpace(file), "\n") {
		answer, query, ok := strings.Cut(line, "\t")
		if !ok || strings.Contains(query, "\t") {
			return nil, fmt.Errorf("line %d of the pairs: want two texts with a tab between", i+1)
		}
		all = append(all, pair{query, answer})
	}
	return all, nil
}

// retrieval is how well each query finds its own answer among all, by cosine.
type retrieval struct {
	first float64 // share of queries whose answer comes first
	rank  float64 // mean of 1 / rank of the answer
}

func (r retrieval) String() string {
	return fmt.Sprintf("first hit right %.1f %%, mean reciprocal rank %.3f", 100*r.first, r.rank)
}

// judge compares vectors of unit length.
func judge(queries, answers [][]float32) retrieval {
	var r retrieval
	for i, q := range queries {
		own, rank := dot(q, answers[i]), 1
		for j, a := range answers {
			if j != i && dot(q, a) > own {
				rank++
			}
		}
		if rank == 1 {
			r.first++
		}
		r.rank += 1 / float64(rank)
	}
	n := float64(len(queries))
	return retrieval{r.first / n, r.rank / n}
}

func dot(a, b []float32) float32 {
	sum := float32(0)
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
