package cpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/schedule"
)

// session is what runs of a program for the same sizes have in common: memory
// for temps and kernels bound to it. One run at a time uses it. A run that
// finds everything where it lay in the last one binds nothing.
type session struct {
	binding
	layout *schedule.Arena
	sizes  []int // bytes of each buffer of the plan
	arena  *jit.Memory

	mem     []place   // of each buffer of the plan; cleared between runs
	last    []address // where each was in the last run
	moved   []bool
	steps   []jit.Step // of the kernels of module.each; nil: to be bound
	bound   []boundKernel
	words   []int64              // status words of all kernels
	results []keep.Last[*buffer] // of module.recipes
	using   []*buffer            // what the run has of them
	commons []commonY            // right operands that its products have in common
}

// address is where a buffer lay. Two buffers may have the same place one after
// the other, so that the number is part of it; temps have none.
type address struct {
	at     uintptr
	number uint64
}

// boundKernel is a kernel's part of the binding. Between runs no pointer to
// what was bound from outside stays: that memory may be gone.
type boundKernel struct {
	params []*buffer
	ptrs   []unsafe.Pointer
	status []int64
}

// mover is a step that serves more than one run, with other memory if need be: r
// has the pointers, in the slices that the step was bound to.
type mover interface {
	// move is false where the step has to be bound anew. moved tells whether any
	// buffer is elsewhere than in the last run.
	move(r *binding, moved bool) bool
	// rest drops pointers to memory that may be gone before the next run.
	rest()
}

const (
	// Idle sessions that a program keeps, and the bytes that they may hold, one
	// of them and all of a device: more is given back to the allocator, and
	// found there by any program.
	maxIdle        = 4
	maxSessionIdle = 32 << 20
	maxDeviceIdle  = 64 << 20
)

// session takes an idle one for these sizes or makes one.
func (m *module) session(env ir.Env) (*session, error) {
	workers := m.device.workers()
	m.mu.Lock()
	for i, s := range m.idle {
		if s.workers == workers && maps.Equal(s.env, env) {
			m.idle = slices.Delete(m.idle, i, i+1)
			m.mu.Unlock()
			m.device.idle.Add(-s.held())
			return s, nil
		}
	}
	m.mu.Unlock()
	if err := m.conditions.Sizes(env); err != nil {
		return nil, err
	}
	return m.newSession(maps.Clone(env), workers)
}

func (m *module) newSession(env ir.Env, workers int) (s *session, err error) {
	n := len(m.plan.Buffers)
	s = &session{
		binding: binding{module: m, env: env, workers: workers},
		sizes:   make([]int, n), mem: make([]place, n), last: make([]address, n), moved: make([]bool, n),
		steps: make([]jit.Step, len(m.each)), bound: make([]boundKernel, len(m.each)), results: make([]keep.Last[*buffer], len(m.recipes)),
		commons: make([]commonY, m.commons),
	}
	if s.layout, err = m.arena(env); err != nil {
		return nil, err
	}
	for i, buf := range m.plan.Buffers {
		count, err := buf.Len.Eval(env)
		if err != nil {
			return nil, err
		}
		s.sizes[i] = count * buf.DType.Size()
	}
	if err := compile.EmptyIndexed(m.plan, s.sizes, env); err != nil {
		return nil, err
	}
	slots := 0
	for _, k := range m.each {
		slots += len(m.plan.Kernels[k].Checks)
	}
	s.words = make([]int64, slots)
	words := s.words
	for i, k := range m.each {
		args, checks := len(m.plan.Kernels[k].Args), len(m.plan.Kernels[k].Checks)
		s.bound[i] = boundKernel{make([]*buffer, args), make([]unsafe.Pointer, args), words[:checks:checks]}
		words = words[checks:]
	}
	return s, nil
}

// held is the bytes that the session holds between runs.
func (s *session) held() int64 {
	n := 0
	if s.arena != nil {
		n = s.arena.Mapped()
	}
	for _, y := range s.commons {
		if y.mem != nil {
			n += y.mem.Mapped()
		}
	}
	return int64(n + s.mapped())
}

// close gives the memory back; the session is not used any more.
func (s *session) close() {
	s.letGo()
	if s.arena != nil {
		_ = s.arena.Close()
	}
	for _, y := range s.commons {
		if y.mem != nil {
			_ = y.mem.Close()
		}
	}
	s.binding.close()
}

// keep makes the session idle, or ends it where enough is held already.
func (m *module) keep(s *session) {
	s.rest()
	held := s.held()
	idle := m.device.idle.Add(held)
	m.mu.Lock() // who closes program or device takes what is idle under it, behind saying so
	if held <= maxSessionIdle && idle <= maxDeviceIdle && !m.uses.Closed() && !m.device.closed.Load() {
		if len(m.idle) == maxIdle { // the one that has waited longest
			old := m.idle[0]
			m.idle = slices.Delete(m.idle, 0, 1)
			m.device.idle.Add(-old.held())
			old.close()
		}
		m.idle = append(m.idle, s)
		m.mu.Unlock()
		return
	}
	m.mu.Unlock()
	m.device.idle.Add(-held)
	s.close()
}

// forget ends all idle sessions.
func (m *module) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.idle {
		m.device.idle.Add(-s.held())
		s.close()
	}
	m.idle = nil
}

// rest drops what a run was bound to from outside, and steps that are for one
// run.
func (s *session) rest() {
	for i := range s.steps {
		if m, ok := s.steps[i].(mover); ok {
			m.rest()
		} else {
			s.steps[i] = nil
		}
		clear(s.bound[i].params)
		clear(s.bound[i].ptrs)
	}
	s.letGo()
	clear(s.mem)
	s.params, s.ptrs = nil, nil
}

// letGo ends the uses of what is kept.
func (s *session) letGo() {
	for _, b := range s.using {
		_ = b.Close()
	}
	clear(s.using)
	s.using = s.using[:0]
}

// run runs the program once.
func (s *session) run(ctx context.Context, b *device.Bound) error {
	m := s.module
	if err := s.place(b); err != nil {
		return err
	}
	if err := m.conditions.Offsets(b.Env, func(leaf int) ([]byte, error) { return b.Leaves[leaf].Bytes(), nil }); err != nil {
		return err
	}
	if err := s.constants(ctx, b); err != nil {
		return err
	}
	s.compare()
	if err := s.bind(); err != nil {
		return err
	}
	clear(s.words)
	err := m.submit(ctx, b, s)
	runtime.KeepAlive(b) // and what is kept with its weights
	if err == nil {
		return nil
	}
	var division *device.DivisionError
	if errors.As(err, &division) {
		return compile.FindDivision(ctx, m.device, m.graph, b)
	}
	return err
}

// submit runs the bound steps. Where variables are written in place the kernels
// that do so run when all others have ended well, whatever happens to ctx.
func (m *module) submit(ctx context.Context, b *device.Bound, s *session) error {
	pool, steps := &m.device.pool, s.steps
	var timed []timedStep
	if b.Record != nil {
		steps, timed = m.timed(ctx, steps)
	}
	early := len(steps)
	if m.overwrites(b) {
		early = m.early
	}
	if err := pool.RunSteps(ctx, steps[:early], s.workers); err != nil {
		return err
	}
	if err := m.indexErrors(s.steps[:early], m.each[:early], s.mem, s.env); err != nil {
		return err
	}
	if early < len(steps) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := pool.RunSteps(context.Background(), steps[early:], s.workers); err != nil {
			return fmt.Errorf("while variables were being written, whose values are lost: %w", err)
		}
	}
	if b.Record != nil {
		m.record(b, timed)
	}
	return nil
}

// overwrites tells whether any variable is to be written in place.
func (m *module) overwrites(b *device.Bound) bool {
	for o, leaf := range m.plan.InPlace {
		if leaf >= 0 && b.Outputs[o] == b.Leaves[m.plan.Graph.Leaves[leaf].Number] {
			return true
		}
	}
	return false
}

// place finds the memory of every buffer of the plan, but for what constant
// kernels compute, and checks what was bound.
func (s *session) place(b *device.Bound) error {
	m := s.module
	if len(b.Outputs) != len(m.plan.Graph.Outputs) || len(b.Leaves) != m.conditions.Leaves {
		return fmt.Errorf("cpu: %d leaves and %d outputs are bound, the program has %d and %d",
			len(b.Leaves), len(b.Outputs), m.conditions.Leaves, len(m.plan.Graph.Outputs))
	}
	for i, l := range b.Leaves {
		if l == nil {
			return fmt.Errorf("cpu: leaf %d is not bound", i)
		}
	}
	if s.arena == nil {
		var err error
		if s.arena, err = m.device.memory(s.layout.Size + 64); err != nil {
			return err
		}
	}
	arena := s.arena.Bytes()
	for i := range m.plan.Buffers {
		buf, n := &m.plan.Buffers[i], s.sizes[i]
		list, what, number := b.Outputs, "output", buf.Number
		switch buf.Kind {
		case schedule.ConstantBuffer, schedule.InterimBuffer:
			continue
		case schedule.TempBuffer:
			at := s.layout.Offsets[i]
			s.mem[i] = place{at: unsafe.Pointer(&arena[at]), bytes: arena[at:][:n]}
			continue
		case schedule.LeafBuffer:
			list, what, number = b.Leaves, "leaf", m.plan.Graph.Leaves[number].Number
		}
		bound, ok := list[number].(*buffer)
		if !ok {
			return fmt.Errorf("cpu: %s %d is bound to another device's memory", what, number)
		}
		if bound.refs.Load() <= 0 {
			return fmt.Errorf("cpu: %s %d: %w", what, number, device.ErrClosed)
		}
		if bound.Size() != n {
			return fmt.Errorf("cpu: %s %d has %d bytes, want %d", what, number, bound.Size(), n)
		}
		s.mem[i] = place{buffer: bound, number: bound.Number(), at: bound.pointer(), bytes: bound.data}
	}
	return nil
}

// compare finds the buffers that are elsewhere than in the last run.
func (s *session) compare() {
	for i := range s.mem {
		p := &s.mem[i]
		now := address{at: uintptr(p.at)}
		if p.buffer != nil {
			now.number = p.buffer.Number()
		}
		s.moved[i] = now != s.last[i]
		s.last[i] = now
	}
}

// bind has each step work on the memory of this run.
func (s *session) bind() error {
	steps := func(again bool) error {
		if again {
			clear(s.steps)
		}
		return s.bindSteps()
	}
	err := s.settle(steps)
	if _, full := errors.AsType[*device.OutOfMemoryError](err); full && s.dropCommons() {
		clear(s.steps) // no operand in common is needed
		err = s.settle(steps)
	}
	return err
}

func (s *session) bindSteps() error {
	m := s.module
	for i, n := range m.each {
		k, b := m.plan.Kernels[n], &s.bound[i]
		moved := false
		for j, a := range k.Args {
			if a >= 0 {
				b.params[j], b.ptrs[j] = s.mem[a].buffer, s.mem[a].at
				moved = moved || s.moved[a]
			}
		}
		s.kernel, s.params, s.ptrs, s.status = k, b.params, b.ptrs, b.status
		s.step, s.binding.common = i, nil
		if c := m.common[i]; c > 0 {
			s.binding.common = &s.commons[c-1]
		}
		if mv, ok := s.steps[i].(mover); ok && mv.move(&s.binding, moved) {
			continue
		}
		var err error
		if s.steps[i], err = m.kernels[n].bind(&s.binding); err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
	}
	return nil
}
