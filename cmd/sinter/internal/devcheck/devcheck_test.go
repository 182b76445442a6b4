package devcheck

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// spoiled changes the last element of all results.
type spoiled struct {
	*interp.Device
}

func (d *spoiled) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	e, err := d.Device.Submit(ctx, b)
	if err == nil && e.Wait(ctx) == nil {
		for _, o := range b.Outputs {
			if out := o.Bytes(); len(out) > 0 {
				out[len(out)-1] ^= 0x40
			}
		}
	}
	return e, err
}

func TestRun(t *testing.T) {
	late, failed, ok := 0, 0, 0
	count := func(s Step) {
		switch {
		case s.Late:
			late++
		case s.OK:
			ok++
		default:
			failed++
			if s.Error == "" || s.Graph == "" && s.Kind == Case {
				t.Errorf("%+v", s)
			}
		}
	}
	if err := Run(t.Context(), interp.New(), time.Now().Add(time.Hour), count); err != nil || ok != Steps() || late+failed > 0 {
		t.Errorf("%v: %d ok of %d, %d late, %d failed", err, ok, Steps(), late, failed)
	}
	late, failed, ok = 0, 0, 0
	if err := Run(t.Context(), interp.New(), time.Now().Add(-time.Hour), count); err != nil || late != Steps() {
		t.Errorf("%v: %d late", err, late)
	}
	late, failed, ok = 0, 0, 0
	if err := Run(t.Context(), &spoiled{Device: interp.New()}, time.Now().Add(time.Hour), count); err != nil || failed < Steps()*3/4 {
		t.Errorf("%v: %d failed", err, failed)
	}
}

// Every step is run once, every case of the short suite among them, and what
// models are made of comes before the rest.
func TestPlan(t *testing.T) {
	all, jobs := plan()
	next, several := 0, 0
	for _, j := range jobs {
		if j.From != next || j.To <= j.From || j.To-j.From > togetherCases {
			t.Errorf("%+v after %d", j, next)
		}
		next = j.To
		if j.To-j.From > 1 {
			several++
		}
	}
	if next != len(all) || several < 8 || len(jobs) > 70 {
		t.Errorf("%d of %d steps in %d jobs, %d of several", next, len(all), len(jobs), several)
	}
	cases := map[string]bool{}
	for i, s := range all {
		if s.kind == Case {
			cases[s.name] = true
		}
		if s.name == "softmax" && i > 20 {
			t.Errorf("softmax is number %d", i)
		}
	}
	for _, c := range suite.Short() {
		if !cases[c.Name] {
			t.Errorf("no step %q", c.Name)
		}
		delete(cases, c.Name)
	}
	if len(cases) > 0 {
		t.Errorf("more: %v", cases)
	}
}

// What a device lacks is refused, which is told apart from what it has wrong.
func TestRefused(t *testing.T) {
	lacks := fmt.Errorf("compiling: %w", &entry.UnsupportedError{Text: "the device has no f64"})
	for _, c := range []struct {
		err     error
		refused bool
	}{{lacks, true}, {&suite.Failure{Case: "exp", Err: lacks}, true}, {&suite.Failure{Case: "exp", Err: errors.New("wrong")}, false}} {
		if s := resultOf(step{kind: Case, name: "exp"}, c.err); s.OK || s.Refused != c.refused || s.Error == "" {
			t.Errorf("%v: %+v", c.err, s)
		}
	}
}
