package ranking

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

var unknown = float32(math.NaN())

// scopeOf puts texts into a file each, a number of lines apart.
func scopeOf(cosines []float32, texts ...string) Scope {
	s := Scope{Cosines: cosines}
	for i, text := range texts {
		s.Paths = append(s.Paths, fmt.Sprintf("f%d", i))
		s.Chunks = append(s.Chunks, Chunk{File: i, Line: 1, End: 1, Terms: Terms(text)})
	}
	return s
}

func order(results []Result) string {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%d ", r.Chunk)
	}
	return strings.TrimSpace(b.String())
}

func TestRankMethods(t *testing.T) {
	texts := []string{"nothing of it", "walk the tree", "trees and forests", "walking"}
	cosines := []float32{0.1, 0.2, 0.9, unknown}
	for _, c := range []struct {
		by      Method
		query   string
		cosines []float32
		want    string
	}{
		{Vectors, "walk", cosines, "2 1 0"},
		{Words, "walk", cosines, "3 1"},
		{Hybrid, "walk", cosines, "2 1 3 0"},
		{"", "walking trees", cosines, "2 1 3 0"},
		{Hybrid, "?", cosines, "2 1 0 3"},
		{Hybrid, "walk", nil, "3 1"},
		{Hybrid, "walk", []float32{unknown, unknown, unknown, unknown}, "3 1"},
		{Hybrid, "?", nil, ""},
		{Words, "?", cosines, ""},
		{Vectors, "walk", nil, ""},
	} {
		got := scopeOf(c.cosines, texts...).Rank(ParseQuery(c.query), Options{By: c.by, Top: 10})
		if order(got) != c.want {
			t.Errorf("%s %q: %s, want %s", c.by, c.query, order(got), c.want)
		}
	}
}

// A score is 0 for what has nothing in common with a query, whatever the
// model's cosines are, and close to 1 for the query itself.
func TestScores(t *testing.T) {
	s := scopeOf([]float32{0.7, 1, 0.85}, "water", "walk tree", "earth")
	s.Unrelated = 0.7
	r := s.Rank(ParseQuery("walk tree"), Options{Top: 3})
	if order(r) != "1 2 0" || !(r[0].Score >= 0.6 && r[0].Score <= 1) || !(math.Abs(float64(r[1].Score)-0.35) <= 1e-6) || !(math.Abs(float64(r[2].Score)) <= 1e-6) {
		t.Errorf("%+v", r)
	}
	if r[0].Cosine != 1 || r[1].BM25 != 0 || r[0].BM25 <= 0 {
		t.Errorf("%+v", r)
	}
	if r := s.Rank(ParseQuery("walk tree"), Options{Top: 3, Least: 0.2}); order(r) != "1 2" {
		t.Errorf("%+v", r)
	}
	if r := s.Rank(ParseQuery("walk tree"), Options{Top: 3, By: Vectors, Least: 0.86}); order(r) != "1" || r[0].Score != 1 {
		t.Errorf("%+v", r)
	}
	if r := s.Rank(ParseQuery("walk tree"), Options{Top: 3, By: Words}); len(r) != 1 || r[0].Score <= 0.3 || r[0].Score >= 1 {
		t.Errorf("%+v", r)
	}
}

func TestDiversity(t *testing.T) {
	s := Scope{Paths: []string{"b", "a"}}
	for _, c := range []struct {
		file, line, end int
		cosine          float32
	}{
		{0, 1, 5, 0.9}, {0, 5, 9, 0.8}, {0, 6, 9, 0.7}, {0, 10, 12, 0.6}, // the second overlaps the first
		{0, 20, 21, 0.5}, {1, 7, 8, 0.4}, {1, 1, 2, 0.4}, {0, 30, 31, 0.4},
	} {
		s.Chunks = append(s.Chunks, Chunk{File: c.file, Line: c.line, End: c.end})
		s.Cosines = append(s.Cosines, c.cosine)
	}
	for _, c := range []struct {
		top  int
		each bool
		want string
	}{
		{0, false, ""}, {2, false, "0 2"}, {3, false, "0 2 6"}, {4, false, "0 2 6 5"}, // equals by path and line
		{5, false, "0 2 3 6 5"}, {9, false, "0 2 3 4 6 5 7"}, {9, true, "0 6"},
	} {
		if got := order(s.Rank(Query{}, Options{By: Vectors, Top: c.top, OneEach: c.each})); got != c.want {
			t.Errorf("top %d, one each %v: %s, want %s", c.top, c.each, got, c.want)
		}
	}
}
