package sinter

import (
	"slices"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/ir"
)

// Tensor is a handle on a value that exists or will be computed. Operations on
// it only record what to do; Values, Eval and Program.Run do it. Tensors are
// immutable and may be used from many goroutines. An operation that does not
// fit gives a tensor with an error that sticks: see Err. The zero Tensor is an
// error when used.
type Tensor struct{ v *value }

// value is what a Tensor is a handle on. Everything but expr is fixed when it
// is made.
type value struct {
	ir.Type
	outs   []ir.Type // of all outputs, for operations with several
	err    error
	serial int64 // values are numbered as they are made
	scalar bool  // made by Scalar: adapts to the dtype it meets
	number float64

	// How the value is computed. Once resolved the expression is swapped for a
	// leaf that holds the result, so that what it was computed from can go,
	// also for values that were built on this one before.
	expr atomic.Pointer[expr]
}

// expr is an operation and its operands. It is immutable.
type expr struct {
	op   ir.Op
	attr ir.Attr
	in   []*value

	// The value is that of in[0], y; its gradient is what custom makes of y's for
	// the rest of in.
	custom func(in []Tensor, y, dy Tensor) []Tensor
	// Of a Checkpoint: the values that only it leads to.
	inside map[*value]bool

	// For leaves.
	name     string    // Input, Weight, Variable
	store    *storage  // Bound, Weight
	variable *Variable // Variable
	origins  origins   // Bound, if it was computed
}

// zeroValue is what the zero Tensor is a handle on.
var zeroValue = &value{err: errZero}

func (x Tensor) load() *value {
	if x.v == nil {
		return zeroValue
	}
	return x.v
}

// leaf is the value's expression if it reads a leaf of a graph, else nil.
func (v *value) leaf() *expr {
	if e := v.expr.Load(); e != nil && e.op.HasLeaf() && e.op != ir.Assign {
		return e
	}
	return nil
}

// newValue makes a value from a checked expression.
func newValue(t ir.Type, e *expr) *value {
	v := &value{Type: t, serial: serials.Add(1)}
	v.expr.Store(e)
	return v
}

var serials atomic.Int64

// Shape is the size of each dimension, nil for a tensor with an error.
func (x Tensor) Shape() []Dim { return slices.Clone([]Dim(x.load().Shape)) }

// Rank is the number of dimensions.
func (x Tensor) Rank() int { return len(x.load().Shape) }

// Dim is the size of one dimension, from the end if axis is negative; -1 if
// there is no such axis.
func (x Tensor) Dim(axis int) Dim {
	s := x.load().Shape
	if axis < 0 {
		axis += len(s)
	}
	if axis < 0 || axis >= len(s) {
		return N(-1)
	}
	return s[axis]
}

// DType is the type of the elements, the zero DType for a tensor with an error.
func (x Tensor) DType() DType { return x.load().DType }

// Err is the first error among the operations that made the tensor. It names
// the operation, the shapes and the file and line of the call.
func (x Tensor) Err() error { return x.load().err }

// String describes the tensor. It never evaluates: values show only where they
// are there.
func (x Tensor) String() string {
	v := x.load()
	if v.err != nil {
		return "Tensor(error: " + v.err.Error() + ")"
	}
	e := v.expr.Load()
	s := "Tensor(" + v.Type.String() + " " + e.op.String()
	if e.name != "" {
		s += " " + e.name
	}
	if e.store != nil {
		s += e.store.preview(8)
	}
	return s + ")"
}
