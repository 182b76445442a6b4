package cpu

import (
	"context"
	"math"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// timedStep notes when a step's first task began and its last one ended. CPU
// profiles taken meanwhile have the kernel as a label.
type timedStep struct {
	jit.Step
	ctx         context.Context
	labels      pprof.LabelSet
	epoch       time.Time
	begin, last atomic.Int64 // nanoseconds since epoch; begin 0: not yet
}

func (s *timedStep) Do(worker, task int) (err error) {
	s.begin.CompareAndSwap(0, int64(time.Since(s.epoch)))
	pprof.Do(s.ctx, s.labels, func(context.Context) { err = s.Step.Do(worker, task) })
	now := int64(time.Since(s.epoch))
	for old := s.last.Load(); old < now && !s.last.CompareAndSwap(old, now); old = s.last.Load() {
	}
	return err
}

// runTimed is a run that is recorded, of these kernels of the plan.
func (m *module) runTimed(ctx context.Context, b *device.Bound, steps []jit.Step, kernels []int, workers int) error {
	timed, list := make([]timedStep, len(steps)), make([]jit.Step, len(steps))
	epoch := time.Now()
	for i, s := range steps {
		t := &timed[i]
		t.Step, t.ctx, t.epoch = s, ctx, epoch
		t.labels = pprof.Labels("kernel", m.plan.Kernels[kernels[i]].Name, "number", strconv.Itoa(kernels[i]))
		list[i] = t
	}
	if err := m.device.pool.RunSteps(ctx, list, workers); err != nil {
		return err
	}
	all := make([]device.KernelRun, len(steps))
	for i, n := range kernels {
		t := &timed[i]
		k := device.KernelRun{Number: n, Name: m.plan.Kernels[n].Name, Tasks: t.Tasks()}
		k.Start = epoch.Add(time.Duration(t.begin.Load()))
		k.End = epoch.Add(time.Duration(max(t.begin.Load(), t.last.Load())))
		k.Operations, k.Read, k.Written = m.cost(n, t.Step, b.Env)
		all[i] = k
	}
	b.Record.Record(m, all)
	return nil
}

// cost is what kernel i has to do and to move; zeros where that depends on
// values. s is its step after the run.
func (m *module) cost(i int, s jit.Step, env ir.Env) (operations, read, written float64) {
	var k *loop.Kernel
	switch work := m.plan.Kernels[i].Work.(type) {
	case *loop.Kernel:
		k = work
	case *template.Gemm:
		k = work.Loops()
	case *template.Attention:
		k = work.Loops()
	default:
		return 0, 0, 0
	}
	k = loop.Expand(k)
	c, err := loop.CostOf(k, env)
	if a, ok := s.(*attentionStep); ok { // its loops' bounds are values
		c = a.cost(len(k.Params))
	} else if err != nil {
		return 0, 0, 0
	}
	read, written, err = c.Bytes(k, env)
	if err != nil {
		return 0, 0, 0
	}
	return c.Operations, read, written
}

// cost is that of the two products, and all that is read and written once.
func (s *attentionStep) cost(params int) loop.Cost {
	c := loop.Cost{Reads: make([]float64, params), Writes: make([]float64, params)}
	for i := range s.work.Params {
		if s.work.Params[i].Use == loop.Read {
			c.Reads[i] = math.Inf(1) // as much as it holds
		} else {
			c.Writes[i] = math.Inf(1)
		}
	}
	for seq := range s.sequences.count {
		rows, err := s.sequences.of(seq)
		if err != nil {
			return c // the run has failed
		}
		chunk := &attentionChunk{sequenceRows: rows, seq: seq}
		for q := range rows.q1 - rows.q0 {
			r := s.visible(chunk, q)
			c.Operations += float64(2 * s.work.Heads * (s.work.Width + s.work.VWidth) * (r.to - r.from))
		}
	}
	return c
}
