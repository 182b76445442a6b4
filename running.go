package sinter

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// running is one run of a program, and what the next can use again.
type running struct {
	*Program
	values  []*value   // of the inputs
	leaves  []*storage // by leaf
	results []*storage // by output of the compiled graph
	bound   device.Bound
	inPlace []bool     // by output: the old version of its variable is written over
	drops   bool       // results that no variable gets are nobody's:
	dropped []*storage // by output, they may be used again
	astray  bool       // the caller gave up and the device works on

	// Sizes of all inputs in the last run, and what followed from them.
	sizes []int
	known bool
	made  []outputSize
}

// outputSize is an output's sizes in a run.
type outputSize struct {
	dims  []int
	bytes int
}

// spare are runs that have ended, to be used again.
type spare struct {
	sync.Mutex
	list []*running
}

const maxSpare = 8

// drop gives back what ended runs of Step hold.
func (s *spare) drop() {
	s.Lock()
	defer s.Unlock()
	for _, r := range s.list {
		for _, d := range r.dropped {
			if d != nil {
				d.release()
			}
		}
	}
	s.list = nil
}

// start registers a run.
func (p *Program) start(ctx context.Context) (*running, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !p.users.enter() {
		return nil, errClosedProgram
	}
	p.spare.Lock()
	defer p.spare.Unlock()
	if last := len(p.spare.list) - 1; last >= 0 {
		r := p.spare.list[last]
		p.spare.list = p.spare.list[:last]
		return r, nil
	}
	outputs := len(p.graph.Outputs)
	return &running{
		Program: p, values: make([]*value, len(p.inputs)), leaves: make([]*storage, len(p.leaves)),
		results: make([]*storage, outputs), inPlace: make([]bool, outputs), dropped: make([]*storage, outputs), made: make([]outputSize, outputs),
	}, nil
}

// ended drops what the run refers to.
func (p *Program) ended(r *running) {
	defer p.users.leave()
	if r.astray {
		return // what it refers to is in use
	}
	clear(r.values)
	clear(r.leaves)
	clear(r.results)
	clear(r.bound.Leaves)
	clear(r.bound.Outputs)
	r.bound.Leaves, r.bound.Outputs, r.bound.Record = r.bound.Leaves[:0], r.bound.Outputs[:0], nil
	r.bound.Tune = nil
	p.spare.Lock()
	if len(p.spare.list) < maxSpare {
		p.spare.list = append(p.spare.list, r)
	}
	p.spare.Unlock()
}

// begin reads the variables, and claims those whose old versions the run may
// write over: nobody else uses them.
func (r *running) begin(ctx context.Context) error {
	p := r.Program
	if !p.readsVariables {
		return nil
	}
	if err := versions(ctx, p.variables, r.leaves); err != nil {
		return err
	}
	for _, o := range p.outputs {
		if o.leaf && p.variables[o.at] != nil {
			r.leaves[o.at].share() // a tensor will have it
		}
	}
	commits.Lock()
	defer commits.Unlock()
	for _, a := range p.assigned {
		old := r.leaves[a.leaf]
		if r.inPlace[a.output] = a.inPlace && !p.lends && old.lone(p.device); r.inPlace[a.output] {
			old.written = true
		}
	}
	return nil
}

// end makes the new values of variables their current versions, all at once, if
// the run was well, and ends the uses of the old ones.
func (r *running) end(well bool) {
	p := r.Program
	if !p.readsVariables {
		return
	}
	commits.Lock()
	for _, a := range p.assigned {
		switch {
		case r.inPlace[a.output]:
			r.leaves[a.leaf].written = false
		case well:
			made := r.results[a.output]
			made.keep()
			if p.lends {
				made.share()
			}
			a.variable.version.Store(made)
		}
	}
	announce()
	commits.Unlock()
	endUses(p.variables, r.leaves)
	for _, a := range p.assigned {
		if well && !r.inPlace[a.output] {
			r.leaves[a.leaf].retire()
		}
	}
}

// bind finds the storage of every leaf but inputs and variables, and the sizes.
func (r *running) bind(ctx context.Context) error {
	p := r.Program
	for i, l := range p.leaves {
		if s, ok := l.Storage.(*storage); ok {
			r.leaves[i] = s
		}
	}
	if !r.sameSizes() {
		r.known = false
		env, err := p.sizes(r.leaves)
		if err != nil {
			return err
		}
		if err := r.evalOutputs(env); err != nil {
			return err
		}
		r.bound.Env, r.known = env, !p.ragged
	}
	return p.checkOffsets(ctx, r.leaves, r.bound.Env)
}

// sameSizes tells whether the inputs have the sizes of the last run, and notes
// them.
func (r *running) sameSizes() bool {
	same, n := r.known, 0
	for _, at := range r.Program.inputs {
		for _, size := range r.leaves[at].sizes {
			if n == len(r.sizes) {
				r.sizes = append(r.sizes, size)
				same = false
			}
			same = same && r.sizes[n] == size
			r.sizes[n] = size
			n++
		}
		if len(r.leaves[at].sizes) != len(r.Program.leaves[at].Type.Shape) {
			return false
		}
	}
	return same
}

func (r *running) evalOutputs(env ir.Env) error {
	for i, n := range r.graph.Outputs {
		dims, err := n.Shape.Eval(env)
		if err != nil {
			return err
		}
		size, ok := sizeOf(n.DType, dims)
		if !ok {
			return fmt.Errorf("output %d of %v%v does not fit the memory of this machine", i, n.DType, dims)
		}
		r.made[i] = outputSize{dims, size}
	}
	return nil
}

// observed is what the context wants to know of the run.
func (r *running) observed(ctx context.Context) error {
	d := r.device
	r.bound.Record, r.bound.Tune = recorderFrom(ctx), nil
	if r.bound.Record != nil {
		if _, ok := d.dev.(device.Timer); !ok {
			return fmt.Errorf("device %q: %w", d.Name(), ErrNoClock)
		}
	}
	t := tuningFrom(ctx)
	if t == nil {
		return nil
	}
	if _, ok := d.dev.(device.Tuner); !ok {
		return fmt.Errorf("device %q finds nothing by trying: its kernels are chosen by a model", d.Name())
	}
	if r.bound.Record != nil {
		return errors.New("a run that looks for faster kernels is not timed: give one of WithProfile and WithTuning")
	}
	r.bound.Tune = t.ask()
	return nil
}

// execute submits the run and waits for it.
func (r *running) execute(ctx context.Context) error {
	p := r.Program
	if len(p.graph.Outputs) == 0 {
		return nil
	}
	r.bound.Module = p.module
	well := false
	defer func() {
		if !r.astray {
			r.free(well)
		}
	}()
	if err := r.observed(ctx); err != nil {
		return err
	}
	for i := range r.leaves {
		b, err := r.leaf(ctx, i)
		if err != nil {
			return err
		}
		r.bound.Leaves = append(r.bound.Leaves, b)
	}
	overwrites, err := r.allocate()
	if err != nil {
		return err
	}
	event, err := r.submit(ctx)
	if err != nil {
		return err
	}
	if overwrites {
		ctx = context.Background() // only the device knows whether there is a way back
	}
	err = event.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		// The run may go on: what it uses stays until it has ended.
		p.users.enterAgain()
		r.astray = true
		go func() {
			defer p.users.leave()
			event.Wait(context.Background())
			r.free(false)
		}()
		return err
	}
	if err != nil {
		return p.nameFault(err, r.leaves)
	}
	well = true
	return nil
}

// leaf has a leaf on the device. A version of a variable that is lost may be
// anything where nothing reads it.
func (r *running) leaf(ctx context.Context, i int) (device.Buffer, error) {
	s, v := r.leaves[i], r.variables[i]
	b, err := s.on(ctx, r.device)
	if err == nil || v == nil || !isLost(ctx, err) {
		return b, err
	}
	if !r.onlyAssigns(i) {
		return nil, v.lost(ctx, err)
	}
	b, err = makeRoom(func() (device.Buffer, error) { return r.device.dev.Alloc(s.size) })
	if err == nil {
		s.use()
	}
	return b, err
}

// submit starts the run on the device, where it may need memory to work in.
func (r *running) submit(ctx context.Context) (device.Event, error) {
	d := r.device.dev
	event, err := d.Submit(ctx, &r.bound)
	if _, full := errors.AsType[*OutOfMemoryError](err); !full {
		return event, err // without a function below, which would be allocated for each run
	}
	return makeRoom(func() (device.Event, error) { return d.Submit(ctx, &r.bound) })
}

// free ends the uses of leaves; results of a run that failed are given back: the
// garbage collector may be long in coming.
func (r *running) free(well bool) {
	for i, b := range r.bound.Leaves {
		b.Close()
		r.leaves[i].done()
	}
	runtime.KeepAlive(r.leaves)
	if well {
		return
	}
	for i, s := range r.results {
		if s != nil && !r.inPlace[i] && s != r.dropped[i] {
			s.release()
		}
	}
	clear(r.results)
}

// allocate makes the buffers of the outputs; they belong to the results.
func (r *running) allocate() (overwrites bool, err error) {
	p := r.Program
	for _, a := range p.assigned {
		if r.inPlace[a.output] {
			r.results[a.output] = r.leaves[a.leaf]
			overwrites = true
		}
	}
	for i, n := range p.graph.Outputs {
		size := r.made[i]
		if s := r.dropped[i]; r.drops && s != nil && s.size == size.bytes {
			r.results[i] = s
		}
		if s := r.results[i]; s != nil {
			r.bound.Outputs = append(r.bound.Outputs, s.buffers[p.device])
			continue
		}
		b, err := makeRoom(func() (device.Buffer, error) { return p.device.dev.Alloc(size.bytes) })
		if err != nil {
			return overwrites, err
		}
		r.bound.Outputs = append(r.bound.Outputs, b)
		r.results[i] = deviceStorage(n.DType, size.dims, p.device, b)
		if r.drops && p.assigns[i] == nil {
			r.dropped[i] = r.results[i]
		}
	}
	return overwrites, nil
}
