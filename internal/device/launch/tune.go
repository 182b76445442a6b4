package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/tune"
)

// tuning is one run of a program that tries strategies for its kernels. It goes
// through the plan twice: to see where the time goes, and to try. Each kernel
// is tried when its turn has come, so it has what it reads, where it lies in
// every run.
type tuning struct {
	*session
	ctx    context.Context
	ask    *device.Tuning
	limits tune.Limits
	done   int // strategies tried
	total  int // of the tables of all kernels
}

// survey is what is known of a kernel before.
type survey struct {
	work    kernelWork
	seconds float64
	first   int     // the first kernel of the plan that is equal
	runs    int     // of first: how many are
	weight  float64 // of first: seconds of all of them
	share   float64 // of first: of the time to try; 0: it is not worth it
}

// negligible is the part of the program's time below which a kernel is left as it
// is.
const negligible = 0.002

// sharing deals out the time to try, whose sum it returns: half of it alike, as
// a driver may take as long to compile a kernel that is fast.
func sharing(kernels []survey) (sum float64) {
	total, count := 0.0, 0.0
	for i, k := range kernels {
		if k.first == i {
			total += k.weight
		}
	}
	worth := func(i int, k survey) bool { return k.first == i && k.weight > negligible*total }
	for i, k := range kernels {
		if worth(i, k) {
			count++
		}
	}
	for i, k := range kernels {
		if worth(i, k) {
			kernels[i].share = k.weight/total + 1/count
			sum += kernels[i].share
		}
	}
	return sum
}

// tune runs b and keeps what it finds for the programs that are compiled next.
// When the context is done it ends with what it has found by then.
func (s *session) tune(ctx context.Context, b *device.Bound) (err error) {
	if s.module.device.tuned.Load() == nil {
		return tune.ErrNowhere
	}
	b, put, err := s.aside(b)
	if err != nil {
		return err
	}
	defer func() { err = put(err) }()
	if err := s.bind(ctx, b); err != nil {
		return err
	}
	limits, err := s.module.device.limits(ctx)
	if err != nil {
		return err
	}
	t := &tuning{session: s, ctx: ctx, ask: b.Tune, limits: limits}
	kernels, err := t.survey()
	if err != nil {
		return err
	}
	if err := s.check(b); err != nil { // what was wrong with the data is so with every strategy
		return err
	}
	left := sharing(kernels)
	for i, k := range kernels {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		late := !t.ask.Until.IsZero() && time.Now().After(t.ask.Until)
		if k.share > 0 && !late {
			if err := t.kernel(i, k, k.share/left); err != nil {
				return fmt.Errorf("tuning kernel %s: %w", k.work.Name, err)
			}
			left -= k.share
			continue
		}
		if err := t.plain(i); err != nil {
			return err
		}
	}
	return s.check(b)
}

// aside is b with memory of its own for what would be written over old values,
// as kernels run many times. put, at the end, brings that to its place if all was
// well.
func (s *session) aside(b *device.Bound) (_ *device.Bound, put func(error) error, err error) {
	own := *b
	own.Outputs = slices.Clone(b.Outputs)
	made := map[int]*buffer{}
	put = func(err error) error {
		for o, from := range made {
			if err == nil {
				if err = s.module.device.Copy(context.Background(), b.Outputs[o], from); err != nil {
					err = variablesLost(err)
				}
			}
			err = errors.Join(err, from.Close())
		}
		return err
	}
	for o := range b.Outputs {
		if !s.module.overwrites(b, o) {
			continue
		}
		if made[o], err = s.module.device.newBuffer(b.Outputs[o].Size()); err != nil {
			delete(made, o)
			return nil, nil, put(err)
		}
		own.Outputs[o] = made[o]
	}
	return &own, put, nil
}

// survey times the kernels as they are.
func (t *tuning) survey() ([]survey, error) {
	all := make([]survey, len(t.module.plan.Kernels))
	firsts := map[*function]int{}
	for i, k := range t.module.plan.Kernels {
		loops, err := loopsOf(k)
		if err != nil {
			return nil, err
		}
		all[i] = survey{work: kernelWork{k, loops, t.module.plan.Shares(k)}, first: i}
		if k.Constant {
			continue
		}
		f := t.module.functions[i]
		first, seen := firsts[f]
		if !seen {
			first = i
			firsts[f] = i
			t.total += len(all[i].work.table(t.module.shape))
		}
		all[i].first = first
		if t.kernels[i].launch < 0 {
			continue
		}
		if err := context.Cause(t.ctx); err != nil {
			return nil, err
		}
		if all[i].seconds, err = t.look(i); err != nil {
			return nil, err
		}
		all[first].runs++
		all[first].weight += all[i].seconds
	}
	return all, nil
}

// look runs a kernel as it is in the program and says how long it took.
func (t *tuning) look(i int) (seconds float64, err error) {
	r, err := t.trialOf(i, t.module.functions[i], t.module.program)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	kept, err := t.keep(i)
	if err != nil {
		return 0, err
	}
	const times = 3
	for n := range times {
		if n > 0 {
			if err := kept.restore(); err != nil {
				return 0, err
			}
		}
		now, err := r.time()
		if err != nil {
			return 0, err
		}
		if n > 0 { // not what the driver does the first time
			seconds = min(cmp.Or(seconds, now), now)
		}
	}
	return seconds, nil
}

// plain runs a kernel of which there is nothing to find out.
func (t *tuning) plain(i int) (err error) {
	if t.kernels[i].launch < 0 {
		return nil
	}
	r, err := t.trialOf(i, t.module.functions[i], t.module.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	_, err = r.time()
	return err
}

// kernel looks for the best strategy of a kernel, in the part of what is left of
// the time that is said, and keeps it.
func (t *tuning) kernel(i int, k survey, part float64) error {
	until := time.Time{}
	if !t.ask.Until.IsZero() {
		until = time.Now().Add(time.Duration(part * float64(time.Until(t.ask.Until))))
	}
	found, err := t.search(i, k.work, until)
	if err != nil && context.Cause(t.ctx) == nil {
		return err
	}
	if found.Tried+found.Same > 0 {
		keeping, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), time.Second) // also what was found before an end that somebody wants
		defer cancel()
		if err := t.module.device.tuned.Load().Add(keeping, tune.Limits{}, map[string]tune.Choice{k.work.hash(): found}); err != nil {
			return err
		}
		if t.ask.Found != nil {
			t.ask.Found(device.TunedKernel{
				Name: found.Name, Runs: k.runs, Before: duration(found.Before), After: duration(found.After),
				Operations: found.Operations, Bytes: found.Bytes, Share: found.Share,
				Tried: found.Tried, Refused: found.Refused, Same: found.Same, Strategy: found.Strategy,
			})
		}
	}
	return err
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// progress counts strategies that need not be tried any more.
func (t *tuning) progress(n int) {
	t.done += n
	if t.ask.Progress != nil {
		t.ask.Progress(min(t.done, t.total), t.total)
	}
}
