package launch

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// limitsLast is how long limits are believed. A busy machine seems slower than it
// is: of two measurements the faster counts.
const limitsLast = time.Hour

// limits are what the device can do at most: as kept, or measured now and kept.
func (d *Device) limits(ctx context.Context) (tune.Limits, error) {
	l, fresh, err := d.known(ctx)
	if err != nil || !fresh {
		return l, err
	}
	return l, d.tuned.Load().Add(ctx, l, nil)
}

// Limits are what the device can do at most: as kept, or measured now, and kept
// where there is a place.
func (d *Device) Limits(ctx context.Context) (tune.Limits, error) {
	if !d.uses.Begin() {
		return tune.Limits{}, device.ErrClosed
	}
	defer d.ended()
	l, fresh, err := d.known(ctx)
	if err == nil && fresh {
		_ = d.tuned.Load().Add(ctx, l, nil) // else they are measured again the next time
	}
	return l, err
}

// known are the limits, which are fresh if they were measured now.
func (d *Device) known(ctx context.Context) (l tune.Limits, fresh bool, err error) {
	kept := d.tuned.Load().Limits()
	if age := time.Since(kept.Measured); age >= 0 && age < limitsLast {
		return kept, false, nil
	}
	if l, err = d.measure(ctx); err != nil {
		return l, false, err
	}
	l.Rate = max(l.Rate, kept.Rate)
	for i, b := range kept.Bandwidth {
		if i < len(l.Bandwidth) && l.Bandwidth[i].Bytes == b.Bytes {
			l.Bandwidth[i].Rate = max(l.Bandwidth[i].Rate, b.Rate)
		}
	}
	return l, true, nil
}

const (
	// footprints of copies, of both ends: from what any cache has to what few have.
	leastFootprint, mostFootprint = 256 << 10, 64 << 20
	limitRounds                   = 9
)

// chains are how many beside each other, of how many multiply-adds on an element,
// over how many rows. A processor is at its best with short ones, of which it has
// many under way, in its first caches; a GPU with many long ones.
var chains = []struct{ beside, links, rows int }{{1, 16, 16}, {8, 8, 16}, {1, 128, 2048}}

// measure times copies of several sizes and chains of multiply-adds.
func (d *Device) measure(ctx context.Context) (tune.Limits, error) {
	l := tune.Limits{Measured: time.Now()}
	for bytes := leastFootprint; bytes <= mostFootprint; bytes *= 4 {
		seconds, _, err := d.best(ctx, copies, bytes/(2*4*specimenRow))
		if err != nil {
			return l, err
		}
		l.Bandwidth = append(l.Bandwidth, tune.Bandwidth{Bytes: float64(bytes), Rate: float64(bytes) / seconds})
	}
	for _, c := range chains {
		seconds, operations, err := d.best(ctx, multiplyAdds(c.beside, c.links), c.rows)
		if err != nil {
			return l, err
		}
		l.Rate = max(l.Rate, operations/seconds)
	}
	return l, nil
}

// best is the shortest time of a graph over so many rows, however it is dealt
// out, and what operations it has.
func (d *Device) best(ctx context.Context, build builder, rows int) (seconds, operations float64, err error) {
	operations, err = d.specimen(ctx, build, rows, func(s *session) (err error) {
		seconds, err = (&tuning{session: s, ctx: ctx}).shortest()
		return err
	})
	return seconds, operations, err
}

// shortest is the least time of the program's first kernel.
func (t *tuning) shortest() (seconds float64, err error) {
	first, err := t.trialOf(0, t.module.functions[0], t.module.program)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, first.close()) }()
	if _, err := first.time(); err != nil {
		return 0, err
	}
	one, err := first.time()
	if err != nil {
		return 0, err
	}
	repeats := min(max(int(measured.Seconds()/one), 1), maxRepeats)
	seconds = math.Inf(1)
	for _, c := range entry.Spread(entry.Strategy{}) {
		r, err := t.spread(first, first.dealt(c))
		if err != nil {
			return 0, err
		}
		err = r.record(repeats)
		for n := 0; n < limitRounds && err == nil; n++ {
			if err = context.Cause(t.ctx); err == nil {
				var now float64
				now, err = r.time()
				seconds = min(seconds, now)
			}
		}
		if err = errors.Join(err, r.close()); err != nil {
			return 0, err
		}
	}
	return seconds, nil
}

// seconds is the time that a device needs at least: for its operations, and for
// bytes at the rate of a copy that touches as many.
func seconds(l tune.Limits, operations, bytes float64) float64 {
	t := 0.0
	if l.Rate > 0 {
		t = operations / l.Rate
	}
	rate := 0.0
	for _, b := range l.Bandwidth {
		if rate == 0 || b.Bytes <= bytes {
			rate = b.Rate
		}
	}
	if rate > 0 {
		t = max(t, bytes/rate)
	}
	return t
}
