package nn

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter"
)

// Error is a layer that was given what it cannot take. It names the layer by
// its path, such as blocks.3.mlp.
type Error struct {
	Path string // "" for a layer that stands alone
	Kind string // Linear, Conv2d, ...
	Err  error
}

func (e *Error) Error() string {
	s := "nn:"
	for _, part := range []string{e.Kind, e.Path} {
		if part != "" {
			s += " " + part
		}
	}
	if e.Err != nil { // the zero Error has none
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errKernel = errors.New("the Kernel has no size for each axis, or is too large")
	errGroups = errors.New("the channels, In and Out, do not divide into the groups")
	// Beyond it nothing but the bias would be.
	errOutputPadding = errors.New("an OutputPadding is neither below the Stride nor below the Dilation")
)

var errNoWeights = errors.New("it has no weights: call nn.Init on the net before it is used")

// layer is what a layer knows of itself for messages.
type layer struct {
	kind, path string
}

// named gives y, made by the layer from operands, an error that says so if it
// failed there and not before.
func (l layer) named(y sinter.Tensor, operands ...sinter.Tensor) sinter.Tensor {
	var known *Error
	if err := y.Err(); err != nil && !failed(operands) && !errors.As(err, &known) {
		return l.fail(err, operands...)
	}
	return y
}

func failed(all []sinter.Tensor) bool {
	for _, x := range all {
		if x.Err() != nil {
			return true
		}
	}
	return false
}

func (l layer) fail(err error, operands ...sinter.Tensor) sinter.Tensor {
	return sinter.Fail(&Error{Path: l.path, Kind: l.kind, Err: err}, operands...)
}

func (l layer) failf(operands []sinter.Tensor, format string, args ...any) sinter.Tensor {
	return l.fail(fmt.Errorf(format, args...), operands...)
}

// read is the variable's value.
func read(v *sinter.Variable) sinter.Tensor {
	if v == nil {
		return sinter.Fail(errNoWeights)
	}
	return v.Tensor()
}

// readIf is read, or the zero Tensor, which the functions of package sinter
// take for none.
func readIf(has bool, v *sinter.Variable) sinter.Tensor {
	if !has {
		return sinter.Tensor{}
	}
	return read(v)
}

// given tells whether an optional tensor is there.
func given(x sinter.Tensor) bool { return x != sinter.Tensor{} }

// maxSize bounds the sizes that layers are made with, so that products of two
// and multiples stay far from overflow.
const maxSize = 1 << 28

// size is a field of a layer by its name.
type size struct {
	name string
	n    int
}

func checkSizes(all ...size) error {
	for _, s := range all {
		if s.n < 1 || s.n > maxSize {
			return fmt.Errorf("%s is %d: set it to a size from 1 to %d", s.name, s.n, maxSize)
		}
	}
	return nil
}
