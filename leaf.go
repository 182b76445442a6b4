package sinter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Of makes a tensor of values, which are copied. They are not part of
// programs that use it: the same program serves the next batch.
func Of[T Elem](values []T, shape ...int) Tensor {
	dt := dtypeOf[T]()
	n, err := checkStatic(dt, shape)
	if err != nil {
		return fail(err)
	}
	data := bytesOf(values)
	if n != len(data) {
		return fail(fmt.Errorf("shape %v has %d elements, not the %d given", shape, n/dt.Size(), len(values)))
	}
	s := newStorage(dt, shape, nil)
	if err := s.own(n); err != nil {
		return fail(err)
	}
	copy(s.host, data)
	return bound(ir.Bound, "", s)
}

// Weight makes a tensor over the caller's memory: row-major, little endian. It
// is neither copied nor changed; the caller must not change it either while
// the tensor or a program with it is in use. A Bool is a byte that is 0 or 1.
// The name is for messages.
func Weight(name string, dt DType, data []byte, shape ...int) Tensor {
	if err := checkDType(dt); err != nil {
		return fail(fmt.Errorf("weight %q: %w", name, err))
	}
	n, err := checkStatic(dt, shape)
	if err != nil {
		return fail(fmt.Errorf("weight %q: %w", name, err))
	}
	if n != len(data) {
		return fail(fmt.Errorf("weight %q: %v%v takes %d bytes, not the %d given", name, dt, shape, n, len(data)))
	}
	if dt == Bool {
		if err := jit.Protect(func() error { return checkBools(data) }); err != nil {
			return fail(fmt.Errorf("weight %q: %w", name, err))
		}
	}
	return bound(ir.Weight, name, newStorage(dt, shape, data))
}

func checkBools(data []byte) error {
	if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 {
		return fmt.Errorf("byte %d is %d: a bool is 0 or 1", i, data[i])
	}
	return nil
}

// Scalar is a constant of rank 0. It takes the dtype of what it meets; alone
// it is F32. Constants are part of a program and are folded: bind what changes
// from call to call with Of or Input.
func Scalar(v float64) Tensor {
	x := constant(F32, v)
	x.v.scalar, x.v.number = true, v
	return x
}

// Input is a tensor that Program.Run binds by name: data, or with no shape a
// learning rate or a step. Its sizes may be symbols.
func Input(name string, dt DType, shape ...Dim) Tensor {
	t := ir.Type{DType: dt, Shape: append(ir.Shape{}, shape...)}
	if err := checkInput(name, t); err != nil {
		return fail(err)
	}
	attr := ir.Attr{DType: dt, Shape: t.Shape}
	return Tensor{newValue(t, &expr{op: ir.Input, attr: attr, name: name})}
}

func checkInput(name string, t ir.Type) error {
	if name == "" {
		return errors.New("an input needs a name: Program.Run binds by it")
	}
	if err := checkDType(t.DType); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	if err := checkSymbols(t.Shape); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	if err := t.Shape.Check(); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	return nil
}

// checkStatic gives the bytes of a shape, or says why there is no such tensor.
func checkStatic(dt DType, shape []int) (int, error) {
	if err := ir.Static(shape...).Check(); err != nil {
		return 0, err
	}
	n, ok := sizeOf(dt, shape)
	if !ok {
		return 0, fmt.Errorf("shape %v does not fit the memory of this machine", shape)
	}
	return n, nil
}

// bound makes the leaf that reads a storage.
func bound(op ir.Op, name string, s *storage) Tensor {
	return Tensor{newValue(s.Type, s.leaf(op, name))}
}

func (s *storage) leaf(op ir.Op, name string) *expr {
	return &expr{op: op, attr: ir.Attr{DType: s.DType, Shape: s.Shape}, name: name, store: s}
}
