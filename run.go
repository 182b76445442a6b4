package sinter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Run runs the program once. in gives a tensor for each Input by name, and nothing
// else: a name that no output depends on is an error, as it is mostly a wrong one
// (Info lists those that are taken). Tensors that are not computed yet are computed
// first. The results are tensors with
// values, in the order of the captured outputs; for an assigned variable, its
// Tensor. If the program assigns variables, runs take turns and all of them are
// committed together at the end, or none.
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
		if o := p.outputs[i]; !o.leaf && p.assigns[o.at] != nil {
			out[i] = p.assigns[o.at].read
			continue
		}
		out[i] = bound(ir.Bound, "", s)
	}
	return out, nil
}

// Step is Run for programs that are run for the variables they assign: other
// results are dropped. From the second on, steps of one size allocate nothing:
// variables that nobody else reads change where they lie.
func (p *Program) Step(ctx context.Context, in map[string]Tensor) error {
	if p == nil || p.compiled == nil {
		return errZeroProgram
	}
	r, err := p.start(ctx)
	if err != nil {
		return err
	}
	defer p.ended(r)
	r.drops = true
	return r.run(ctx, in)
}

// run gives the storages of all outputs. Of variables that the program assigns
// they may be overwritten by its next run, unless it lends.
func (p *Program) run(ctx context.Context, in map[string]Tensor) ([]*storage, error) {
	r, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer p.ended(r)
	r.drops = false
	if err := r.run(ctx, in); err != nil {
		return nil, err
	}
	out := make([]*storage, len(p.outputs))
	for i, o := range p.outputs {
		if o.leaf {
			out[i] = r.leaves[o.at]
		} else {
			out[i] = r.results[o.at]
		}
	}
	clear(r.results)
	return out, nil
}

// run runs the program as one of its users.
func (r *running) run(ctx context.Context, in map[string]Tensor) error {
	p := r.Program
	if err := r.inputs(ctx, in); err != nil {
		return err
	}
	// Before the turns: computing a first value may assign variables itself.
	if err := p.firstValues(ctx); err != nil {
		return err
	}
	if err := r.bring(ctx); err != nil {
		p.device.doubt(ctx, err)
		return p.device.named(err)
	}
	for i, a := range p.assigned {
		if err := a.variable.turn.take(ctx); err != nil {
			passTurns(p.assigned[:i])
			return err
		}
	}
	defer passTurns(p.assigned)
	if err := r.begin(ctx); err != nil {
		return err
	}
	well := false
	defer func() { r.end(well) }() // also where what observes the run panics
	err := r.bind(ctx)
	if err == nil {
		err = r.execute(ctx)
		p.device.doubt(ctx, err)
	}
	well = err == nil
	return p.device.named(err)
}

// bring has the inputs of a run that takes turns on the device when its turn comes:
// they are on their way while the run before works.
func (r *running) bring(ctx context.Context) error {
	p := r.Program
	if len(p.assigned) == 0 {
		return nil
	}
	for _, at := range p.inputs {
		s := r.leaves[at]
		b, err := s.on(ctx, p.device)
		if err != nil {
			return err
		}
		s.done()
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

// inputs checks names and dtypes and computes what is not computed yet.
func (r *running) inputs(ctx context.Context, in map[string]Tensor) error {
	p := r.Program
	computed := true
	for i, at := range p.inputs {
		l := &p.leaves[at]
		x, ok := in[l.Name]
		if !ok {
			return fmt.Errorf("input %q is missing among %q: the program takes %s", l.Name, slices.Sorted(maps.Keys(in)), p.signature())
		}
		if x.load().scalar {
			x = constant(l.Type.DType, x.v.number)
		}
		if err := x.Err(); err != nil {
			return fmt.Errorf("input %q: %w", l.Name, err)
		}
		if x.v.DType != l.Type.DType {
			return fmt.Errorf("input %q is %v, want %v: use Cast", l.Name, x.v.DType, l.Type.DType)
		}
		r.values[i] = x.v
		r.leaves[at] = x.v.expr.Load().store
		computed = computed && r.leaves[at] != nil
	}
	if len(in) > len(p.inputs) {
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !slices.ContainsFunc(p.inputs, func(at int) bool { return p.leaves[at].Name == name }) {
				return fmt.Errorf("unknown input %q, on which no output depends: the program takes %s", name, p.signature())
			}
		}
	}
	if computed {
		return nil
	}
	stores, err := resolve(WithDevice(ctx, p.device), r.values)
	if err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	for i, at := range p.inputs {
		r.leaves[at] = stores[i]
	}
	return nil
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

func passTurns(all []assignment) {
	for _, a := range all {
		a.variable.turn.pass()
	}
}

// firstValues makes sure that every variable has a version.
func (p *Program) firstValues(ctx context.Context) error {
	for _, v := range p.variables {
		if v == nil {
			continue
		}
		if _, err := v.current(ctx, p.device); err != nil {
			return err
		}
	}
	return nil
}

// onlyAssigns tells whether a variable gets a value and nothing reads the one that
// it has.
func (p *Program) onlyAssigns(leaf int) bool {
	for _, o := range p.outputs {
		if o.leaf && o.at == leaf {
			return false
		}
	}
	assigned := false
	for _, n := range p.graph.Nodes {
		for i, in := range n.In {
			if in.Op == ir.Variable && in.Attr.Leaf == leaf {
				if n.Op != ir.Assign || i > 0 {
					return false
				}
				assigned = true
			}
		}
	}
	return assigned
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
