package main

import (
	"context"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/embed"
)

// rankFlags say how passages are ranked.
type rankFlags struct {
	by    string
	least float32
}

func (f *rankFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.by, "rank", string(ranking.Hybrid), "rank by `METHOD`: vectors (meaning), words (BM25), or hybrid, both")
	set.Float32Var(&f.least, "min-score", 0, "show no passage with a score below `S`, where 0 is nothing in common and 1 the most possible; with --rank vectors a cosine")
}

// options are what the flags ask for.
func (f *rankFlags) options(top int) (ranking.Options, error) {
	o := ranking.Options{By: ranking.Method(f.by), Top: top, Least: f.least}
	if !slices.Contains(ranking.Methods, o.By) {
		return o, usagef("--rank %q: use hybrid, vectors or words", f.by)
	}
	if f.least > 1 || f.least < -1 || math.IsNaN(float64(f.least)) {
		return o, usagef("--min-score %v: no score is above 1 or below -1", f.least)
	}
	return o, nil
}

// warnQuery tells of a query whose end the model does not read.
func (a *app) warnQuery(q query, e *encoder) {
	most := e.MaxTokens()
	if q.rank.By == ranking.Words || most <= 0 {
		return
	}
	if prompt := e.QueryPrompt(); len(e.Tokens(prompt+q.text, most+1)) > most {
		a.warn("the query is cut to the %d tokens that the model takes, as far as its meaning goes", most)
	}
}

// rank finds the passages of an index that answer a query.
func rank(ctx context.Context, e *encoder, x *index, q query) ([]found, error) {
	scope, err := scopeOf(ctx, e, x, q)
	if err != nil {
		return nil, err
	}
	var ranked []ranking.Result
	if err := x.guard(func() { ranked = scope.Rank(ranking.ParseQuery(q.text), q.rank) }); err != nil {
		return nil, err
	}
	results := []found{} // not nil, which JSON has as null
	for _, r := range ranked {
		c := scope.Chunks[r.Chunk]
		text, err := x.text(r.Chunk)
		if err != nil { // it has changed, or gone, within this search
			continue
		}
		f := found{Path: scope.Paths[c.File], Line: c.Line, EndLine: c.End, Score: r.Score, BM25: r.BM25, Text: text}
		if r.Cosine == r.Cosine {
			f.Cosine = &r.Cosine
		}
		if q.show.needsLines() {
			lines, err := x.lines(c.File)
			if err != nil {
				return nil, err
			}
			f.place(lines, q.show.context)
		}
		results = append(results, f)
	}
	return results, nil
}

// scopeOf embeds what the way of ranking needs.
func scopeOf(ctx context.Context, e *encoder, x *index, q query) (ranking.Scope, error) {
	if q.rank.By == ranking.Words {
		return x.scope(ctx, nil, nil)
	}
	vectors, err := e.EncodeQuery(ctx, []string{q.text})
	if err != nil {
		return ranking.Scope{}, err
	}
	scope, err := x.scope(ctx, e.device, vectors[0])
	if err != nil || q.rank.By == ranking.Vectors {
		return scope, err
	}
	if vectors, err = e.EncodePassage(ctx, apart); err != nil {
		return scope, err
	}
	scope.Unrelated = unrelated(vectors)
	return scope, nil
}

// apart are texts about things that have nothing to do with each other.
var apart = []string{
	"Whisk two eggs with the sugar until the mixture is pale and thick.",
	"The parliament adopted the budget after a long debate on pensions.",
	"for i := range rows { total += rows[i].price * rows[i].count }",
	"Glaciers carve wide valleys and leave moraines where they melt.",
	"The defender was sent off shortly before half-time.",
	"## Installation\n\nDownload the archive, unpack it and run the setup script.",
	"Her grandmother's violin had been silent since the war.",
	"The patient should take one tablet in the morning with a glass of water.",
	"fatal: connection refused by 10.0.0.7, retrying in 30 seconds",
	"Photosynthesis turns carbon dioxide and water into glucose and oxygen.",
}

// unrelated is the cosine that a model gives texts without anything in common:
// about 0 with some, 0.7 with others. It is the mean over all pairs of vectors.
func unrelated(vectors [][]float32) float32 {
	sum, pairs := float32(0), float32(0)
	for i, v := range vectors {
		for _, w := range vectors[:i] {
			sum += embed.Cosine(v, w)
			pairs++
		}
	}
	const most = 0.99 // a model that tells nothing apart
	return min(sum/pairs, most)
}
