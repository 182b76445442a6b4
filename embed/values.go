package embed

import (
	"context"
	"errors"
	"slices"

	"github.com/sinterml/sinter"
)

// weights are those of a model: what became of the files they lie in.
type weights interface {
	Intact() error
	Fault(err error) error
	CheckFinite() error
}

// runValues runs a program of one output. Values that are no numbers, as damaged
// weights give, are an error, and so are those that were computed of a file
// that was changed meanwhile.
func runValues(ctx context.Context, p *sinter.Program, w weights, in map[string]sinter.Tensor) ([]float32, error) {
	out, err := p.Run(ctx, in)
	if err != nil {
		_ = w.Intact() // notes a change that may be undone by the next run
		return nil, w.Fault(err)
	}
	defer out[0].Release()
	values, err := sinter.Values[float32](ctx, out[0])
	if err != nil {
		return nil, err
	}
	if err := w.Intact(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(values, func(v float32) bool { return v-v != 0 }) { // infinity less itself is NaN
		return values, nil
	}
	if err := w.CheckFinite(); err != nil {
		return nil, err
	}
	return nil, errors.New("embed: the model gives values that are no numbers, though its weights are: it overflows or divides by zero")
}
