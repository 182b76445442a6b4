package devcheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// TestMain is the child of tests below where a variable says how it ends.
func TestMain(m *testing.M) {
	way := os.Getenv("DEVCHECK_TEST_CHILD")
	if way == "" {
		os.Exit(m.Run())
	}
	err := Child(os.Stdout, func(each func(Step)) error {
		each(Step{Kind: Case, Name: "first", Begun: true})
		each(Step{Kind: Case, Name: "first", OK: true})
		fmt.Println("a driver's own words")
		each(Step{Kind: Case, Name: "second", Begun: true})
		switch way {
		case "crash":
			fmt.Fprintln(os.Stderr, "assertion failed in the driver")
			*(*byte)(nil) = 1
		case "exit":
			os.Exit(7)
		case "hang":
			time.Sleep(time.Hour)
		case "fail":
			return errors.New("it cannot be opened")
		}
		each(Step{Kind: Case, Name: "second", Error: "wrong"})
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func inChild(ctx context.Context, way string, limit time.Duration) (map[string]Step, error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "DEVCHECK_TEST_CHILD="+way, "GOTRACEBACK=none")
	ended := map[string]Step{}
	err := InChild(ctx, c, limit, func(s Step) {
		if !s.Begun {
			ended[s.Name] = s
		}
	})
	return ended, err
}

func TestInChild(t *testing.T) {
	for way, want := range map[string]struct{ fault, second string }{
		"well":  {"", "wrong"},
		"crash": {"the driver crashes", "the driver crashes"},
		"exit":  {"ends the program", "ends the program"},
		"fail":  {"it cannot be opened", "it cannot be opened"},
	} {
		ended, err := inChild(t.Context(), way, time.Minute)
		if (err == nil) != (want.fault == "") || err != nil && !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: %v", way, err)
		}
		if !ended["first"].OK || ended["second"].OK || !strings.Contains(ended["second"].Error, want.second) {
			t.Errorf("%s: %+v", way, ended)
		}
	}
	// It has not hung for long enough to be blamed.
	ended, err := inChild(t.Context(), "hang", 500*time.Millisecond)
	if s := ended["second"]; err != nil || !s.Late || s.OK {
		t.Errorf("hang: %v, %+v", err, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := inChild(ctx, "hang", time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
}

// Whoever has hung for longer than the patience is blamed.
func TestHangs(t *testing.T) {
	var got Step
	tell([]begun{{Step{Kind: Case, Name: "x", Begun: true}, time.Now().Add(-2 * patience)}}, func(s Step) { got = s }, func(s *Step) {
		s.Late = s.Seconds < patience.Seconds()
	})
	if got.Late || got.Begun || got.Seconds < 2*patience.Seconds() {
		t.Errorf("%+v", got)
	}
}

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
	late, failed, ok, begun := 0, 0, 0, 0
	count := func(s Step) {
		switch {
		case s.Late:
			late++
		case s.Begun:
			begun++
		case s.OK:
			ok++
		default:
			failed++
			if s.Error == "" || s.Graph == "" && s.Kind == Case {
				t.Errorf("%+v", s)
			}
		}
	}
	if err := Run(t.Context(), interp.New(), time.Now().Add(time.Hour), count); err != nil || ok != Steps() || begun != ok || late+failed > 0 {
		t.Errorf("%v: %d ok of %d, %d late, %d failed", err, ok, Steps(), late, failed)
	}
	late, failed, ok, begun = 0, 0, 0, 0
	if err := Run(t.Context(), interp.New(), time.Now().Add(-time.Hour), count); err != nil || late != Steps() {
		t.Errorf("%v: %d late", err, late)
	}
	late, failed, ok, begun = 0, 0, 0, 0
	if err := Run(t.Context(), &spoiled{Device: interp.New()}, time.Now().Add(time.Hour), count); err != nil || failed < Steps()*3/4 {
		t.Errorf("%v: %d failed", err, failed)
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
