package devcheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// Variables of a child: what its driver does, and a file that it has for itself.
const (
	wayVariable  = "DEVCHECK_TEST_CHILD"
	fileVariable = "DEVCHECK_TEST_FILE"
)

// TestMain is the child of tests below where a variable says what its driver does.
func TestMain(m *testing.M) {
	way := os.Getenv(wayVariable)
	if way == "" {
		os.Exit(m.Run())
	}
	err := Serve(context.Background(), os.Stdin, os.Stdout, func() (suite.Runner, error) {
		fmt.Println("a driver's own words")
		switch way {
		case "fails to open":
			return nil, errors.New("it cannot be opened")
		case "crashes when opened":
			misbehave("crashes")
		case "exclusive":
			if _, err := os.OpenFile(os.Getenv(fileVariable), os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				return nil, err
			}
		}
		return &foul{Device: interp.New(), way: way}, nil
	})
	if err == nil && way == "crashes when closed" {
		misbehave("crashes")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// foul is a driver that cannot do with one case, or with no program that has it and
// another.
type foul struct {
	*interp.Device
	way string
}

// guilty is the case.
const guilty = "scatter f64"

func (d *foul) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	has := func(op ir.Op) bool {
		return slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op == op && n.DType == ir.F64 })
	}
	way, together := strings.CutSuffix(d.way, " together")
	if has(ir.Scatter) && (!together || has(ir.Sqrt)) {
		if err := misbehave(way); err != nil {
			return nil, err
		}
	}
	return d.Device.CompileGraph(ctx, g, o)
}

func misbehave(way string) error {
	switch way {
	case "refuses":
		return errors.New("refused by the driver")
	case "crashes":
		fmt.Fprintln(os.Stderr, "assertion failed in the driver")
		*(*byte)(nil) = 1
	case "exits":
		os.Exit(7)
	case "hangs":
		time.Sleep(time.Hour)
	}
	return nil
}

// told is what a check told, by name.
type told struct {
	ended map[string]Step
	steps int // to be told of
	err   error
}

// some is the first step, the group of the guilty case and one after it.
func some(t *testing.T) (all []step, jobs []job, members []string) {
	t.Helper()
	all, jobs = plan()
	for i, j := range jobs {
		for _, s := range all[j.From:j.To] {
			members = append(members, s.name)
		}
		if slices.Contains(members, guilty) {
			if len(members) < 3 || !slices.Contains(members, "pointwise f64") {
				t.Fatalf("the group is %q", members)
			}
			return all, []job{jobs[0], j, jobs[i+1]}, members
		}
		members = nil
	}
	t.Fatal("no such case")
	return nil, nil, nil
}

// inProcesses checks a device of two processes. A group is given two seconds.
func inProcesses(ctx context.Context, t *testing.T, way string, begin, end time.Duration) told {
	t.Helper()
	file := filepath.Join(t.TempDir(), "taken")
	command := func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), wayVariable+"="+way, fileVariable+"="+file, "GOTRACEBACK=none")
		return c
	}
	all, jobs, _ := some(t)
	got := told{ended: map[string]Step{}}
	for _, j := range jobs {
		got.steps += j.To - j.From
	}
	p := newPool(ctx, command, Limits{time.Now().Add(begin), time.Now().Add(end)}, func(s Step) {
		if _, twice := got.ended[s.Name]; twice {
			t.Errorf("%s: %q has ended twice", way, s.Name)
		}
		got.ended[s.Name] = s
	}, all, jobs)
	p.patience = 2 * time.Second
	got.err = p.run(2)
	return got
}

// A driver's faults are told of the step that has them, in a group too, and all
// other steps are run.
func TestInProcesses(t *testing.T) {
	for way, want := range map[string]struct {
		fault, step, reason string // in the error, and whose the reason is
	}{
		"is well":             {},
		"exclusive":           {},
		"refuses":             {"", guilty, "refused by the driver"},
		"crashes":             {"the driver crashes", guilty, "assertion failed in the driver"},
		"exits":               {"ends the program", guilty, "exit status 7"},
		"refuses together":    {"", "as one program", "refused by the driver"},
		"crashes together":    {"the driver crashes", "as one program", "assertion failed in the driver"},
		"hangs together":      {}, // each case is in time
		"crashes when closed": {"the driver crashes", "", ""},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			got := inProcesses(t.Context(), t, way, time.Minute, time.Minute)
			if (got.err == nil) != (want.fault == "") || got.err != nil && !strings.Contains(got.err.Error(), want.fault) {
				t.Errorf("the fault is %v, want %q", got.err, want.fault)
			}
			passed := 0
			for name, s := range got.ended {
				switch failed := want.step != "" && strings.Contains(name, want.step); {
				case failed && (s.OK || s.Late || s.Kind != Case || !strings.Contains(s.Error, want.reason)):
					t.Errorf("%+v, want %q", s, want.reason)
				case !failed && !s.OK:
					t.Errorf("%+v", s)
				case !failed:
					passed++
				}
			}
			all := got.steps
			if want.step == guilty {
				all--
			}
			if passed != all || want.step == "as one program" && len(got.ended) != all+1 {
				t.Errorf("%d of %d passed, %d told", passed, all, len(got.ended))
			}
			if s := got.ended[guilty]; way == "refuses" && s.Graph == "" {
				t.Errorf("no graph: %+v", s)
			}
		})
	}
}

func TestInProcessesUnopened(t *testing.T) {
	for way, want := range map[string]string{"fails to open": "it cannot be opened", "crashes when opened": "the driver crashes"} {
		if got := inProcesses(t.Context(), t, way, time.Minute, time.Minute); got.err == nil || !strings.Contains(got.err.Error(), want) || len(got.ended) > 0 {
			t.Errorf("%s: %v, %d steps", way, got.err, len(got.ended))
		}
	}
}

// A case that hangs is named, and what hangs for a short time is late. Others are
// run meanwhile.
func TestInProcessesHangs(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("waits for seven seconds")
	}
	got := inProcesses(t.Context(), t, "hangs", 3*time.Second, 6*time.Second)
	for name, s := range got.ended {
		if name != guilty && !s.OK {
			t.Errorf("%+v", s)
		}
	}
	if s := got.ended[guilty]; s.OK || s.Late || !strings.Contains(s.Error, "does not answer") || got.err == nil || !strings.Contains(got.err.Error(), guilty) {
		t.Errorf("%+v: %v", s, got.err)
	}
	got = inProcesses(t.Context(), t, "hangs", time.Second, 1500*time.Millisecond)
	if s := got.ended[guilty]; s.OK || !s.Late || got.err != nil {
		t.Errorf("%+v: %v", s, got.err)
	}
}

func TestInProcessesLate(t *testing.T) {
	got := inProcesses(t.Context(), t, "is well", -time.Second, time.Minute)
	for _, s := range got.ended {
		if !s.Late || s.OK || s.Error != "" {
			t.Errorf("%+v", s)
		}
	}
	if got.err != nil || len(got.ended) != got.steps {
		t.Errorf("%d of %d steps, %v", len(got.ended), got.steps, got.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if got := inProcesses(ctx, t, "hangs", time.Minute, time.Minute); !errors.Is(got.err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", got.err)
	}
}
