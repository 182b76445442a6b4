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

// cost fills in what a kernel has to do and to move, where that does not depend
// on values. s is its step after the run.
func (m *module) cost(run *device.KernelRun, s jit.Step, env ir.Env) {
	var k *loop.Kernel
	var cost loop.Cost
	var err error
	switch work := m.plan.Kernels[run.Number].Work.(type) {
	case *loop.Kernel:
		k = loop.Expand(work)
		cost, err = loop.CostOf(k, env)
	case *template.Gemm:
		k = work.Loops()
		if cost, err = loop.CostOf(k, env); err == nil {
			run.Products, cost.Operations, err = gemmOperations(work, env)
		}
		run.Format = formatNames[work.Format()]
	case *template.Attention:
		k = work.Loops() // whose bounds are values
		cost = traffic(k)
		if a, ok := s.(*attentionStep); ok {
			run.Products, run.Format = a.multiplications(), formatNames[a.format]
		}
	case *template.AttentionGrad:
		k = work.Loops()
		cost = traffic(k)
		if a, ok := s.(*gradientStep); ok {
			run.Products, run.Format = a.multiplications(), formatNames[template.Single]
		}
	default:
		return
	}
	if err != nil {
		return
	}
	if read, written, err := cost.Bytes(k, env); err == nil {
		run.Operations, run.Read, run.Written = cost.Operations, read, written
	}
}

var formatNames = map[template.Format]string{template.Single: "f32", template.BF16: "bf16", template.Bytes: "int8"}

// gemmOperations counts the products and the epilogue. What brings the operands
// into order is done once a value, not once a product.
func gemmOperations(g *template.Gemm, env ir.Env) (products, others float64, err error) {
	var n [4]int
	for i, d := range []ir.Dim{g.BatchSize, g.Rows, g.Cols, g.K} {
		if n[i], err = d.Eval(env); err != nil {
			return 0, 0, err
		}
	}
	bare := *g
	bare.X, bare.Y, bare.K = loop.Const(g.X.DType, 0), loop.Const(g.Y.DType, 0), ir.N(0)
	c, err := loop.CostOf(loop.Expand(bare.Loops()), env)
	return 2 * float64(n[0]) * float64(n[1]) * float64(n[2]) * float64(n[3]), c.Operations, err
}

// traffic is each param, read or written once; what is scratch stays in the
// caches.
func traffic(k *loop.Kernel) loop.Cost {
	c := loop.Cost{Reads: make([]float64, len(k.Params)), Writes: make([]float64, len(k.Params))}
	for i, p := range k.Params {
		switch p.Use {
		case loop.Read:
			c.Reads[i] = math.Inf(1) // as much as it holds
		case loop.Write:
			c.Writes[i] = math.Inf(1)
		}
	}
	return c
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
