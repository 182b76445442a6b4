package sinter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Run runs the program once. in gives a tensor for each Input by name; tensors
// that are not computed yet are computed first. The results are tensors with
// values, in the order of the captured outputs. If the program assigns
// variables, runs take turns and all of them are committed together at the
// end, or none.
func (p *Program) Run(ctx context.Context, in map[string]Tensor) ([]Tensor, error) {
	if p == nil || p.compiled == nil {
		return nil, errZeroProgram
	}
	stores, err := p.run(ctx, in)
	if err != nil {
		return nil, err
	}
	out := make([]Tensor, len(stores))
	for i, s := range stores {
		out[i] = bound(ir.Bound, "", s)
	}
	return out, nil
}

func (p *Program) run(ctx context.Context, in map[string]Tensor) ([]*storage, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !p.users.enter() {
		return nil, ErrClosed
	}
	defer p.users.leave()
	inputs, err := p.inputs(ctx, in)
	if err != nil {
		return nil, err
	}
	// Before the turns: computing a first value may assign variables itself.
	if err := p.firstValues(ctx); err != nil {
		return nil, err
	}
	assigned := p.assigned()
	for i, v := range assigned {
		if err := v.turn.take(ctx); err != nil {
			passTurns(assigned[:i])
			return nil, err
		}
	}
	defer passTurns(assigned)
	leaves := p.bind(inputs)
	env, err := p.sizes(leaves)
	if err != nil {
		return nil, err
	}
	if err := p.checkOffsets(ctx, leaves, env); err != nil {
		return nil, err
	}
	results, err := p.execute(ctx, leaves, env)
	if err != nil {
		return nil, err
	}
	p.commit(results)
	out := make([]*storage, len(p.outputs))
	for i, o := range p.outputs {
		if o.leaf {
			out[i] = leaves[o.at]
		} else {
			out[i] = results[o.at]
		}
	}
	return out, nil
}

// inputs checks names and dtypes and computes what is not computed yet.
func (p *Program) inputs(ctx context.Context, in map[string]Tensor) (map[string]*storage, error) {
	var expected []string
	var values []*value
	for _, l := range p.leaves {
		if l.Kind != ir.Input {
			continue
		}
		expected = append(expected, l.Name)
		x, ok := in[l.Name]
		if !ok {
			return nil, fmt.Errorf("input %q is missing: the program takes %s", l.Name, p.signature())
		}
		if x.load().scalar {
			x = constant(l.Type.DType, x.v.number)
		}
		if err := x.Err(); err != nil {
			return nil, fmt.Errorf("input %q: %w", l.Name, err)
		}
		if x.v.DType != l.Type.DType {
			return nil, fmt.Errorf("input %q is %v, want %v: use Cast", l.Name, x.v.DType, l.Type.DType)
		}
		values = append(values, x.v)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(expected, name) {
			return nil, fmt.Errorf("unknown input %q: the program takes %s", name, p.signature())
		}
	}
	stores, err := resolve(WithDevice(ctx, p.device), values)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	bound := make(map[string]*storage, len(stores))
	for i, s := range stores {
		bound[expected[i]] = s
	}
	return bound, nil
}

// signature lists the inputs for messages.
func (p *Program) signature() string {
	var all []string
	for _, l := range p.leaves {
		if l.Kind == ir.Input {
			all = append(all, fmt.Sprintf("%q %v", l.Name, l.Type))
		}
	}
	if all == nil {
		return "no inputs"
	}
	return strings.Join(all, ", ")
}

// assigned lists the variables that the program assigns, in the order in which
// all programs lock them.
func (p *Program) assigned() []*Variable {
	var all []*Variable
	for _, n := range p.graph.Outputs {
		if n.Op == ir.Assign {
			all = append(all, p.leaves[n.Attr.Leaf].Storage.(*Variable))
		}
	}
	slices.SortFunc(all, func(a, b *Variable) int { return cmp.Compare(a.id, b.id) })
	return all
}

func passTurns(all []*Variable) {
	for _, v := range all {
		v.turn.pass()
	}
}

// firstValues makes sure that every variable has a version.
func (p *Program) firstValues(ctx context.Context) error {
	for _, l := range p.leaves {
		if v, ok := l.Storage.(*Variable); ok {
			if _, err := v.current(ctx, p.device); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind finds the storage of every leaf. Variables are read together, between
// commits.
func (p *Program) bind(inputs map[string]*storage) []*storage {
	commits.RLock()
	defer commits.RUnlock()
	leaves := make([]*storage, len(p.leaves))
	for i, l := range p.leaves {
		switch s := l.Storage.(type) {
		case *storage:
			leaves[i] = s
		case *Variable:
			leaves[i] = s.version.Load()
		default:
			leaves[i] = inputs[l.Name]
		}
	}
	return leaves
}

// commit makes the new values of variables their current versions, all at once.
func (p *Program) commit(results []*storage) {
	commits.Lock()
	defer commits.Unlock()
	for i, n := range p.graph.Outputs {
		if n.Op == ir.Assign {
			results[i].keep()
			p.leaves[n.Attr.Leaf].Storage.(*Variable).version.Store(results[i])
		}
	}
}

// execute submits the run and waits for it.
func (p *Program) execute(ctx context.Context, leaves []*storage, env ir.Env) ([]*storage, error) {
	if len(p.graph.Outputs) == 0 {
		return nil, nil
	}
	r := &device.Bound{Module: p.module, Env: env, Record: recorderFrom(ctx)}
	free := func() {
		for i, b := range r.Leaves {
			b.Close()
			leaves[i].done()
		}
		runtime.KeepAlive(leaves)
	}
	for _, s := range leaves {
		b, err := s.on(ctx, p.device)
		if err != nil {
			free()
			return nil, err
		}
		r.Leaves = append(r.Leaves, b)
	}
	results, err := p.allocate(r)
	if err != nil {
		free()
		return nil, err
	}
	event, err := p.device.dev.Submit(ctx, r)
	if err != nil {
		free()
		releaseAll(results)
		return nil, err
	}
	err = event.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		// The run may go on: what it uses stays until it has ended.
		p.users.enterAgain()
		go func() {
			defer p.users.leave()
			event.Wait(context.Background())
			free()
			releaseAll(results)
		}()
		return nil, err
	}
	free()
	if err != nil {
		releaseAll(results)
		return nil, p.nameFault(err, leaves)
	}
	return results, nil
}

// releaseAll gives back results of a run that failed: the garbage collector may
// be long in coming.
func releaseAll(results []*storage) {
	for _, s := range results {
		s.release()
	}
}

// nameFault adds to a memory fault which of the leaves cannot be read.
func (p *Program) nameFault(err error, leaves []*storage) error {
	var fault *jit.FaultError
	if !errors.As(err, &fault) {
		return err
	}
	for i, l := range p.leaves {
		if l.Name != "" && leaves[i].holds(fault.Addr) {
			return fmt.Errorf("%q cannot be read: %w", l.Name, err)
		}
	}
	return err
}

// allocate makes the buffers of the outputs; they belong to the results.
func (p *Program) allocate(r *device.Bound) ([]*storage, error) {
	results := make([]*storage, len(p.graph.Outputs))
	for i, n := range p.graph.Outputs {
		sizes, err := n.Shape.Eval(r.Env)
		if err != nil {
			return nil, err
		}
		size, ok := sizeOf(n.DType, sizes)
		if !ok {
			return nil, fmt.Errorf("output %d of %v%v does not fit the memory of this machine", i, n.DType, sizes)
		}
		b, err := p.device.dev.Alloc(size)
		if err != nil {
			return nil, err
		}
		r.Outputs = append(r.Outputs, b)
		results[i] = deviceStorage(n.DType, sizes, p.device, b)
	}
	return results, nil
}
