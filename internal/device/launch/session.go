package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
)

// session is a program bound to sizes: kernels with their arguments, memory for
// temps, scratch and status words. One run at a time uses it, and sets only the
// arguments that differ from the run before.
type session struct {
	module  *module
	env     ir.Env
	sizes   []int   // bytes of each buffer of the plan
	places  []place // of each buffer of the plan
	kernels []boundKernel
	apart   bool    // each kernel is a phase, so that the host can time it
	phases  []phase // in order, of the kernels that have something to do
	checked int     // the phase behind which the status words are read
	arena   Memory
	slab    Memory
	status  Memory // words of all kernels
	words   []byte
	held    int64     // bytes of all these
	using   []*buffer // that the run holds
	interim []Memory  // between constant kernels
	results []keep.Last[result]
}

// place is where a buffer lies in a run.
type place struct {
	buffer       *buffer // nil for temps
	number       uint64  // of buffer, when the run began
	mem          Memory
	offset, size int // bytes
}

// phase is kernels that run together. Those that commit cannot fail, and write new
// values of variables over old ones; where kernels before have checks they come
// behind what these say.
type phase struct {
	Recording
	launches []Launch
	kernels  []int // of the plan, for each launch
	commits  bool
}

// boundKernel is a kernel of the plan at the session's sizes.
type boundKernel struct {
	phase  int
	launch int      // of the phase; -1: at these sizes there is nothing to do
	bound  []Memory // by argument, what it is set to
	words  int      // its first status word; -1: it is none of the session's
	maps   []entry.Mapped
	mapped int64 // which of them are there, by bits
}

func (m *module) newSession(env ir.Env, apart bool) (*session, error) {
	s := &session{module: m, apart: apart, env: maps.Clone(env), sizes: make([]int, len(m.plan.Buffers)), places: make([]place, len(m.plan.Buffers)), results: make([]keep.Last[result], len(m.recipes))}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.end(false))
	}
	return s, nil
}

// prepare finds the sizes and makes what is bound to them.
func (s *session) prepare() error {
	m := s.module
	layout, err := m.plan.Pack(s.env, m.share)
	if err != nil {
		return err
	}
	for i, buf := range m.plan.Buffers {
		n, err := buf.Len.Eval(s.env)
		if err != nil {
			return err
		}
		s.sizes[i] = n * buf.DType.Size()
	}
	if err := compile.EmptyIndexed(m.plan, s.sizes, s.env); err != nil {
		return err
	}
	if s.arena, err = s.alloc(layout.Size); err != nil {
		return err
	}
	for i, buf := range m.plan.Buffers {
		if buf.Kind == schedule.TempBuffer {
			s.places[i] = place{mem: s.arena, offset: layout.Offsets[i], size: s.sizes[i]}
		}
	}
	return s.bindKernels(s.module.eachRun())
}

// alloc makes memory of the session.
func (s *session) alloc(n int) (Memory, error) {
	if n == 0 {
		return nil, nil
	}
	mem, err := s.module.device.take(n)
	if err == nil {
		s.held += int64(n)
	}
	return mem, err
}

// bindKernels records kernels of the plan, with the arguments that depend on sizes
// alone.
func (s *session) bindKernels(kernels []int) error {
	m := s.module
	words, slab := 0, 0
	s.phases = []phase{{}}
	s.kernels = make([]boundKernel, len(m.plan.Kernels))
	for i := range s.kernels {
		s.kernels[i] = boundKernel{launch: -1, words: -1}
	}
	runs := make([]extent, len(m.plan.Kernels))
	for _, i := range kernels {
		k, f := m.plan.Kernels[i], m.functions[i]
		x, err := m.device.extent(f, s.env)
		if err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		p := s.phaseOf(i == m.plan.Commit && i > 0 && words > 0)
		if i < m.plan.Commit {
			s.checked = len(s.phases) - 1
		}
		b := boundKernel{phase: len(s.phases) - 1, launch: -1, words: words}
		if x.workers > 0 {
			b.launch, b.bound = len(p.launches), make([]Memory, len(f.args))
			p.kernels, p.commits = append(p.kernels, i), i >= m.plan.Commit
			p.launches = append(p.launches, Launch{Name: k.Name, Kernel: f.Kernel, Args: f.args, Groups: x.workers, Items: x.local})
		}
		s.kernels[i], runs[i] = b, x
		slab = max(slab, x.slab)
		words += f.Work.Slots
	}
	if err := s.allocStatus(slab, words); err != nil {
		return err
	}
	for i := range s.phases {
		p := &s.phases[i]
		err := m.device.withRoom(0, func() (err error) {
			p.Recording, err = m.program.Record(p.launches)
			return err
		})
		if err != nil {
			return err
		}
	}
	for i, k := range m.plan.Kernels {
		b := &s.kernels[i]
		if b.launch < 0 {
			continue
		}
		if err := s.bindKernel(s.phases[b.phase].Recording, m.functions[i], b, runs[i], s.slab); err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
	}
	return nil
}

// allocStatus makes the slab and the status words.
func (s *session) allocStatus(slab, words int) (err error) {
	if s.slab, err = s.alloc(slab); err != nil || words == 0 {
		return err
	}
	s.words = make([]byte, 4*words)
	if s.status, err = s.alloc(len(s.words)); err != nil {
		return err
	}
	return s.module.device.backend.Zero(s.status, len(s.words))
}

// bindKernel sets what stays the same from run to run.
func (s *session) bindKernel(r Recording, f *function, b *boundKernel, x extent, slab Memory) error {
	for i, a := range f.args {
		var n int
		switch a.Kind {
		case entry.ArgMap:
			m, err := f.Mapped(a.Map, s.env)
			if err != nil {
				return err
			}
			b.maps = append(b.maps, m)
			continue // set by each run
		case entry.ArgBuffer:
			var mem Memory
			switch {
			case a.Param < 0:
				mem = s.status
			case f.Work.Params[a.Param].Use == loop.Scratch:
				mem = slab
			default:
				continue // set by each run
			}
			if err := r.SetMemory(b.launch, i, mem); err != nil {
				return err
			}
			continue
		case entry.ArgOffset:
			if a.Param >= 0 && f.Work.Params[a.Param].Use != loop.Scratch {
				continue
			}
			n = b.words
			if a.Param >= 0 {
				n = x.offsets[a.Param] / f.Work.Params[a.Param].DType.Size()
			}
		case entry.ArgStride:
			n = x.stride / f.Work.Params[a.Param].DType.Size()
		case entry.ArgSize:
			var err error
			if n, err = a.Size.Eval(s.env); err != nil {
				return err
			}
		case entry.ArgStart:
			n = x.start
		case entry.ArgEnd:
			n = x.end
		case entry.ArgChunk:
			n = x.chunk
		case entry.ArgRows:
			n = x.rows
		}
		if err := r.SetInt(b.launch, i, int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// phaseOf is the phase of the kernel that comes next.
func (s *session) phaseOf(commits bool) *phase {
	last := &s.phases[len(s.phases)-1]
	if commits || s.apart && len(last.launches) > 0 {
		s.phases = append(s.phases, phase{})
		last = &s.phases[len(s.phases)-1]
	}
	return last
}

// run runs the program once, and times it if t is not nil.
func (s *session) run(ctx context.Context, b *device.Bound, t *timed) error {
	if err := s.bind(ctx, b); err != nil {
		return err
	}
	for i := range s.phases {
		p := &s.phases[i]
		checks := len(s.words) > 0 && i == s.checked // what follows has none
		if err := s.runPhase(p, checks, t); err != nil {
			return s.lost(b, i, err)
		}
		if !checks {
			continue
		}
		if err := s.look(b); err != nil {
			return err
		}
	}
	if t != nil {
		s.record(b, t)
	}
	return nil
}

// runPhase runs a phase, and reads the status words behind it if they are to be
// checked.
func (s *session) runPhase(p *phase, checks bool, t *timed) error {
	if f, ok := p.Recording.(Fetcher); ok && checks && t == nil {
		return f.RunAndRead(s.words, s.status)
	}
	run := p.Run
	if t != nil {
		run = func() error { return t.run(p) }
	}
	if err := run(); err != nil || !checks {
		return err
	}
	return s.module.device.backend.Read(s.words, s.status, 0)
}

// lost says what an error of the driver in a phase means for variables. Where they
// are lost it is no OutOfMemoryError: what was computed before does not stay.
func (s *session) lost(b *device.Bound, at int, err error) error {
	refused := s.module.device.refused(0, err)
	_, full := errors.AsType[*device.OutOfMemoryError](refused)
	_, begun := errors.AsType[*begunError](err)
	begun = begun || at > 0 && s.phases[at-1].commits
	if !s.phases[at].commits || full && !begun {
		return refused // nothing that writes variables has begun
	}
	for o := range b.Outputs {
		if s.module.overwrites(b, o) {
			return variablesLost(err)
		}
	}
	return refused
}

func variablesLost(err error) error {
	return fmt.Errorf("while variables were being written, whose values are lost: %w", err)
}

// overwrites tells whether an output is to be written over the old value of a
// variable.
func (m *module) overwrites(b *device.Bound, output int) bool {
	leaf := m.plan.Overwrites(output)
	return leaf >= 0 && b.Outputs[output] == b.Leaves[m.plan.Graph.Leaves[leaf].Number]
}

// check reads and looks at the status words after a run.
func (s *session) check(b *device.Bound) error {
	if len(s.words) == 0 {
		return nil
	}
	if err := s.module.device.backend.Read(s.words, s.status, 0); err != nil {
		return err
	}
	return s.look(b)
}

// look looks at the status words that have been read.
func (s *session) look(b *device.Bound) error {
	for _, n := range s.words {
		if n != 0 {
			return s.wrong(b)
		}
	}
	return nil
}

// hold has what is bound stay until the caller closes it. What is closed already is
// an error where it is needed.
func (s *session) hold(b *device.Bound) {
	for _, list := range [][]device.Buffer{b.Leaves, b.Outputs} {
		for _, l := range list {
			if buf, ok := l.(*buffer); ok && buf.hold() {
				s.using = append(s.using, buf)
			}
		}
	}
}

func (s *session) letGo() error {
	var err error
	for _, buf := range s.using {
		err = errors.Join(err, buf.Close())
	}
	s.using = s.using[:0]
	return err
}

// place finds the memory of every buffer of the plan and checks what was bound.
func (s *session) place(b *device.Bound) error {
	m := s.module
	if len(b.Outputs) != len(m.plan.Graph.Outputs) || len(b.Leaves) != m.conditions.Leaves {
		return fmt.Errorf("%s: %d leaves and %d outputs are bound, the program has %d and %d", m.device.Kind,
			len(b.Leaves), len(b.Outputs), m.conditions.Leaves, len(m.plan.Graph.Outputs))
	}
	for i, l := range b.Leaves {
		if l == nil {
			return fmt.Errorf("%s: leaf %d is not bound", m.device.Kind, i)
		}
		if _, ok := l.(*buffer); !ok {
			return fmt.Errorf("%s: leaf %d is bound to another device's memory", m.device.Kind, i)
		}
	}
	for i, buf := range m.plan.Buffers {
		list, what, number := b.Outputs, "output", buf.Number
		switch buf.Kind {
		case schedule.TempBuffer, schedule.ConstantBuffer, schedule.InterimBuffer:
			continue
		case schedule.LeafBuffer:
			list, what, number = b.Leaves, "leaf", m.plan.Graph.Leaves[number].Number
		}
		bound, ok := list[number].(*buffer)
		switch {
		case !ok || bound.device != m.device:
			return fmt.Errorf("%s: %s %d is bound to another device's memory", m.device.Kind, what, number)
		case bound.refs.Load() <= 0:
			return fmt.Errorf("%s: %s %d: %w", m.device.Kind, what, number, device.ErrClosed)
		case bound.size != s.sizes[i]:
			return fmt.Errorf("%s: %s %d has %d bytes, want %d", m.device.Kind, what, number, bound.size, s.sizes[i])
		case buf.Kind == schedule.OutputBuffer && bound.host != nil:
			return fmt.Errorf("%s: output %d is bound to imported memory, which is not written", m.device.Kind, number)
		}
		s.places[i] = place{buffer: bound, number: bound.Number(), mem: bound.mem, size: bound.size}
	}
	return nil
}

// bind checks what was bound, and sets the arguments that are memory.
func (s *session) bind(ctx context.Context, b *device.Bound) error {
	if err := s.place(b); err != nil {
		return err
	}
	err := s.module.conditions.Offsets(b.Env, func(leaf int) ([]byte, error) { return b.Leaves[leaf].(*buffer).read() })
	if err != nil {
		return err
	}
	if err := s.constants(ctx, b); err != nil {
		return err
	}
	return s.bindPlaces()
}

// bindPlaces sets the arguments that are memory, which has been found.
func (s *session) bindPlaces() error {
	for i, k := range s.module.plan.Kernels {
		b := &s.kernels[i]
		if b.launch < 0 {
			continue
		}
		if err := s.bindMemory(s.phases[b.phase].Recording, s.module.functions[i], b, k); err != nil {
			return err
		}
	}
	return nil
}

// bindMemory sets the memory of a kernel's buffers, where it is not that of the
// last run.
func (s *session) bindMemory(r Recording, f *function, b *boundKernel, k *schedule.Kernel) error {
	for j, a := range f.args {
		if a.Kind != entry.ArgBuffer || a.Param < 0 || f.Work.Params[a.Param].Use == loop.Scratch {
			continue
		}
		at := s.places[k.Args[a.Param]]
		if at.mem == nil { // no temp has an element
			at.mem = s.module.device.nothing
		}
		if b.bound[j] == at.mem {
			continue
		}
		first := b.bound[j] == nil
		if err := r.SetMemory(b.launch, j, at.mem); err != nil {
			return err
		}
		b.bound[j] = at.mem
		if !first {
			continue
		}
		// The offset follows. It is that of the session's own memory, or 0.
		if err := r.SetInt(b.launch, j+1, int64(at.offset/f.Work.Params[a.Param].DType.Size())); err != nil {
			return err
		}
	}
	return s.bindMaps(r, f, b, k)
}

// wrong turns status words that kernels have set into an error, and clears
// them.
func (s *session) wrong(b *device.Bound) error {
	if err := s.module.device.backend.Zero(s.status, len(s.words)); err != nil {
		return err
	}
	for i, k := range s.module.plan.Kernels {
		if s.kernels[i].words < 0 {
			continue
		}
		for slot := range s.module.functions[i].Work.Slots {
			if binary.LittleEndian.Uint32(s.words[4*(s.kernels[i].words+slot):]) != 0 {
				return s.indexError(b, k, slot)
			}
		}
	}
	return nil
}

// close gives the memory back; the session is not used any more.
func (s *session) close() error {
	var err error
	for _, p := range s.phases {
		if p.Recording != nil {
			err = errors.Join(err, p.Close())
		}
	}
	for _, mem := range append(s.interim, s.arena, s.slab, s.status) {
		if mem != nil {
			err = errors.Join(err, mem.Close())
		}
	}
	return err
}
