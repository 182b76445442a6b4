package keep

import (
	"context"
	"sync"
)

// Rules are what a device does with results that it keeps. A nil function does
// nothing.
type Rules[B Result] struct {
	Retain func(B) // for one who uses it, and closes it afterwards
}

// Result is memory that constant kernels wrote.
type Result interface {
	Size() int // bytes
	Close() error
}

// Results are those of a recipe for one set of weights, or are to be.
type Results[B Result] struct {
	rules *Rules[B]
	turn  chan struct{} // holds a token while someone computes

	mu   sync.Mutex
	made []B
	have bool
	gone bool // nobody finds them any more
}

// NewResults has none yet.
func NewResults[B Result](rules *Rules[B]) *Results[B] {
	return &Results[B]{rules: rules, turn: make(chan struct{}, 1)}
}

// Known gives the results if they have been computed and not been dropped.
func (r *Results[B]) Known() ([]B, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.have {
		r.retain(r.made)
	}
	return r.made, r.have
}

func (r *Results[B]) retain(all []B) {
	if r.rules.Retain != nil {
		for _, b := range all {
			r.rules.Retain(b)
		}
	}
}

// get computes the results unless that has been done. Many may ask at once: one
// computes while the others wait. If it fails, or is cancelled, the next tries.
func (r *Results[B]) get(ctx context.Context, compute func() ([]B, error)) ([]B, error) {
	if made, ok := r.Known(); ok {
		return made, nil
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if made, ok := r.Known(); ok {
		return made, nil
	}
	made, err := compute()
	if err != nil {
		return nil, err
	}
	return made, r.store(made)
}

// store keeps what was computed, unless it was dropped meanwhile: then it is for
// this one use.
func (r *Results[B]) store(made []B) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retain(made)
	switch {
	case !r.gone:
		r.made, r.have = made, true
	case r.rules.Retain != nil: // else the garbage collector finds them
		return closeAll(made)
	}
	return nil
}

// drop frees the results, whose device may have others that use them.
func (r *Results[B]) drop() {
	r.mu.Lock()
	made := r.made
	r.made, r.have, r.gone = nil, false, true
	r.mu.Unlock()
	_ = closeAll(made)
}

func closeAll[B Result](all []B) error {
	var first error
	for _, b := range all {
		if err := b.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Last is what a recipe gave for the weights of the last run. Its zero value
// knows of none.
type Last[B Result] struct {
	weights []uint64 // numbers of their buffers
	from    *Results[B]
}

// Known gives the results if the weights are those of the last run: they are
// bound, so that what is kept with them is there.
func (l *Last[B]) Known(weights func(i int) (*Owner, uint64)) ([]B, bool) {
	if l.from == nil {
		return nil, false
	}
	for i, number := range l.weights {
		if _, now := weights(i); now != number {
			return nil, false
		}
	}
	return l.from.Known()
}

// Find finds or computes the results of a recipe for these weights, with the
// numbers that they had when the run began: a recipe may read what others made of
// the values of then. h is the program, which stands in for weights where there
// are none.
func (l *Last[B]) Find(ctx context.Context, rules *Rules[B], r *Recipe, weights func(i int) (*Owner, uint64), h *Holder, compute func() ([]B, error)) ([]B, error) {
	l.weights = l.weights[:0]
	var from []*Owner
	for i := range r.Leaves {
		o, number := weights(i)
		from, l.weights = append(from, o), append(l.weights, number)
	}
	numbers := l.weights
	if len(from) == 0 {
		from, numbers = append(from, &h.Owner), []uint64{h.Number()}
	}
	k := h.findAs(from, numbers, r.What, func() any { return NewResults(rules) })
	l.from = k.Value.(*Results[B])
	made, err := l.from.get(ctx, compute)
	bytes := 0
	for _, b := range made {
		bytes += b.Size()
	}
	k.Takes(bytes)
	return made, err
}
