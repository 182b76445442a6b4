package embed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model"
)

// Reranker scores texts by how well they answer a query: a cross-encoder reads
// both at once, which tells more than comparing vectors, and takes a run for
// each pair. So it is for the best of a search. It serves any number of
// goroutines at once. The zero Reranker is an error when used.
type Reranker struct {
	model   *model.CrossEncoder
	program *sinter.Program
	batch   int
	uses    uses
}

var (
	errZeroReranker   = errors.New("embed: the zero Reranker scores nothing: make one with NewReranker")
	errClosedReranker = fmt.Errorf("embed: the reranker is %w", sinter.ErrClosed)
)

// NewReranker reads a cross-encoder and compiles it. Prompts and Dim are not
// among its options; where the model names a default prompt it stands before each query.
func NewReranker(ctx context.Context, o Options) (*Reranker, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if o.Prompt != "" || o.PromptText != "" || o.Dim != 0 {
		return nil, errors.New("embed: a Reranker has no prompts and no vectors: leave Options.Prompt, PromptText and Dim out")
	}
	if err := o.checkBatch(); err != nil {
		return nil, err
	}
	m, err := find(o, model.OpenCrossEncoder, model.OpenCrossEncoderFS)
	if err != nil {
		return nil, err
	}
	r := &Reranker{model: m}
	if err := r.prepare(ctx, o); err != nil {
		_ = m.Close()
		return nil, err
	}
	return r, nil
}

// prepare makes the program for an open model.
func (r *Reranker) prepare(ctx context.Context, o Options) error {
	if r.model.Tokenizer == nil {
		return errNoTokenizer
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tokens := sinter.Sym("tokens", 0, maxRows)
	in := model.Inputs{
		IDs:     sinter.Input("ids", sinter.I32, tokens),
		Offsets: sinter.Input("offsets", sinter.I32, sinter.Sym("pairs", 0, maxRows).Plus(1)),
	}
	if r.model.UsesTypes() {
		in.TypeIDs = sinter.Input("types", sinter.I32, tokens)
	}
	var err error
	if r.program, err = sinter.Compile(sinter.Capture(r.model.Forward(in)), o.compile()); err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if r.batch = o.BatchTokens; r.batch == 0 {
		r.batch = usualBatch(r.program.Info().Device)
	}
	return nil
}

func (r *Reranker) zero() bool { return r == nil || r.model == nil }

// MaxTokens is the length, special tokens included, that a query and a text
// together are cut to.
func (r *Reranker) MaxTokens() int {
	if r.zero() {
		return 0
	}
	return r.model.MaxTokens
}

// Bounded tells whether scores are between 0 and 1. Others are of any size;
// their sigmoid, 1/(1+exp(-score)), has the same order.
func (r *Reranker) Bounded() bool { return !r.zero() && r.model.Sigmoid }

// Close frees the program and the model once what runs has ended. Later calls
// are errors: sinter.ErrClosed.
func (r *Reranker) Close() error {
	if r.zero() {
		return errZeroReranker
	}
	if !r.uses.close() {
		return errClosedReranker
	}
	return errors.Join(r.program.Close(), r.model.Close())
}

// Scores gives a score for each text, in order: the higher, the better it
// answers the query, whatever the query. Each is the same, bit for bit, whatever the other texts
// are. Where both are too long together, the longer is cut first.
func (r *Reranker) Scores(ctx context.Context, query string, texts []string) ([]float32, error) {
	switch {
	case r.zero():
		return nil, errZeroReranker
	case ctx == nil:
		return nil, errNilContext
	case r.uses.ended(): // before texts are read
		return nil, errClosedReranker
	}
	pairs := make([]pair, len(texts))
	query = r.model.Prompt + query
	if r.model.LowerCase {
		query = lowerCase(query)
	}
	err := parallel(ctx, len(texts), func(i int) {
		text := texts[i]
		if r.model.LowerCase {
			text = lowerCase(text)
		}
		e := r.model.Tokenizer.EncodePairMax(query, text, r.model.MaxTokens)
		pairs[i] = pair{e.IDs, e.TypeIDs}
	})
	if err != nil {
		return nil, err
	}
	// The network's first state would be that of the next pair.
	if i := slices.IndexFunc(pairs, func(p pair) bool { return len(p.ids) == 0 }); i >= 0 {
		return nil, fmt.Errorf("embed: text %d and the query have no tokens, of which a score needs one: leave it out", i)
	}
	if !r.uses.begin() {
		return nil, errClosedReranker
	}
	defer r.uses.end()
	scores := make([]float32, 0, len(texts))
	for start := 0; start < len(pairs); {
		end, tokens := start, 0
		for end < len(pairs) && (end == start || tokens+len(pairs[end].ids) <= r.batch) {
			tokens += len(pairs[end].ids)
			end++
		}
		batch, err := r.run(ctx, pairs[start:end], tokens)
		if err != nil {
			return nil, fmt.Errorf("embed: texts %d to %d: %w", start, end-1, err)
		}
		scores = append(scores, batch...)
		start = end
	}
	return scores, nil
}

// pair is a query and a text as tokens.
type pair struct{ ids, types []int32 }

// run scores one batch.
func (r *Reranker) run(ctx context.Context, pairs []pair, tokens int) ([]float32, error) {
	ids, types := make([]int32, 0, tokens), make([]int32, 0, tokens)
	offsets := make([]int32, 1, len(pairs)+1)
	for _, p := range pairs {
		ids, types = append(ids, p.ids...), append(types, p.types...)
		offsets = append(offsets, int32(len(ids)))
	}
	in := map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}
	if r.model.UsesTypes() {
		in["types"] = sinter.Of(types, len(types))
	}
	return runValues(ctx, r.program, r.model, in)
}
