package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/schedule"
)

const (
	// maxRuns bounds the runs of one program at a time, and so its memory; more
	// wait.
	maxRuns = 8
	// maxIdle is how many sessions a program keeps for later runs.
	maxIdle = 4
)

// module is a compiled program.
type module struct {
	device     *Device
	graph      *ir.Graph // as it was handed in, leaves numbered
	plan       *schedule.Plan
	shape      entry.Shape
	functions  []*function // of each kernel of the plan
	conditions compile.Conditions
	share      bool // temps share memory
	source     string
	program    Program
	info       device.Info
	recipes    []*keep.Recipe
	holder     *keep.Holder   // of what is kept with weights
	options    device.Options // that it was compiled with
	uses       device.Uses    // of each run
	slots      chan struct{}

	mu   sync.Mutex
	idle []*session // the one that ended last comes last

	plainTurn sync.Mutex
	plain     *module      // the same without recipes; nil: it was not needed yet
	noRoom    atomic.Int64 // runs that do not look for room for what is kept
}

func (m *module) Info() device.Info { return m.info }

// Rest and Wake say whether anybody holds the program.
func (m *module) Rest() { m.holder.Rest() }
func (m *module) Wake() { m.holder.Wake() }

// Close frees the program once no run uses it.
func (m *module) Close() error {
	if !m.uses.Close() {
		return device.ErrClosed
	}
	return m.release()
}

func (m *module) release() error {
	if !m.uses.End() {
		return nil
	}
	m.device.strike(m)
	m.holder.Close()
	err := errors.Join(m.trim(), m.program.Close())
	if m.plain != nil {
		err = errors.Join(err, m.plain.Close())
	}
	return err
}

// done is a run that has ended.
type done struct{ err error }

func (d done) Wait(context.Context) error { return d.err }

// Submit runs b: its kernels are enqueued one after another, and waited for
// together.
func (d *Device) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	if !d.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer d.ended()
	m, ok := b.Module.(*module)
	if !ok || m.device != d {
		return nil, fmt.Errorf("%s: the program was compiled for another device", d.Kind)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if !m.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer func() { _ = m.release() }() // nothing that was enqueued is left
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return m.submit(ctx, b)
}

// attempt runs b.
func (m *module) attempt(ctx context.Context, b *device.Bound) (device.Event, error) {
	t, err := m.timing(ctx, b)
	if err != nil {
		return nil, err
	}
	s, err := m.session(b.Env, t.apart())
	if err != nil {
		return nil, err
	}
	return done{m.run(ctx, s, b, t)}, nil
}

// RunBytes are those of a session.
func (m *module) RunBytes(env ir.Env) (int64, error) {
	if err := m.conditions.Sizes(env); err != nil {
		return 0, err
	}
	layout, err := m.plan.Pack(env, m.share)
	if err != nil {
		return 0, err
	}
	words, slab := 0, 0
	for _, i := range m.eachRun() {
		x, err := m.device.extent(m.functions[i], env)
		if err != nil {
			return 0, fmt.Errorf("kernel %s: %w", m.plan.Kernels[i].Name, err)
		}
		slab = max(slab, x.slab)
		words += m.functions[i].Work.Slots
	}
	return int64(layout.Size + slab + 4*words), nil
}

// run runs the program once.
func (m *module) run(ctx context.Context, s *session, b *device.Bound, t *timed) (err error) {
	s.hold(b)
	ended := false
	defer func() {
		if !ended { // who watches the run panicked
			err = errors.Join(err, s.letGo(), s.end(false))
		}
	}()
	if b.Tune != nil {
		err = s.tune(ctx, b)
	} else {
		err = s.run(ctx, b, t)
	}
	err = errors.Join(err, s.letGo())
	ended = true
	var division *device.DivisionError
	if err == nil || errors.As(err, &division) {
		m.keep(s)
	} else {
		err = errors.Join(err, s.end(false))
	}
	if division != nil {
		return compile.FindDivision(ctx, m.device, m.graph, b)
	}
	return err
}

// session takes an idle one for these sizes or makes one, for runs of each kernel
// by itself or of all together.
func (m *module) session(env ir.Env, apart bool) (*session, error) {
	m.mu.Lock()
	for i, s := range m.idle {
		if s.apart == apart && sameSizes(s.env, env) {
			m.idle = append(m.idle[:i], m.idle[i+1:]...)
			m.mu.Unlock()
			m.device.rest(-s.held)
			return s, nil
		}
	}
	m.mu.Unlock()
	if err := m.conditions.Sizes(env); err != nil {
		return nil, err
	}
	return m.newSession(env, apart)
}

func sameSizes(a, b ir.Env) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

// keep makes the session idle, in the place of the one that has waited longest
// if there are enough.
func (m *module) keep(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.device.rest(s.held)
	if len(m.idle) == maxIdle {
		old := m.idle[0]
		m.idle = m.idle[1:]
		_ = old.end(true)
	}
	m.idle = append(m.idle, s)
}

// indexError tells which index was outside: a kernel has only told that one was.
func (s *session) indexError(b *device.Bound, k *schedule.Kernel, slot int) error {
	check := k.Checks[slot]
	if check.Buffer < 0 {
		return &device.DivisionError{Op: check.Op.String(), At: -1}
	}
	size, err := check.Size.Eval(s.env)
	if err != nil {
		return err
	}
	at := s.places[check.Buffer]
	data := make([]byte, at.size)
	if at.buffer != nil && at.buffer.host != nil {
		data = at.buffer.host
	} else if err := s.module.device.backend.Read(data, at.mem, at.offset); err != nil {
		return fmt.Errorf("looking for a wrong index: %w", err)
	}
	return compile.FindIndex(check.Op, s.module.plan.Buffers[check.Buffer].DType, data, size)
}
