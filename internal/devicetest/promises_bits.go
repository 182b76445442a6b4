package devicetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
)

// repeated is the cases in which an order that is not fixed would show: sums
// that several workers or groups have parts of, and what adds to one place.
var repeated = []string{"softmax large", "linear layer wide", "attention ragged causal f32", "attentiongrad causal f32", "reduce long f32", "reduce long bf16",
	"scatter add f32 by i32", "segmentreduce sum f32", "scan sum f32", "matmul batched f32"}

// hundredRuns runs each program a hundred times, at its largest, on buffers that
// stay, and then on others, and once more compiled anew. On a slow device it runs
// two more times.
func (s *subject) hundredRuns() error {
	for _, name := range s.names(repeated) {
		c, err := caseNamed(name)
		if err != nil {
			return err
		}
		if err := s.repeat(c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (s *subject) repeat(c *prepared) (err error) {
	ctx := context.Background()
	r := s.last(c)
	runs := 100
	if s.slow {
		runs = 2
	}
	m, err := s.two.CompileGraph(ctx, c.graph, s.compile)
	if err != nil {
		return err
	}
	b, err := bind(s.two, m, c.graph, r)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	defer func() {
		for _, buf := range append(b.Leaves, b.Outputs...) {
			err = errors.Join(err, buf.Close())
		}
		err = errors.Join(err, m.Close())
	}()
	f := &fixture{Runner: s.two, b: b}
	if err := suite.Submit(ctx, s.two, b); err != nil {
		return err
	}
	first, err := f.outputs()
	if err != nil {
		return err
	}
	for run := range runs {
		if err := suite.Submit(ctx, s.two, b); err != nil {
			return fmt.Errorf("run %d: %w", run+1, err)
		}
		again, err := f.outputs()
		if err == nil {
			err = suite.SameBits(first, again)
		}
		if err != nil {
			return fmt.Errorf("run %d differs from the first: %w", run+1, err)
		}
	}
	return s.elsewhere(c, m, r, first)
}

// elsewhere runs a program on other buffers, and once more compiled anew.
func (s *subject) elsewhere(c *prepared, m device.Module, r *suite.Sample, first [][]byte) (err error) {
	ctx := context.Background()
	anew, err := s.two.CompileGraph(ctx, c.graph, s.compile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, anew.Close()) }()
	for _, module := range []device.Module{m, anew} {
		got, err := suite.Execute(ctx, s.two, module, c.graph, r)
		if err == nil {
			err = suite.SameBits(first, got)
		}
		if err != nil {
			return fmt.Errorf("on other buffers: %w", err)
		}
	}
	return nil
}
