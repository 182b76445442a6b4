package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Case is a program to time. What a run takes at least is the larger of
// Flops / peak and Bytes / bandwidth; a Case with neither has no bound, and its
// ISA may be anything, such as the name of a device.
type Case struct {
	Name, Set, ISA, DType string
	Shape                 []int
	Work                  float64 // units of Unit that a run does: Rate is Work / Seconds
	Unit                  string
	Flops                 float64 // multiplications and additions, counted apart
	Read, Written         int     // bytes
	Threads               []int   // a row each, rising
	// Run runs the program once on a number of threads.
	Run func(ctx context.Context, threads int) error
	// Accuracy is called before anything is timed.
	Accuracy func(ctx context.Context, threads int) (float64, error)
}

// The protocol, for machines that are shared and whose threads may share a
// core: a round times the bound and ours within a second, and counts only
// while the second core is really there.
const (
	wantRounds = 7
	maxRounds  = 21
	maxTime    = time.Minute // for the rows of a case
	minScale   = 1.8         // of the peak at two threads to that at one
	maxShare   = 1.02        // more is an error of measuring
	peakTime   = 8 * time.Millisecond
	sampleTime = 20 * time.Millisecond // short runs are repeated for so long
)

// meter holds what a case is compared with.
type meter struct {
	c      *Case
	peak   *Peak
	stream *Stream // nil where nothing has to move
	repeat map[int]int

	accuracy []float64 // by place in Case.Threads
	rounds   []round
}

// Measure times a case until enough rounds count, at most until limit (0: a
// minute), and returns a row for each number of threads.
func Measure(ctx context.Context, c Case, limit time.Duration) ([]Row, error) {
	return MeasureInTurns(ctx, limit, c)
}

// MeasureInTurns is Measure for cases that are to be compared: they take turns,
// and a round counts for all of them or for none. Limit is for all together.
func MeasureInTurns(ctx context.Context, limit time.Duration, cases ...Case) (_ []Row, err error) {
	if limit <= 0 {
		limit = time.Duration(len(cases)) * maxTime
	}
	deadline := time.Now().Add(min(limit, time.Duration(len(cases))*maxTime))
	var meters []*meter
	defer func() {
		for _, m := range meters {
			if e := m.close(); err == nil {
				err = e
			}
		}
	}()
	for i := range cases {
		m := &meter{c: &cases[i], repeat: map[int]int{}}
		meters = append(meters, m)
		if err := m.open(); err != nil {
			return nil, err
		}
		if m.accuracy, err = m.prepare(ctx); err != nil {
			return nil, m.wrap(err)
		}
	}
	for n, counted := 0, 0; n < maxRounds && counted < wantRounds; n++ {
		if n > 0 && time.Now().After(deadline) {
			break
		}
		counts := true
		for _, m := range meters {
			r, err := m.round(ctx)
			if err != nil {
				return nil, m.wrap(err)
			}
			m.rounds = append(m.rounds, r)
			counts = counts && r.counts
		}
		for _, m := range meters {
			m.rounds[n].counts = counts
		}
		if counts {
			counted++
		}
	}
	var rows []Row
	for _, m := range meters {
		for i, threads := range m.c.Threads {
			row := m.c.row(m.rounds, i)
			row.Threads, row.Accuracy = threads, m.accuracy[i]
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// wrap names the case in an error.
func (m *meter) wrap(err error) error {
	return fmt.Errorf("%s %v %s: %w", m.c.Name, m.c.Shape, m.c.ISA, err)
}

func (m *meter) open() (err error) {
	isa := m.c.ISA
	if m.c.Flops == 0 && !slices.Contains(ISAs(), isa) {
		isa = Generic // which tells as well how busy the machine is
	}
	if m.peak, err = NewPeak(isa, m.c.DType); err != nil {
		return err
	}
	if m.c.Read+m.c.Written > 0 {
		m.stream, err = NewStream(m.c.Read, m.c.Written)
	}
	return err
}

func (m *meter) close() error {
	if m.stream != nil {
		if err := m.stream.Close(); err != nil {
			return err
		}
	}
	if m.peak == nil {
		return nil
	}
	return m.peak.Close()
}

// prepare runs everything once, finds how accurate it is and how often a short
// run is to be repeated.
func (m *meter) prepare(ctx context.Context) ([]float64, error) {
	accuracy := make([]float64, len(m.c.Threads))
	for i, threads := range m.c.Threads {
		start := time.Now()
		if m.c.Accuracy != nil {
			var err error
			if accuracy[i], err = m.c.Accuracy(ctx, threads); err != nil {
				return nil, err
			}
		} else if err := m.c.Run(ctx, threads); err != nil {
			return nil, err
		}
		if time.Since(start) > time.Second { // warm enough, and no need to repeat
			m.repeat[threads] = 1
			continue
		}
		for range 2 { // the first one may find no memory of its size to take again
			start = time.Now()
			if err := m.c.Run(ctx, threads); err != nil {
				return nil, err
			}
		}
		m.repeat[threads] = 1 + int(sampleTime/max(time.Since(start), time.Microsecond))
	}
	return accuracy, nil
}

// round is what was measured within a second or, where one run takes longer,
// one run for each number of threads.
type round struct {
	counts  bool
	seconds []float64 // of a run, by place in Case.Threads
	bound   []float64 // the least it can take; 0: unknown
}

func (m *meter) round(ctx context.Context) (round, error) {
	r := round{counts: true}
	scaling, err := m.scaling()
	if err != nil {
		return r, err
	}
	for _, threads := range m.c.Threads {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		before := m.bound(threads)
		if m.repeat[threads] > 1 { // as warm as what bounds it
			if err := m.c.Run(ctx, threads); err != nil {
				return r, err
			}
		}
		start := time.Now()
		for range m.repeat[threads] {
			if err := m.c.Run(ctx, threads); err != nil {
				return r, err
			}
		}
		seconds := time.Since(start).Seconds() / float64(m.repeat[threads])
		bound := min(before, m.bound(threads)) // the machine at its best, before or after
		r.seconds, r.bound = append(r.seconds, seconds), append(r.bound, bound)
		r.counts = r.counts && bound <= maxShare*seconds
	}
	r.counts = r.counts && scaling >= minScale
	return r, nil
}

// scaling is the peak at two threads as a multiple of that at one. On a
// machine of one thread there is nothing to share.
func (m *meter) scaling() (float64, error) {
	if runtime.GOMAXPROCS(0) < 2 {
		return 2, nil
	}
	one, two := m.peak.Rate(1, peakTime), m.peak.Rate(2, peakTime)
	if !(one > 0) {
		return 0, fmt.Errorf("bench: the peak loop did nothing")
	}
	return two / one, nil
}

// bound is the least seconds that a run can take.
func (m *meter) bound(threads int) float64 {
	least := 0.0
	if m.c.Flops > 0 {
		least = m.c.Flops / m.peak.Rate(threads, peakTime)
	}
	if m.stream != nil {
		least = max(least, float64(m.c.Read+m.c.Written)/m.stream.Rate(threads))
	}
	return least
}

// row sums up rounds. If too few count, all do, and the row says so.
func (c *Case) row(rounds []round, threads int) Row {
	counted := slices.Clone(rounds)
	counted = slices.DeleteFunc(counted, func(r round) bool { return !r.counts })
	noisy := len(counted) < wantRounds
	if noisy {
		counted = rounds
	}
	var seconds, bounds, shares []float64
	for _, r := range counted {
		s, b := r.seconds[threads], r.bound[threads]
		seconds = append(seconds, s)
		if b > 0 {
			bounds, shares = append(bounds, c.Work/b), append(shares, b/s)
		}
	}
	row := Row{Name: c.Name, Shape: c.Shape, DType: c.DType, ISA: c.ISA, Unit: c.Unit, Set: c.Set, Noisy: noisy}
	row.Seconds = median(seconds)
	row.Rate = c.Work / row.Seconds
	if len(shares) > 0 {
		row.Bound, row.Share = median(bounds), median(shares)
	}
	return row
}

// median is the middle of values, or the average of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}
