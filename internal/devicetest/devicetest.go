// Package devicetest is the suite that every device passes: each operation on
// every dtype it takes, at sizes of 0, 1, odd and large, with operands that lie
// in memory in all ways, special values, errors, and what device.Device
// promises about memory, goroutines, cancellation and closing. Expected values
// and how far a device may be from them come from the referee.
//
// A case is a description, not a test: the same list serves benchmarks and
// whatever else wants every operation.
package devicetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
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
}

// subject is a device under test, opened with one thread and with two: the
// bits of a result must not depend on that.
type subject struct {
	open     Open
	compile  device.Options
	one, two compiler
}

// compiler is a device that compiles.
type compiler interface {
	device.Device
	device.Compiler
}

func newSubject(open Open, o device.Options) (*subject, error) {
	s := &subject{open: open, compile: o}
	var err error
	if s.one, err = s.another(1); err == nil {
		s.two, err = s.another(2)
	}
	return s, err
}

// another opens the device once more, for tests that close it.
func (s *subject) another(threads int) (compiler, error) {
	d, err := s.open(threads)
	if err != nil {
		return nil, err
	}
	c, ok := d.(compiler)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T cannot compile graphs", d), d.Close())
	}
	return c, nil
}

func (s *subject) close() error { return errors.Join(s.one.Close(), s.two.Close()) }

// Run tests a device: every case, then every promise.
func Run(t *testing.T, open Open, o Options) {
	s, err := newSubject(open, o.Compile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	run := func(name string, f func() error) {
		t.Run(name, func(t *testing.T) {
			reason, expected := o.Known[name]
			known[name] = expected
			err := f()
			if err != nil && expected {
				t.Logf("known to fail, %s: %v", reason, err)
			}
			if err := verdict(err, reason, expected); err != nil {
				t.Error(err)
			}
		})
	}
	for _, c := range suite() {
		run(c.Name, func() error { return s.check(context.Background(), c) })
	}
	for _, p := range promises {
		run(p.name, func() error { return p.check(s) })
	}
	for name := range o.Known {
		if !known[name] {
			t.Errorf("%q is listed as known to fail, but there is no such case", name)
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
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
	s, err := newSubject(open, o)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range suite() {
		if c.Flops == nil {
			continue
		}
		b.Run(c.Name, func(b *testing.B) {
			if err := c.prepare(); err != nil {
				b.Fatal(err)
			}
			m, err := s.two.CompileGraph(context.Background(), c.graph, s.compile)
			if err != nil {
				b.Fatal(err)
			}
			last := c.runs[len(c.runs)-1]
			for b.Loop() {
				if _, err := execute(context.Background(), s.two, m, c.graph, last); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(c.Flops(last.env)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			if err := m.Close(); err != nil {
				b.Error(err)
			}
		})
	}
	if err := s.close(); err != nil {
		b.Error(err)
	}
}
