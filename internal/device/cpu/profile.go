package cpu

import (
	"context"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// Records tells that runs are timed.
func (d *Device) Records() {}

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

// timed wraps the steps of a run that is recorded.
func (m *module) timed(ctx context.Context, steps []jit.Step) ([]jit.Step, []timedStep) {
	timed, list := make([]timedStep, len(steps)), make([]jit.Step, len(steps))
	epoch := time.Now()
	for i, s := range steps {
		t, n := &timed[i], m.each[i]
		t.Step, t.ctx, t.epoch = s, ctx, epoch
		t.labels = pprof.Labels("kernel", m.plan.Kernels[n].Name, "number", strconv.Itoa(n))
		list[i] = t
	}
	return list, timed
}

// record hands over what a run took.
func (m *module) record(b *device.Bound, timed []timedStep) {
	all := make([]device.KernelRun, len(timed))
	for i, n := range m.each {
		t := &timed[i]
		k := device.KernelRun{Number: n, Name: m.plan.Kernels[n].Name, Tasks: t.Tasks()}
		k.Start = t.epoch.Add(time.Duration(t.begin.Load()))
		k.End = t.epoch.Add(time.Duration(max(t.begin.Load(), t.last.Load())))
		m.cost(&k, t.Step, b.Env)
		all[i] = k
	}
	b.Record.Record(m, all)
}

// cost fills in what a kernel has to do and to move. s is its step after the
// run, which knows what depends on values.
func (m *module) cost(run *device.KernelRun, s jit.Step, env ir.Env) {
	c, err := m.plan.Kernels[run.Number].Cost(env)
	if err != nil {
		return
	}
	run.Products, run.Operations, run.Format, run.Read, run.Written = c.Products, c.Operations, c.Format, c.Read, c.Written
	switch a := s.(type) {
	case *attentionStep:
		run.Products, run.Format = a.multiplications(), a.format.String()
	case *gradientStep:
		run.Products, run.Format = a.multiplications(), template.Single.String()
	}
}

// multiplications counts those of the two products, and additions.
func (s *attentionStep) multiplications() float64 {
	n := 0
	for seq := range s.sequences.count {
		rows, err := s.sequences.of(seq)
		if err != nil {
			return 0 // and the run has failed
		}
		chunk := &attentionChunk{sequenceRows: rows, seq: seq}
		for q := range rows.q1 - rows.q0 {
			r := s.visible(chunk, q)
			n += 2 * s.work.Heads * (s.work.Width + s.work.VWidth) * (r.to - r.from)
		}
	}
	return float64(n)
}
