package digits

import (
	"context"

	"github.com/sinterml/sinter/train"
)

// Runner trains by options: train.Run, or what stands around it.
type Runner func(ctx context.Context, o train.Options) error

// Judge trains a net for each part of the folds, with the rows of the others,
// and counts what each finds in its own part.
func (r Recipe) Judge(ctx context.Context, s *Set, f Folds, seed int64, run func(part int) Runner) (train.Confusion, error) {
	counts := make(train.Confusion, Classes)
	for i := range counts {
		counts[i] = make([]int, Classes)
	}
	for part := range f.Count {
		rest, own := f.Split(part)
		n, err := r.Train(ctx, s, rest, seed*int64(f.Count)+int64(part), run(part))
		if err != nil {
			return nil, err
		}
		found, err := Classify(ctx, n, s, own)
		if err != nil {
			return nil, err
		}
		for i, row := range own {
			counts[s.Labels[row]][found[i]]++
		}
	}
	return counts, nil
}

// Train makes a net and trains it with some rows of a set.
func (r Recipe) Train(ctx context.Context, s *Set, rows []int, seed int64, run Runner) (*Net, error) {
	n, err := NewNet(seed)
	if err != nil {
		return nil, err
	}
	o, err := r.options(n, s, rows)
	if err != nil {
		return nil, err
	}
	o.Seed = seed
	return n, run(ctx, o)
}
