package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/hub"
)

// reranked is how many passages a second model reads: enough that what ranking
// has put too low comes up, few enough that a small model reads them within a
// second or two.
const reranked = 50

// rerankers are looked for in the hub cache where no other model is named.
var rerankers = []string{
	"cross-encoder/ms-marco-MiniLM-L6-v2", "cross-encoder/ms-marco-MiniLM-L-6-v2", "cross-encoder/ms-marco-MiniLM-L12-v2",
	"BAAI/bge-reranker-base", "Alibaba-NLP/gte-reranker-modernbert-base", "BAAI/bge-reranker-v2-m3",
}

// rerankFlags ask for a second model.
type rerankFlags struct {
	on    bool
	model string
}

func (f *rerankFlags) register(set *pflag.FlagSet) {
	set.BoolVar(&f.on, "rerank", false, "sort the best by a second model, a cross-encoder; scores are its, between 0 and 1")
	set.StringVar(&f.model, "rerank-model", "", "the second model, as --model has it; means --rerank (default one in the hub cache; $"+envRerankModel+")")
}

// rerankOptions say what the second model does; without one, model is "".
type rerankOptions struct {
	model string
	top   int
	least float32
}

// rerankOptions has the ranking give the second model enough to sort.
func (a *app) rerankOptions(q *query, f rerankFlags) error {
	given := a.origins["rerank-model"] != fromFile // a file only says which
	if !f.on && (f.model == "" || !given) {
		return nil
	}
	model := f.model
	if variable := a.env(envRerankModel); variable != "" && (model == "" || !given) {
		model = variable
	}
	for _, name := range rerankers {
		if model != "" {
			break
		}
		if _, err := hub.Find(name); err == nil {
			model = name
		}
	}
	if model == "" {
		return fmt.Errorf("--rerank wants a cross-encoder, and there is none in the hub cache: download %s, or name one by --rerank-model or %s", rerankers[0], envRerankModel)
	}
	q.rerank = rerankOptions{model, q.rank.Top, q.rank.Least}
	q.rank.Top, q.rank.Least = max(q.rank.Top, reranked), 0
	return nil
}

// reranker sorts what a search has found; nil leaves it as it is.
type reranker struct{ model *embed.Reranker }

func (a *app) openReranker(ctx context.Context, o rerankOptions, d *sinter.Device) (*reranker, error) {
	if o.model == "" {
		return nil, nil
	}
	r, err := embed.NewReranker(ctx, embed.Options{
		Model: o.model, Device: d, Precision: precisionOf(a.settings.dtype), Compile: sinter.Options{NoOpt: a.settings.noOpt},
	})
	if err != nil {
		return nil, fmt.Errorf("--rerank: %w", err)
	}
	return &reranker{r}, nil
}

func (r *reranker) close() error {
	if r == nil {
		return nil
	}
	return r.model.Close()
}

// sort gives results the scores of the second model, between 0 and 1 for each
// model, and keeps the best.
func (r *reranker) sort(ctx context.Context, q query, results []found) ([]found, error) {
	if r == nil {
		return results, nil
	}
	texts := make([]string, len(results))
	for i, f := range results {
		texts[i] = f.Text
	}
	scores, err := r.model.Scores(ctx, q.text, texts)
	if err != nil {
		return nil, fmt.Errorf("--rerank: %w", err)
	}
	for i, s := range scores {
		if !r.model.Bounded() {
			s = float32(1 / (1 + math.Exp(-float64(s))))
		}
		results[i].Score = s
	}
	slices.SortStableFunc(results, func(a, b found) int { return cmp.Compare(b.Score, a.Score) })
	results = results[:min(len(results), q.rerank.top)]
	if q.rerank.least > 0 {
		results = slices.DeleteFunc(results, func(f found) bool { return f.Score < q.rerank.least })
	}
	return results, nil
}
