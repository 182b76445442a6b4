package sinter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/trial"
)

// BatchOptions say how Program.RecommendBatch looks.
type BatchOptions struct {
	// Inputs makes the inputs of a run with a batch of n: as Program.Run takes
	// them, of the sizes that are to be expected. It is needed.
	Inputs func(n int) map[string]Tensor
	// Least is a batch up to which all are tried, however little they bring; 0: 1.
	// Most is the largest to try; 0: 4096.
	Least, Most int
	// Memory bounds the bytes that a run may take; 0: what is left of the device's
	// MemoryLimit, or three quarters of its free memory where that is known.
	Memory int64
	// Budget bounds the time; 0: 5 seconds. A run that has begun is not broken off.
	Budget time.Duration
	// KeptOnly runs nothing: the advice is that of an earlier time, or nil. Again
	// runs whatever is kept.
	KeptOnly, Again bool
}

const (
	mostBatch   = 4096
	batchBudget = 5 * time.Second
	// A batch is as good as a larger one that does no more than this part in
	// addition in the same time: runs differ by about as much.
	batchGain = 0.02
	// batchRounds is how often all are timed, batchRuns how many runs of the smallest
	// at most are one time.
	batchRounds, batchRuns = 4, 64
)

// BatchAdvice is what RecommendBatch has found.
type BatchAdvice struct {
	Size   int        // of the batch to use
	Tried  []BatchTry // that fit Memory, by size
	Ended  string     // why no larger one was tried: "throughput" no longer grows, "memory", "time" or "most"
	Memory int64      // bytes that a run may take; math.MaxInt64: not known
	Kept   bool       // measured at an earlier time
}

// BatchTry is a batch that was run.
type BatchTry struct {
	Size  int
	Bytes int64         // inputs, results and what lies between kernels: what grows with the batch
	Time  time.Duration // of a run
}

// Rate is how much of a batch is done in a second.
func (t BatchTry) Rate() float64 { return float64(t.Size) / t.Time.Seconds() }

// RecommendBatch finds the batch to run a program with: the smallest of the
// powers of two that does as much in a second as any, within 2 %, and fits the
// memory. It runs larger and larger ones until two in a row bring no more, and then
// times all of them again, in turns. What it finds is
// kept on disk for the program, the sizes of its inputs, the device and its
// driver. A batch of 1 that does not fit is an OutOfMemoryError. Programs that
// assign variables are refused, as every run would change them.
func (p *Program) RecommendBatch(ctx context.Context, o BatchOptions) (*BatchAdvice, error) {
	switch {
	case p == nil || p.compiled == nil:
		return nil, errZeroProgram
	case ctx == nil:
		return nil, errNilContext
	case o.Inputs == nil:
		return nil, errors.New("BatchOptions.Inputs is nil: give a function that makes the inputs of a run with a batch of n")
	case o.KeptOnly && o.Again:
		return nil, errors.New("BatchOptions.KeptOnly and Again: set one")
	case o.Least < 0 || o.Most < 0 || o.Memory < 0 || o.Budget < 0:
		return nil, fmt.Errorf("a batch of at least %d and at most %d in %d bytes and %v: use more than 0, or 0 for the default", o.Least, o.Most, o.Memory, o.Budget)
	case len(p.assigned) > 0:
		return nil, fmt.Errorf("the program assigns variable %q, which every run would change: capture what it computes without the assignments", p.assigned[0].variable.name)
	}
	if o.Most == 0 {
		o.Most = mostBatch
	}
	if o.Budget == 0 {
		o.Budget = batchBudget
	}
	s := batchSearch{program: p, options: o}
	return s.run(ctx)
}

// batchSearch is one call of RecommendBatch.
type batchSearch struct {
	program *Program
	options BatchOptions
	memory  int64 // that what grows with the batch may take
	key     []string
	begun   time.Time
}

func (s *batchSearch) run(ctx context.Context) (*BatchAdvice, error) {
	d := s.program.device
	first, err := s.program.runSize(ctx, s.options.Inputs(1))
	if err != nil {
		return nil, err
	}
	second, err := s.program.runSize(ctx, s.options.Inputs(min(2, s.options.Most)))
	if err != nil {
		return nil, err
	}
	if s.memory = s.options.Memory; s.memory == 0 {
		s.memory = d.room()
	}
	s.memory -= first.fixed
	if first.bytes > s.memory {
		return nil, s.noRoom(first)
	}
	s.key = []string{"batch", fmt.Sprintf("%x", s.program.graph.Hash()), strings.Join(s.program.options.NoOpt, ","), fmt.Sprint(s.program.options.Precision),
		d.variant, fmt.Sprint(runtime.GOMAXPROCS(0)), first.sizes, second.sizes}
	if !s.options.Again {
		if a := s.kept(); a != nil || s.options.KeptOnly {
			return a, nil
		}
	}
	a, err := s.measure(ctx)
	if err != nil {
		return nil, err
	}
	if data, err := json.Marshal(keptBatch{a, s.options.Budget}); err == nil {
		trial.Default().Keep(data, d.kind, d.describe(), s.key...)
	}
	a.choose()
	return a, nil
}

// noRoom is the error where not even the smallest batch fits.
func (s *batchSearch) noRoom(size runSize) error {
	d := s.program.device
	return &OutOfMemoryError{Device: d.Name(), Size: size.bytes + size.fixed, MemStats: d.dev.Stats(), Limit: s.memory + size.fixed}
}

// keptBatch is what is kept on disk.
type keptBatch struct {
	Advice *BatchAdvice
	Budget time.Duration
}

// further tells whether what ended it no longer does.
func (k keptBatch) further(o BatchOptions, memory int64) bool {
	last := k.Advice.Tried[len(k.Advice.Tried)-1]
	switch k.Advice.Ended {
	case "memory":
		return k.Advice.Memory < memory && 2*last.Bytes <= memory
	case "time":
		return k.Budget < o.Budget
	case "most":
		return 2*last.Size <= o.Most
	case "throughput":
		return last.Size < o.Least && 2*last.Size <= o.Most
	}
	return false
}

// kept is what was found earlier, unless there is more to find.
func (s *batchSearch) kept() *BatchAdvice {
	d := s.program.device
	data, ok := trial.Default().Kept(d.kind, d.describe(), s.key...)
	if !ok {
		return nil
	}
	var k keptBatch
	if json.Unmarshal(data, &k) != nil || k.Advice == nil || len(k.Advice.Tried) == 0 || k.further(s.options, s.memory) {
		return nil
	}
	a := k.Advice
	for i, t := range a.Tried {
		if t.Size < 1 || t.Time <= 0 {
			return nil
		}
		if t.Bytes > s.memory {
			a.Tried, a.Ended = a.Tried[:i], "memory"
			break
		}
		if t.Size > s.options.Most {
			a.Tried, a.Ended = a.Tried[:i], "most"
			break
		}
	}
	if len(a.Tried) == 0 {
		return nil
	}
	a.Kept, a.Memory = true, s.memory
	a.choose()
	return a
}

// measure runs larger and larger batches, and then all of them in turns.
func (s *batchSearch) measure(ctx context.Context) (*BatchAdvice, error) {
	a := &BatchAdvice{Memory: s.memory, Ended: "most"}
	s.begun = time.Now()
	for n := 1; n <= s.options.Most; n *= 2 {
		in := s.options.Inputs(n)
		size, err := s.program.runSize(ctx, in)
		if err != nil {
			return nil, err
		}
		if size.bytes > s.memory {
			if n == 1 { // which fit when its inputs were made before
				return nil, s.noRoom(size)
			}
			a.Ended = "memory"
			break
		}
		took, err := s.time(ctx, in, 1)
		var full *OutOfMemoryError
		if errors.As(err, &full) && n > 1 { // others take memory too
			a.Ended = "memory"
			break
		}
		if err != nil {
			return nil, fmt.Errorf("a batch of %d: %w", n, err)
		}
		a.Tried = append(a.Tried, BatchTry{n, size.bytes, took})
		if n >= s.options.Least && a.level() {
			a.Ended = "throughput"
			break
		}
		if s.late() && n < s.options.Most {
			a.Ended = "time"
			break
		}
	}
	return a, s.compare(ctx, a)
}

// late tells that time is up.
func (s *batchSearch) late() bool { return time.Since(s.begun) > s.options.Budget }

// time is that of a run, the mean of so many after one that brings everything to
// its place: inputs are computed and copied by the first that has them.
func (s *batchSearch) time(ctx context.Context, in map[string]Tensor, runs int) (time.Duration, error) {
	var start time.Time
	for run := range 1 + runs {
		if run == 1 {
			start = time.Now()
		}
		outs, err := s.program.Run(ctx, in)
		if err != nil {
			return 0, err
		}
		for i, x := range outs {
			if !s.program.outputs[i].leaf { // those are the caller's
				x.Release()
			}
		}
	}
	return max(time.Since(start)/time.Duration(runs), 1), nil
}

// compare times the batches again while there is time: in turns, and each for as
// much work as the largest, so that what else the machine does meets all of them
// alike. The best of a few rounds counts.
func (s *batchSearch) compare(ctx context.Context, a *BatchAdvice) error {
	largest := a.Tried[len(a.Tried)-1].Size
	best := make([]time.Duration, len(a.Tried))
rounds:
	for range batchRounds {
		for i, t := range a.Tried {
			switch {
			case s.late() && best[i] == 0:
				return nil // too short for a fair comparison: what there is has to do
			case s.late():
				break rounds
			}
			took, err := s.time(ctx, s.options.Inputs(t.Size), min(largest/t.Size, batchRuns))
			if err != nil {
				return fmt.Errorf("a batch of %d: %w", t.Size, err)
			}
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, took := range best {
		a.Tried[i].Time = took
	}
	return nil
}

// level tells whether the last two batches do no more than a smaller one.
func (a *BatchAdvice) level() bool {
	n := len(a.Tried)
	if n < 3 {
		return false
	}
	before := 0.0
	for _, t := range a.Tried[:n-2] {
		before = max(before, t.Rate())
	}
	return max(a.Tried[n-1].Rate(), a.Tried[n-2].Rate()) <= before*(1+batchGain)
}

// choose sets Size.
func (a *BatchAdvice) choose() {
	best := 0.0
	for _, t := range a.Tried {
		best = max(best, t.Rate())
	}
	for _, t := range a.Tried {
		if t.Rate() >= best*(1-batchGain) {
			a.Size = t.Size
			return
		}
	}
}

// runSize is what a run takes.
type runSize struct {
	bytes int64  // of inputs, results and what lies between kernels
	fixed int64  // of other leaves that the device would have to copy first
	sizes string // of all inputs
}

// runSize finds it, and runs nothing but what inputs are computed by.
func (p *Program) runSize(ctx context.Context, in map[string]Tensor) (size runSize, err error) {
	r, err := p.start(ctx)
	if err != nil {
		return size, err
	}
	defer p.ended(r)
	if err := r.inputs(ctx, in); err != nil {
		return size, err
	}
	if err := p.firstValues(ctx); err != nil {
		return size, err
	}
	if err := r.begin(ctx); err != nil {
		return size, err
	}
	defer r.end(false)
	if err := r.bind(ctx); err != nil {
		return size, err
	}
	for _, at := range p.inputs {
		size.bytes += int64(r.leaves[at].size)
		size.sizes += fmt.Sprint(r.leaves[at].sizes)
	}
	if p.device.copies {
		for _, s := range r.leaves {
			if !s.lies(p.device) {
				size.fixed += int64(s.size)
			}
		}
		for _, at := range p.inputs {
			if s := r.leaves[at]; !s.lies(p.device) {
				size.fixed -= int64(s.size)
			}
		}
	}
	for _, o := range r.made {
		size.bytes += int64(o.bytes)
	}
	if m, ok := p.module.(device.Sizer); ok {
		n, err := m.RunBytes(r.bound.Env)
		if err != nil {
			return size, err
		}
		size.bytes += n
	}
	return size, nil
}

// room is how many bytes a run may take; math.MaxInt64 where that is not known.
func (d *Device) room() int64 {
	used := d.dev.Stats().Allocated
	if d.limit > 0 {
		return max(0, d.limit-used)
	}
	return roomOf(d.describe(), used, d.kind == "cpu")
}

// roomOf is room where there is no limit. What is free is as of this moment, or as
// it was before anything was used.
func roomOf(p device.Properties, used int64, free bool) int64 {
	room := int64(p.Free)
	switch {
	case p.Free == 0 && p.Memory == 0:
		return math.MaxInt64
	case p.Free == 0:
		room = int64(p.Memory) - used
	case !free:
		room -= used
	}
	return max(0, room) / 4 * 3
}

// describe is what is known of the device.
func (d *Device) describe() device.Properties {
	if d.kind == "cpu" {
		return cpu.Describe()
	}
	return d.properties
}
