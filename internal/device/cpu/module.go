package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/schedule"
)

const (
	// maxRuns bounds the runs of one program at a time, and so its memory;
	// more wait.
	maxRuns = 8
	// maxArenas is how many packings of temps a program remembers.
	maxArenas = 64
)

// module is a compiled program.
type module struct {
	device     *Device
	graph      *ir.Graph // as it was handed in, leaves numbered
	plan       *schedule.Plan
	kernels    []kernel // of each kernel of the plan
	each       []int    // the kernels that every run starts
	early      int      // of these, those before the first that may write a variable in place
	common     []int    // of these, which have a right operand in common: see findCommon
	commons    int
	recipes    []*keep.Recipe
	holder     *keep.Holder // of what is kept with weights
	slab       *slab
	conditions compile.Conditions // on what is bound
	share      bool               // temps share memory
	check      bool               // verify each packing of them
	info       device.Info
	uses       device.Uses // of each run
	slots      chan struct{}

	mu     sync.Mutex
	arenas map[string]*schedule.Arena // by sizes
	recent []string                   // their keys, oldest first
	idle   []*session                 // the one that ended last comes last
}

func (m *module) Info() device.Info { return m.info }

// Rest and Wake say whether anybody holds the program.
func (m *module) Rest() { m.holder.Rest() }
func (m *module) Wake() { m.holder.Wake() }

// Close unmaps the code once no run uses it.
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
	m.device.modules.Delete(m)
	m.forget()
	m.holder.Close()
	var err error
	if m.slab.code != nil {
		err = errors.Join(err, m.slab.code.Close())
	}
	return err
}

// binding is what kernels of one run are bound to.
type binding struct {
	module  *module
	env     ir.Env
	kernel  *schedule.Kernel
	params  []*buffer        // by param of the kernel; nil for temps and scratch
	ptrs    []unsafe.Pointer // by param; nil for scratch
	workers int
	status  []int64 // the kernel's words
	step    int
	common  *commonY // that the kernel's product has, or nil

	scratchMem  *jit.Memory
	scratchSize int // of one worker
	blocks      []*jit.Memory
	stale       bool // steps point to scratch that was given back
}

// keptScratch is how much scratch that has become too small is left to the steps
// that have it already; more is given back, and they are bound again.
const keptScratch = 1 << 20

// scratch gives each worker n bytes that it alone uses, until the next kernel.
func (r *binding) scratch(n int) ([]unsafe.Pointer, error) {
	if n > r.scratchSize || r.scratchMem == nil {
		if r.mapped() > keptScratch {
			r.close()
			r.stale = true
		}
		size := (n + 127) &^ 127 // no false sharing
		mem, err := r.module.device.memory(max(size*r.workers, 128))
		if err != nil {
			return nil, err
		}
		r.blocks = append(r.blocks, mem)
		r.scratchMem, r.scratchSize = mem, size
	}
	at := make([]unsafe.Pointer, r.workers)
	for i := range at {
		at[i] = unsafe.Add(r.scratchMem.Pointer(), i*r.scratchSize)
	}
	return at, nil
}

// settle calls bind, which binds all steps, and again where the first of them got scratch that
// had to grow for others. Once is enough but where another run has packed weights otherwise
// meanwhile.
func (r *binding) settle(bind func(again bool) error) error {
	err := bind(false)
	for err == nil && r.stale {
		r.stale = false
		err = bind(true)
	}
	return err
}

// mapped is the bytes of scratch.
func (r *binding) mapped() int {
	n := 0
	for _, m := range r.blocks {
		n += m.Mapped()
	}
	return n
}

// close gives all scratch back.
func (r *binding) close() {
	for _, m := range r.blocks {
		_ = m.Close()
	}
	r.blocks, r.scratchMem = nil, nil
}

// done is a run that has ended.
type done struct{ err error }

func (d done) Wait(context.Context) error { return d.err }

// Submit runs b on the calling goroutine and idle helpers, and returns when it
// has ended: the event carries the error.
func (d *Device) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	m, ok := b.Module.(*module)
	if !ok || m.device != d {
		return nil, fmt.Errorf("cpu: the program was compiled for another device")
	}
	if !m.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer func() { _ = m.release() }() // unmapping what was mapped does not fail
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	// Tasks are protected one by one, which keeps the pool whole; what else reads
	// leaves, by this: they may lie in a mapped file, and that be gone.
	if err := jit.Protect(func() error { return m.run(ctx, b) }); err != nil {
		if _, full := errors.AsType[*device.OutOfMemoryError](err); full {
			return nil, err // before any step that writes variables
		}
		return done{err}, nil
	}
	return succeeded, nil
}

var succeeded device.Event = done{} // made once

// run runs the program once.
func (m *module) run(ctx context.Context, b *device.Bound) error {
	s, err := m.session(b.Env)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // nobody knows what a panic left undone
			s.close()
		}
	}()
	err = s.run(ctx, b)
	for _, o := range b.Outputs {
		changed(o)
	}
	if err == nil {
		m.keep(s)
		ended = true
	}
	return err
}

// once binds constant kernels and runs them.
func (m *module) once(ctx context.Context, b *device.Bound, mem []place, kernels []int) error {
	r := &binding{module: m, env: b.Env, workers: m.device.workers()}
	defer r.close()
	slots := 0
	for _, n := range kernels {
		slots += len(m.plan.Kernels[n].Checks)
	}
	words := make([]int64, slots)
	steps := make([]jit.Step, len(kernels))
	err := r.settle(func(bool) error { return r.bindOnce(mem, kernels, steps, words) })
	if err != nil {
		return err
	}
	err = m.device.pool.RunSteps(ctx, steps, r.workers)
	runtime.KeepAlive(b) // and what is kept with its weights
	if err == nil {
		err = m.indexErrors(steps, kernels, mem, b.Env)
	}
	var division *device.DivisionError
	if errors.As(err, &division) {
		return compile.FindDivision(ctx, m.device, m.graph, b)
	}
	return err
}

// bindOnce binds constant kernels, whose words are in status.
func (r *binding) bindOnce(mem []place, kernels []int, steps []jit.Step, status []int64) (err error) {
	for i, n := range kernels {
		k := r.module.plan.Kernels[n]
		r.kernel = k
		r.status, status = status[:len(k.Checks)], status[len(k.Checks):]
		r.params, r.ptrs = make([]*buffer, len(k.Args)), make([]unsafe.Pointer, len(k.Args))
		for j, a := range k.Args {
			if a >= 0 {
				r.params[j], r.ptrs[j] = mem[a].buffer, mem[a].at
			}
		}
		if steps[i], err = r.module.kernels[n].bind(r); err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
	}
	return nil
}

// place is where a buffer of the plan lies in one run.
type place struct {
	buffer *buffer // nil for temps, and between constant kernels
	number uint64  // of buffer, when the run began
	at     unsafe.Pointer
	bytes  []byte
}

// RunBytes are those of the temps; what kernels work in is small.
func (m *module) RunBytes(env ir.Env) (int64, error) {
	if err := m.conditions.Sizes(env); err != nil {
		return 0, err
	}
	a, err := m.arena(env)
	if err != nil {
		return 0, err
	}
	return int64(a.Size), nil
}

// arena finds or makes the packing of the temps for these sizes.
func (m *module) arena(env ir.Env) (*schedule.Arena, error) {
	key := fmt.Sprint(map[string]int(env)) // maps print sorted
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.arenas[key]; ok {
		return a, nil
	}
	a, err := m.plan.Pack(env, m.share)
	if err == nil && m.check {
		err = m.plan.CheckPacking(a, env, m.share)
	}
	if err != nil {
		return nil, err
	}
	if m.arenas == nil {
		m.arenas = map[string]*schedule.Arena{}
	}
	if len(m.recent) == maxArenas {
		delete(m.arenas, m.recent[0])
		m.recent = m.recent[1:]
	}
	m.arenas[key] = a
	m.recent = append(m.recent, key)
	return a, nil
}
