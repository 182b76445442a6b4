package sinter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/ir"
)

// Variable is a tensor that programs change. A program reads the version that
// was committed last when it starts; programs that assign it take turns. The
// zero Variable is an error when used.
type Variable struct {
	id      int64 // the order in which several are locked
	name    string
	err     error
	read    Tensor // the leaf
	init    *value
	first   turn // held while init is computed
	turn    turn // held by a run that assigns
	version atomic.Pointer[storage]
}

var variableCount atomic.Int64

// turn is a mutex that can be waited for under a context.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) pass() { <-t }

// NewVariable makes a variable. Its first version is init, computed when it is
// first needed. The name is for messages and checkpoints.
func NewVariable(name string, init Tensor) *Variable {
	v := &Variable{id: variableCount.Add(1), name: name, first: newTurn(), turn: newTurn()}
	if bad, ok := firstErr(init); ok {
		v.err, v.read = bad.Err(), bad
		return v
	}
	if sizes, ok := init.v.Shape.Ints(); !ok {
		v.read = failf([]Tensor{init}, "variable %q needs sizes without symbols", name)
		v.err = v.read.Err()
		return v
	} else if _, err := checkStatic(init.v.DType, sizes); err != nil {
		v.read = fail(err, init)
		v.err = v.read.Err()
		return v
	}
	v.init = init.v
	t := init.v.Type
	v.read = Tensor{newValue(t, &expr{op: ir.Variable, attr: ir.Attr{DType: t.DType, Shape: t.Shape}, name: name, variable: v})}
	return v
}

// Name is what NewVariable was given.
func (v *Variable) Name() string {
	if v == nil {
		return ""
	}
	return v.name
}

// Err is the error of the tensor that the variable was made from.
func (v *Variable) Err() error {
	if v == nil || v.turn == nil {
		return errZeroVariable
	}
	return v.err
}

var errZeroVariable = errors.New("the zero Variable has no value: make one with NewVariable")

// Tensor reads the last committed version, as of when a program runs.
func (v *Variable) Tensor() Tensor {
	if v == nil || v.turn == nil {
		return fail(errZeroVariable)
	}
	return v.read
}

// Assign is t, which becomes the variable's next version when a program with
// the result among its outputs has run.
func (v *Variable) Assign(t Tensor) Tensor {
	r := v.Tensor()
	if bad, ok := firstErr(r, t); ok {
		return bad
	}
	t = adapt(r, t)[1]
	if t.v.err == nil && len(t.v.Shape) < len(r.v.Shape) && t.v.scalar {
		t = t.expandTo(r.v.Shape)
	}
	return apply(ir.Assign, ir.Attr{}, r, t)
}

// current is the last committed version; the first is computed on d.
func (v *Variable) current(ctx context.Context, d *Device) (*storage, error) {
	if s := v.version.Load(); s != nil {
		return s, nil
	}
	if err := v.first.take(ctx); err != nil {
		return nil, err
	}
	defer v.first.pass()
	if s := v.version.Load(); s != nil {
		return s, nil
	}
	s, err := v.compute(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("first value of variable %q: %w", v.name, err)
	}
	s.keep()
	v.version.Store(s)
	v.init = nil // or its memory would stay beside that of later versions
	return s, nil
}

// lost adds to the error of reading a version that it was the variable's only one,
// and what to do.
func (v *Variable) lost(ctx context.Context, err error) error {
	if !isLost(ctx, err) {
		return err
	}
	return fmt.Errorf("the values of variable %q lay on a device alone, and are lost with it: load them from a checkpoint: %w", v.name, err)
}

// isLost tells whether values could not be read as their device does not give them.
func isLost(ctx context.Context, err error) bool {
	_, unread := errors.AsType[*unreadError](err)
	return unread && ctx.Err() == nil
}

// compute makes the first version. Where that is more than looking up a tensor
// the memory is the variable's alone; the tensor that it was made from stays
// an expression, for whoever has it.
func (v *Variable) compute(ctx context.Context, d *Device) (*storage, error) {
	if s := v.init.expr.Load().store; s != nil {
		s.share()
		return s, nil
	}
	g, err := captureValues([]*value{v.init})
	if err != nil {
		return nil, err
	}
	assigns := slices.ContainsFunc(g.graph.Nodes, func(n *ir.Node) bool { return n.Op == ir.Assign })
	if assigns || len(g.graph.Outputs) != 1 || g.graph.Outputs[0].Op.HasLeaf() {
		stores, err := resolveOn(ctx, d, []*value{v.init})
		if err != nil {
			return nil, err
		}
		stores[0].share()
		return stores[0], nil
	}
	p, err := compileValues(ctx, d, g)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	stores, err := p.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	return stores[0], nil
}
