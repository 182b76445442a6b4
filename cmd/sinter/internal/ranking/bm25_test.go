package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plainBM25 is the formula in BM25's comment, over texts.
func plainBM25(query string, paths, texts []string, file []int) (scores []float64, most float64) {
	split := func(text string) []string { return strings.Fields(terms(text)) }
	asked := split(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	average := 0.0
	for _, text := range texts {
		average += float64(len(split(text))) / float64(len(texts))
	}
	scores = make([]float64, len(texts))
	for _, term := range asked {
		counts := make([]float64, len(texts))
		named := make([]bool, len(texts))
		n := 0.0
		for i, text := range texts {
			for _, s := range split(text) {
				if s == term {
					counts[i]++
				}
			}
			named[i] = slices.Contains(split(paths[file[i]]), term)
			if counts[i] > 0 || named[i] {
				n++
			}
		}
		idf := math.Log(1 + (float64(len(texts))-n+0.5)/(n+0.5))
		most += idf
		for i, text := range texts {
			w := counts[i] / (1 - 0.5 + 0.5*float64(len(split(text)))/average)
			if named[i] {
				w++
			}
			scores[i] += idf * w / (1.2 + w)
		}
	}
	return scores, most
}

func TestBM25(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	vocabulary := strings.Fields("read file readFile os.Open error wrapped cache of_all time 日本 utf8 walking trees hidden index")
	text := func(most int) string {
		var words []string
		for range 1 + r.IntN(most) {
			words = append(words, vocabulary[r.IntN(1+r.IntN(len(vocabulary)))])
		}
		return strings.Join(words, " ")
	}
	for range 50 {
		var paths, texts []string
		for range 1 + r.IntN(6) {
			paths = append(paths, strings.ReplaceAll(text(3), " ", "/")+".go")
		}
		var chunks []Chunk
		var file []int
		for range 1 + r.IntN(30) {
			texts = append(texts, text(60))
			file = append(file, r.IntN(len(paths)))
			chunks = append(chunks, Chunk{File: file[len(file)-1], Terms: Terms(texts[len(texts)-1])})
		}
		query := text(5) + " nowhere"
		got := BM25(ParseQuery(query), paths, chunks)
		want, most := plainBM25(query, paths, texts, file)
		if !(math.Abs(float64(got.Most)-most) <= 1e-5*most) {
			t.Fatalf("%q: at most %v, want %v", query, got.Most, most)
		}
		for i := range want {
			if !(math.Abs(float64(got.Scores[i])-want[i]) <= 1e-5*most) || got.Scores[i] >= got.Most {
				t.Fatalf("%q in %q: %v, want %v", query, texts[i], got.Scores[i], want[i])
			}
		}
	}
}

func TestBM25WithoutTerms(t *testing.T) {
	chunks := []Chunk{{}, {Terms: []byte("none")}, {Terms: Terms("read")}}
	if w := BM25(ParseQuery("read"), []string{"a"}, chunks); w.Scores[0] != 0 || w.Scores[1] != 0 || w.Scores[2] <= 0 {
		t.Errorf("%+v", w)
	}
	if w := BM25(ParseQuery("?"), []string{"a"}, chunks); w.Most != 0 || len(w.Scores) != 3 {
		t.Errorf("%+v", w)
	}
	if w := BM25(ParseQuery("read"), []string{"read"}, chunks[:1]); !(w.Scores[0] > 0) || math.IsNaN(float64(w.Scores[0])) {
		t.Errorf("a name alone: %+v", w)
	}
	if w := BM25(ParseQuery("read"), nil, nil); len(w.Scores) != 0 {
		t.Errorf("%+v", w)
	}
}

// benchmarkScope is 100,000 passages of about 60 different terms in 10,000
// files.
func benchmarkScope() (q Query, s Scope, different int) {
	r := rand.New(rand.NewPCG(5, 6))
	word := func() string { // the n-th with probability 1/n
		n := int(math.Exp(r.Float64() * math.Log(20_000)))
		return "w" + strings.Map(func(c rune) rune { return c - '0' + 'a' }, strconv.Itoa(n))
	}
	for i := range 100_000 {
		if i%10 == 0 {
			s.Paths = append(s.Paths, fmt.Sprintf("folder%d/%s/%s.go", i/100, word(), word()))
		}
		var text strings.Builder
		for range 75 {
			text.WriteString(word())
			text.WriteByte(' ')
		}
		s.Chunks = append(s.Chunks, Chunk{File: i / 10, Line: i % 10, End: i % 10, Terms: Terms(text.String())})
		s.Cosines = append(s.Cosines, r.Float32()/2)
		different += len(parse(s.Chunks[i].Terms).counts)
	}
	return ParseQuery("how does " + word() + " read " + word() + " of the " + word()), s, different
}

func BenchmarkBM25(b *testing.B) {
	q, s, different := benchmarkScope()
	for b.Loop() {
		BM25(q, s.Paths, s.Chunks)
	}
	b.ReportMetric(float64(different)/float64(len(s.Chunks)), "terms/chunk")
}

func BenchmarkRank(b *testing.B) {
	q, s, _ := benchmarkScope()
	for b.Loop() {
		s.Rank(q, Options{Top: 10})
	}
}
