package main

import (
	"context"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
)

// trained is a net that is trained further by each question.
type trained struct {
	*training.Step
	program *sinter.Program
	flops   float64
}

// train measures steps.
func (s *side) train(ctx context.Context, q question) (a answer, err error) {
	key := q.Net + " " + q.DType
	t := s.steps[key]
	if t == nil {
		if t, err = s.newTrained(q); err != nil {
			return a, err
		}
		s.steps[key] = t
	}
	if q.File != "" {
		if err := t.Load(ctx, q.File); err != nil {
			return a, err
		}
		a.Losses, err = t.Losses(ctx, t.program, q.Steps)
		return a, err
	}
	if err := t.one(ctx); err != nil { // warm, as train.py does it with others
		return a, err
	}
	peak := s.peak(q.DType)
	start, n := time.Now(), 0
	for time.Since(start).Seconds() < q.Seconds {
		if err := t.one(ctx); err != nil {
			return a, err
		}
		n++
	}
	a.Rate = float64(n) / time.Since(start).Seconds()
	a.Bound = max(peak, s.peak(q.DType)) / t.flops
	return a, nil
}

func (s *side) newTrained(q question) (*trained, error) {
	net, err := training.Find(q.Net)
	if err != nil {
		return nil, err
	}
	step, err := net.Step(training.Options{})
	if err != nil {
		return nil, err
	}
	precision := sinter.F32
	if q.DType == "bf16" {
		precision = sinter.BF16
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{Device: s.device, Precision: precision})
	if err != nil {
		return nil, err
	}
	return &trained{step, program, net.Flops}, nil
}

func (t *trained) one(ctx context.Context) error { return t.program.Step(ctx, t.Inputs) }
