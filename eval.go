package sinter

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
)

var (
	errNilContext = errors.New("the context is nil: use context.Background()")
	errNilWriter  = errors.New("nowhere to write: the writer is nil")
)

// Values computes x and returns its elements, row by row. All of x's graph
// runs in one submission. T must be the Go type of x's dtype.
func Values[T Elem](ctx context.Context, x Tensor) ([]T, error) {
	if err := x.Err(); err != nil {
		return nil, err
	}
	if dt := dtypeOf[T](); dt != x.v.DType {
		var zero T
		return nil, fmt.Errorf("values of %v asked for as %T: use Cast(%v)", x.v.DType, zero, dt)
	}
	if v := x.v.expr.Load().variable; v != nil {
		return variableValues[T](ctx, v)
	}
	stores, err := resolve(ctx, []*value{x.v})
	if err != nil {
		return nil, err
	}
	return elements[T](ctx, stores[0])
}

// variableValues reads the version of v that was committed last, which a run
// cannot overwrite meanwhile.
func variableValues[T Elem](ctx context.Context, v *Variable) ([]T, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if v.version.Load() == nil {
		d, err := deviceFrom(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := v.current(ctx, d); err != nil {
			return nil, err
		}
	}
	var version [1]*storage
	if err := versions(ctx, []*Variable{v}, version[:]); err != nil {
		return nil, err
	}
	defer version[0].done()
	out, err := elements[T](ctx, version[0])
	return out, v.lost(ctx, err)
}

// elements copies values out.
func elements[T Elem](ctx context.Context, s *storage) ([]T, error) {
	var out []T
	err := s.read(ctx, func(b []byte) error {
		var zero T
		out = make([]T, len(b)/int(unsafe.Sizeof(zero)))
		copy(bytesOf(out), b)
		return nil
	})
	return out, err
}

// Eval computes several tensors in one submission. The results are tensors
// with values, on the device that made them.
func Eval(ctx context.Context, xs ...Tensor) ([]Tensor, error) {
	values := make([]*value, len(xs))
	for i, x := range xs {
		if err := x.Err(); err != nil {
			return nil, err
		}
		values[i] = x.v
	}
	stores, err := resolve(ctx, values)
	if err != nil {
		return nil, err
	}
	out := make([]Tensor, len(stores))
	for i, s := range stores {
		out[i] = bound(ir.Bound, "", s)
	}
	return out, nil
}

// resolve computes values on the context's device.
func resolve(ctx context.Context, values []*value) ([]*storage, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stores := make([]*storage, len(values))
	todo := false
	for i, v := range values {
		if stores[i] = v.expr.Load().store; stores[i] == nil {
			todo = true
		}
	}
	if !todo {
		return stores, nil
	}
	d, _ := ctx.Value(deviceKey{}).(*Device)
	if d != nil || ctx.Value(deviceKey{}) != nil {
		if err := d.check(); err != nil {
			return nil, err
		}
	}
	return resolveOn(ctx, d, values)
}

// resolveOn computes values on d, or where that is nil on the device that suits
// them best, and swaps their expressions for the results.
func resolveOn(ctx context.Context, d *Device, values []*value) ([]*storage, error) {
	before := make([]*expr, len(values))
	for i, v := range values {
		before[i] = v.expr.Load()
	}
	g, err := captureValues(values)
	if err != nil {
		return nil, err
	}
	p, err := compileValues(ctx, d, g)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	p.lends = true
	stores, err := p.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	budget := originsLimit
	for i, v := range values {
		// A variable goes on reading its latest version.
		if e := before[i]; e.op != ir.Variable && e.store == nil {
			leaf := stores[i].leaf(ir.Bound, "")
			leaf.origins = originsOf(e, &budget)
			v.expr.CompareAndSwap(e, leaf)
		}
	}
	return stores, nil
}

// compileValues compiles a graph that has to do without inputs.
func compileValues(ctx context.Context, d *Device, g *Graph) (*Program, error) {
	for _, l := range g.graph.Leaves {
		if l.Kind == ir.Input {
			return nil, fmt.Errorf("input %q has no value here: use Compile and Program.Run", l.Name)
		}
	}
	if s := g.graph.Symbols(); len(s) > 0 {
		return nil, fmt.Errorf("size %q has no value here: use Compile and Program.Run", s[0].Name)
	}
	return compile(ctx, g, Options{Device: d})
}
