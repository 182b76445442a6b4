// Package devicetest is what every device passes: the cases of
// internal/device/suite, and what device.Device promises about memory,
// goroutines, cancellation and closing.
package devicetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
)

// Open opens the device under test with at most so many threads a run; 0 is
// its default. A device without threads ignores the number.
type Open func(threads int) (device.Device, error)

// Options say how a device is tested.
type Options struct {
	// Compile is passed on to the compiler.
	Compile device.Options
	// Known lists failures that are known, by the name of the case or the
	// promise, each with its reason. One that passes fails the run.
	Known map[string]string
	// Slow is a device that is simulated: it gets the short suite, and where the
	// promises take large sizes or many runs, small ones and few.
	Slow bool
	// Grouped has cases compiled together, for a driver whose compiler takes long
	// for each program.
	Grouped bool
	// Elsewhere tells that another shape of kernels of the same backend gets all that
	// Part leaves: parts of this one are of suite.FewElementwise, and but for level Long of
	// suite.FewWords, with promises as of a slow device.
	Elsewhere bool
	// Part leaves all else of the suite to other processes, which together run
	// suite.FewStatic.
	Part Part
}

// Part is one of several parts of the suite, numbered from 1: some of the cases and
// some of the promises. The zero Part is all.
type Part struct{ Number, Of int }

func (p Part) valid() bool { return p == Part{} || 1 <= p.Number && p.Number <= p.Of }

// has tells whether the i-th of anything belongs to the part.
func (p Part) has(i int) bool { return p.Of == 0 || i%p.Of == p.Number-1 }

// subject is a device under test, opened with one thread and with two: the
// bits of a result must not depend on that.
type subject struct {
	open     Open
	compile  device.Options
	slow     bool
	one, two suite.Runner
}

func newSubject(open Open, o Options) (*subject, error) {
	s := &subject{open: open, compile: o.Compile, slow: o.Slow || o.Elsewhere && effort.Now() < effort.Long}
	var err error
	if s.one, err = s.another(1); err == nil {
		s.two, err = s.another(2)
	}
	return s, err
}

// another opens the device once more, for tests that close it.
func (s *subject) another(threads int) (suite.Runner, error) {
	d, err := s.open(threads)
	if err != nil {
		return nil, err
	}
	c, ok := d.(suite.Runner)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T cannot compile graphs", d), d.Close())
	}
	return c, nil
}

// samples are those of a case that a promise takes: of a slow device the two
// smallest.
func (s *subject) samples(c *prepared) []*suite.Sample {
	if !s.slow {
		return c.runs
	}
	sorted := slices.SortedStableFunc(slices.Values(c.runs), func(a, b *suite.Sample) int { return cmp.Compare(volume(a), volume(b)) })
	return sorted[:min(2, len(sorted))]
}

// last is the largest of those.
func (s *subject) last(c *prepared) *suite.Sample {
	all := s.samples(c)
	return all[len(all)-1]
}

// names are the cases that a promise takes: of a slow device none that is large.
func (s *subject) names(all []string) []string {
	if !s.slow {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return strings.Contains(name, "large") || strings.Contains(name, "long") })
}

// volume is how many bytes the leaves of a sample have; one without any is
// larger than all others.
func volume(r *suite.Sample) int {
	n := 0
	for _, l := range r.Leaves {
		n += len(l)
	}
	return cmp.Or(n, math.MaxInt)
}

func (s *subject) close() error { return errors.Join(s.one.Close(), s.two.Close()) }

// cases are those that tests run: with -short, or on a slow device, the short
// suite.
func cases(slow bool) []*suite.Case {
	if slow || testing.Short() {
		return suite.Short()
	}
	return suite.Cases()
}

// Run tests a device: every case, with -short those of the short suite and in an
// ordinary run few of those that are alike, then every promise.
func Run(t *testing.T, open Open, o Options) {
	if !o.Part.valid() {
		t.Fatalf("no part %d of %d", o.Part.Number, o.Part.Of)
	}
	s, err := newSubject(open, o)
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, f func() error) {
		t.Run(name, func(t *testing.T) {
			reason, expected := o.Known[name]
			err := f()
			if err != nil && expected {
				t.Logf("known to fail, %s: %v", reason, err)
			}
			if err := verdict(err, reason, expected); err != nil {
				t.Error(err)
			}
		})
	}
	list := cases(o.Slow)
	if effort.Now() == effort.Plain && effort.Less() {
		list = suite.FewElementwise(suite.FewStatic(list))
		if o.Slow {
			list = suite.FewWords(list)
		}
	}
	if o.Part.Of > 0 {
		list = suite.FewStatic(list)
		if effort.Now() < effort.Long {
			list = suite.FewTemplates(list)
		}
		if o.Elsewhere {
			list = suite.FewElementwise(list)
			if effort.Now() < effort.Long {
				list = suite.FewWords(list)
			}
		}
	}
	groups, err := suite.Groups(list, func(c *suite.Case) bool { return !o.Grouped || o.Known[c.Name] != "" })
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range groups {
		if !o.Part.has(i) {
			continue
		}
		if err := s.group(g, run); err != nil {
			t.Error(err)
		}
	}
	for i, p := range promises {
		if !o.Part.has(i) {
			continue
		}
		run(p.name, func() error { return p.check(s) })
	}
	for _, name := range strangers(o.Known) {
		t.Errorf("%q is listed as known to fail, but there is no such case", name)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// group runs the cases of a group as one program, and each alone where that
// fails. The error is one that none has alone.
func (s *subject) group(g *suite.Group, run func(name string, f func() error)) error {
	ctx := context.Background()
	together := sync.OnceValue(func() error { return g.Run(ctx, s.two, s.compile) })
	var asked, found error
	for _, c := range g.Members {
		run(c.Name, func() error {
			if len(g.Members) > 1 {
				if asked = together(); asked == nil {
					return nil
				}
			}
			err := c.Run(ctx, s.two, s.compile)
			found = errors.Join(found, err)
			return err
		})
	}
	if found != nil {
		return nil
	}
	return asked
}

// strangers are the names that are neither those of a case, of either suite, nor
// of a promise.
func strangers(known map[string]string) []string {
	all := map[string]bool{}
	for _, c := range slices.Concat(suite.Cases(), suite.Short()) {
		all[c.Name] = true
	}
	for _, p := range promises {
		all[p.name] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(name string) bool { return all[name] })
}

// verdict turns what a case gave into what its test says.
func verdict(err error, reason string, expected bool) error {
	switch {
	case err != nil && expected:
		return nil
	case expected:
		return fmt.Errorf("passes, but is listed as known to fail: %s", reason)
	}
	return err
}

// Benchmark times the cases that say how much they compute, at their largest.
func Benchmark(b *testing.B, open Open, o device.Options) {
	s, err := newSubject(open, Options{Compile: o})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range suite.Cases() {
		if c.Flops == nil {
			continue
		}
		b.Run(c.Name, func(b *testing.B) {
			graph, runs, err := c.Prepare()
			if err != nil {
				b.Fatal(err)
			}
			m, err := s.two.CompileGraph(context.Background(), graph, s.compile)
			if err != nil {
				b.Fatal(err)
			}
			last := runs[len(runs)-1]
			for b.Loop() {
				if _, err := suite.Execute(context.Background(), s.two, m, graph, last); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(c.Flops(last.Env)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			if err := m.Close(); err != nil {
				b.Error(err)
			}
		})
	}
	if err := s.close(); err != nil {
		b.Error(err)
	}
}
