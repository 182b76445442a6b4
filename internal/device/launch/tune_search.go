package launch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/emit/entry"
)

const (
	// better is the time of a strategy, as a part of the other's, from which on
	// it is taken for faster, and worse that from which on no more is measured.
	better, worse = 0.97, 1.15
	// Rounds of a comparison with the best so far, and of the last with the
	// heuristic's; of slow kernels fewer, so many as there is patience for.
	leastRounds, rounds, lastRounds = 3, 7, 15
	patience, lastPatience          = 0.3, 1.0 // seconds
	// A strategy that takes so many times as long is not looked at again.
	hopeless = 1.6
	// near is the share of the device's limits at which nothing more is tried.
	// A share above wrong is an error of measuring, and no reason to stop.
	near, wrong = 0.9, 1.02
	// A measurement lasts so long at least, by doing the kernel again and again.
	measured   = time.Millisecond
	maxRepeats = 64
)

// search is the search for the best strategy of one kernel.
type search struct {
	*tuning
	work          kernelWork
	until         time.Time
	best          *trial // the fastest so far
	plain         *trial // the heuristic's
	repeats       int
	spoiled, want *written        // before a run, and as the heuristic's leaves it then
	seen          map[string]bool // what was tried, and the heuristic's, see identity
	result        tune.Choice
	bound         float64 // seconds that the device needs at least; 0: not known
}

// search tries the strategies for kernel i of the plan. Its results are then
// those of the heuristic's, and so are those of any that it chooses.
func (t *tuning) search(i int, k kernelWork, until time.Time) (_ tune.Choice, err error) {
	s := &search{tuning: t, work: k, until: until, result: tune.Choice{Name: k.Name, Found: time.Now()}}
	table := k.table(t.module.shape)
	start := t.done
	defer func() { t.progress(start + len(table) - t.done) }()
	if err := s.open(i); err != nil {
		return s.result, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	before, err := t.keep(i)
	if err != nil {
		return s.result, err
	}
	if _, err := s.plain.time(); err != nil { // the first includes what the driver does once
		return s.result, err
	}
	after, err := before.all()
	if err != nil {
		return s.result, err
	}
	defer func() { err = errors.Join(err, after.restore()) }()
	if err := s.reference(before, after); err != nil {
		return s.result, err
	}
	seconds, err := s.plain.time()
	if err != nil {
		return s.result, err
	}
	s.repeats = 1
	if !before.updates() {
		s.repeats = min(max(int(measured.Seconds()/seconds), 1), maxRepeats)
	}
	s.limit()
	if err := s.plain.record(s.repeats); err != nil {
		return s.result, err
	}
	if seconds, err = s.plain.time(); err != nil {
		return s.result, err
	}
	s.share(seconds)
	if err := s.try(table); err != nil {
		return s.result, err
	}
	return s.result, s.decide()
}

// reference notes what the heuristic's kernel makes of spoiled memory: what of
// it is not the kernel's stays spoiled.
func (s *search) reference(before, after *written) error {
	s.spoiled = after.spoiled(before)
	if err := s.spoiled.restore(); err != nil {
		return err
	}
	if err := s.plain.runs.Run(); err != nil {
		return err
	}
	var err error
	s.want, err = before.all()
	return err
}

// open makes the heuristic's kernel, which is the program's where nothing else was
// chosen.
func (s *search) open(i int) error {
	f, code, err := s.write(s.work, entry.Strategy{})
	if err != nil {
		return err
	}
	if own := s.module.functions[i]; own.Strategy == (entry.Strategy{}) {
		s.plain, err = s.trialOf(i, own, s.module.program)
	} else {
		s.plain, err = s.build(i, f, code)
	}
	if err != nil {
		return err
	}
	s.plain.sum = code.sum()
	s.best = s.plain
	s.seen = map[string]bool{s.identity(s.plain.function, s.plain.sum): true}
	return nil
}

// try goes through the table, then through ways to deal out the best of it.
func (s *search) try(table []entry.Strategy) error {
	for _, c := range table[1:] {
		if s.over() {
			return nil
		}
		if err := s.form(c); err != nil {
			return err
		}
		s.progress(1)
	}
	form := s.best
	for _, c := range entry.Spread(form.function.Strategy)[1:] {
		if s.over() || s.result.Tried >= entry.MaxStrategies-1 {
			return nil
		}
		f := form.dealt(c)
		if err := s.candidate(f, form.sum, func() (*trial, error) { return s.tuning.spread(form, f) }); err != nil {
			return err
		}
	}
	return nil
}

// form tries a strategy whose code may be another. One for which there is none is
// refused.
func (s *search) form(c entry.Strategy) error {
	f, code, err := s.write(s.work, c)
	if err != nil {
		s.result.Tried++
		s.result.Refused++
		return nil
	}
	return s.candidate(f, code.sum(), func() (*trial, error) { return s.build(s.plain.kernel, f, code) })
}

// over tells whether there is no time, or nothing to win, any more.
func (s *search) over() bool {
	return context.Cause(s.ctx) != nil || !s.until.IsZero() && time.Now().After(s.until) || s.result.Share >= near && s.result.Share <= wrong
}

// candidate compares a strategy with the best so far. One that cannot be run, or
// has other results, is refused; one whose kernel was tried is not tried again,
// as every difference would be noise.
func (s *search) candidate(f *function, sum string, open func() (*trial, error)) error {
	if id := s.identity(f, sum); id != "" {
		if s.seen[id] {
			s.result.Same++
			return nil
		}
		s.seen[id] = true
	}
	s.result.Tried++
	c, err := open()
	if err != nil {
		s.result.Refused++
		return nil
	}
	c.sum = sum
	right, err := s.right(c)
	if err != nil || !right {
		s.result.Refused++
		return s.discard(c)
	}
	ratio, mine, _, err := s.compare(c, s.best, rounds, patience)
	if err != nil || ratio > better {
		return errors.Join(err, s.discard(c))
	}
	old := s.best
	s.best = c
	s.share(mine)
	return s.discard(old)
}

// discard closes a trial that is not needed: not the heuristic's, nor one whose
// program the best has.
func (s *search) discard(c *trial) error {
	if c == s.plain {
		return nil
	}
	if c.owns && s.best != c && s.best.program == c.program {
		s.best.owns, c.owns = true, false
	}
	return c.close()
}

// right runs a candidate on spoiled memory and compares what it leaves there.
func (s *search) right(c *trial) (bool, error) {
	if err := c.record(s.repeats); err != nil {
		return false, err
	}
	if err := s.spoiled.restore(); err != nil {
		return false, err
	}
	if err := c.runs.Run(); err != nil {
		return false, err
	}
	return s.want.same()
}

// compare times two trials in turns: the median of a's time as a part of b's,
// and the median of each in seconds. What is clearly slower is not measured to
// the end.
func (s *search) compare(a, b *trial, rounds int, patience float64) (ratio, ofA, ofB float64, err error) {
	var ratios, as, bs []float64
	start := time.Now()
	for n := range rounds {
		if n >= leastRounds && (time.Since(start).Seconds() > patience || context.Cause(s.ctx) != nil) {
			break
		}
		x, err := a.time()
		if err != nil {
			return 0, 0, 0, err
		}
		y, err := b.time()
		if err != nil {
			return 0, 0, 0, err
		}
		ratios, as, bs = append(ratios, x/y), append(as, x), append(bs, y)
		if n == 0 && x/y > hopeless || n == leastRounds-1 && slices.Min(ratios) > worse {
			break
		}
	}
	return median(ratios), median(as), median(bs), nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// decide compares the best with the heuristic's once more.
func (s *search) decide() error {
	if s.best == s.plain {
		var all []float64
		for range rounds {
			x, err := s.plain.time()
			if err != nil {
				return err
			}
			all = append(all, x)
		}
		s.result.Before = median(all)
		s.result.After = s.result.Before
	} else {
		ratio, after, before, err := s.compare(s.best, s.plain, lastRounds, lastPatience)
		if err != nil {
			return err
		}
		s.result.Before, s.result.After, s.result.Strategy = before, after, s.best.function.Strategy
		if ratio > better {
			s.result.After, s.result.Strategy = before, entry.Strategy{}
		}
	}
	s.share(s.result.After)
	return nil
}

// limit finds what the kernel cannot do without.
func (s *search) limit() {
	c, err := s.work.Cost(s.env)
	if err != nil {
		return
	}
	s.result.Operations, s.result.Bytes = c.Operations, c.Read+c.Written
	if c.Format == "" || c.Format == "f32" {
		s.result.Operations += c.Products
	}
	s.bound = seconds(s.limits, s.result.Operations, s.result.Bytes)
}

// share notes how near a time is to the least that there can be.
func (s *search) share(now float64) { s.result.Share = s.bound / now }

func (s *search) close() error {
	err := s.plain.close()
	if s.best != s.plain {
		err = errors.Join(err, s.best.close())
	}
	return err
}
