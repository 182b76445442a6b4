package launch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
)

// Timer is a Recording that can tell when its launches ran, by the device's clock.
type Timer interface {
	// RunTimed is Run, and says of each launch when it began and ended. It may be
	// slower.
	RunTimed(spans []Span) error
}

// Span is when a launch ran, since any moment that all of a run have in common.
type Span struct{ Begin, End time.Duration }

// clock is how the kernels of a device are timed.
type clock struct {
	driver bool // by the driver; else kernel by kernel, by the host
	// least is the shortest time of a run of next to nothing, by the host.
	least time.Duration
}

// clocks find out which clock a device has, once.
type clocks struct {
	turn  sync.Mutex
	known bool
	clock clock
}

// Records tells that runs are timed.
func (d *Device) Records() {}

// clock is that of the device, which is tried first.
func (d *Device) clock(ctx context.Context) (clock, error) {
	c := &d.clocks
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.known {
		return c.clock, nil
	}
	least, err := d.leastRun(ctx)
	if err != nil {
		return clock{}, fmt.Errorf("measuring a run of next to nothing: %w", err)
	}
	driver, err := d.driverTimes(ctx)
	if err != nil {
		return clock{}, fmt.Errorf("trying the driver's clock: %w", err)
	}
	c.clock, c.known = clock{driver, least}, true
	return c.clock, nil
}

const (
	leastRuns = 32
	// triedRows are of a kernel that takes longer than a tick of any clock.
	triedRows = 64
)

// leastRun is the shortest time of a run of one small kernel.
func (d *Device) leastRun(ctx context.Context) (least time.Duration, err error) {
	_, err = d.specimen(ctx, copies, 1, func(s *session) error {
		for n := range leastRuns {
			start := time.Now()
			if err := s.phases[0].Run(); err != nil {
				return err
			}
			if took := time.Since(start); n == 0 || took < least {
				least = took
			}
		}
		return nil
	})
	return least, err
}

// driverTimes tells whether the driver's times can be believed: there are drivers
// that have no clock, or one of another unit than they say.
func (d *Device) driverTimes(ctx context.Context) (good bool, err error) {
	_, err = d.specimen(ctx, copies, triedRows, func(s *session) error {
		t, ok := s.phases[0].Recording.(Timer)
		for range 3 { // the first does what the driver does once
			if !ok {
				return nil
			}
			spans := make([]Span, len(s.phases[0].launches))
			start := time.Now()
			ok = t.RunTimed(spans) == nil && believable(spans, time.Since(start))
		}
		good = ok
		return nil
	})
	return good, err
}

// believable tells whether launches can have run at these times, one after
// another, in a run that took so long for the host.
func believable(spans []Span, took time.Duration) bool {
	for i, s := range spans {
		if s.End <= s.Begin || i > 0 && s.Begin < spans[i-1].End {
			return false
		}
	}
	const drift = 1.1 // of one clock against the other
	return len(spans) > 0 && float64(spans[len(spans)-1].End-spans[0].Begin) <= drift*float64(took)
}

// timed is one run of a session that is timed.
type timed struct {
	clock
	kernels []Span // by number in the plan, since epoch
	epoch   time.Time
}

// timing is for a run of b, nil if that is not timed.
func (m *module) timing(ctx context.Context, b *device.Bound) (*timed, error) {
	if b.Record == nil {
		return nil, nil
	}
	c, err := m.device.clock(ctx)
	if err != nil {
		return nil, err
	}
	return &timed{clock: c, kernels: make([]Span, len(m.plan.Kernels))}, nil
}

// apart tells whether the run has to start each kernel by itself.
func (t *timed) apart() bool { return t != nil && !t.driver }

// run runs a phase.
func (t *timed) run(p *phase) error {
	if len(p.launches) == 0 {
		return p.Run()
	}
	began := time.Now()
	if t.epoch.IsZero() {
		t.epoch = began
	}
	since := began.Sub(t.epoch)
	spans := make([]Span, len(p.launches))
	if timer, ok := p.Recording.(Timer); ok && t.driver {
		if err := timer.RunTimed(spans); err != nil {
			return err
		}
		first := spans[0].Begin
		for i, s := range spans {
			spans[i] = Span{since + s.Begin - first, since + s.End - first}
		}
	} else {
		if err := p.Run(); err != nil {
			return err
		}
		spans[0] = Span{since, since + max(0, time.Since(began)-t.least)} // the only one
	}
	for i, n := range p.kernels {
		t.kernels[n] = spans[i]
	}
	return nil
}

// record hands over what a run took. A kernel that has nothing to do takes no time
// behind that before it.
func (s *session) record(b *device.Bound, t *timed) {
	m := s.module
	var all []device.KernelRun
	var last time.Duration
	if t.epoch.IsZero() {
		t.epoch = time.Now()
	}
	for _, n := range m.eachRun() {
		k, span := device.KernelRun{Number: n, Name: m.plan.Kernels[n].Name, Apart: !t.driver}, Span{last, last}
		if bound := s.kernels[n]; bound.launch >= 0 {
			span = t.kernels[n]
			k.Tasks = s.phases[bound.phase].launches[bound.launch].Groups
		}
		last = span.End
		k.Start, k.End = t.epoch.Add(span.Begin), t.epoch.Add(span.End)
		s.work(&k)
		all = append(all, k)
	}
	b.Record.Record(m, all)
}
