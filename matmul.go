package sinter

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// MatMul is numpy's matmul: the product of the matrices in the last two axes,
// the axes before them broadcast. A vector counts as a row on the left and as
// a column on the right.
func (x Tensor) MatMul(y Tensor) Tensor {
	given := []Tensor{x, y}
	if bad, ok := firstErr(given...); ok {
		return bad
	}
	if len(x.v.Shape) == 0 || len(y.v.Shape) == 0 {
		return failf(given, "takes rank 1 or more: use Mul")
	}
	row, column := len(x.v.Shape) == 1, len(y.v.Shape) == 1
	if row {
		x = x.Unsqueeze(0)
	}
	if column {
		y = y.Unsqueeze(1)
	}
	z := matmul(given, x, y)
	if bad, ok := firstErr(z); ok {
		return bad
	}
	if column {
		z = z.drop([]int{len(z.v.Shape) - 1})
	}
	if row {
		z = z.drop([]int{len(z.v.Shape) - 1 - boolInt(!column)})
	}
	return z
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// matmul multiplies operands of rank 2 or more.
func matmul(given []Tensor, x, y Tensor) Tensor {
	xs, ys := x.v.Shape, y.v.Shape
	m := len(xs) - 1
	if len(ys) == 2 && len(xs) > 2 {
		// One matrix for all: the rows of all batches make one product.
		rows := ir.Shape{ir.Shape(xs[:m]).Numel(), xs[m]}
		z := applyTo(given, ir.MatMul, ir.Attr{}, x.reshape(rows), y)
		return z.reshape(append(slices.Clone(xs[:m]), ys[1]))
	}
	batch, err := ir.Broadcast(xs[:m-1], ys[:len(ys)-2])
	if err != nil {
		return fail(err, given...)
	}
	x = x.expandTo(append(slices.Clone(batch), xs[m-1:]...))
	y = y.expandTo(append(slices.Clone(batch), ys[len(ys)-2:]...))
	return applyTo(given, ir.MatMul, ir.Attr{}, x, y)
}

// Dot is the product of two vectors, or MatMul for other ranks.
func (x Tensor) Dot(y Tensor) Tensor { return x.MatMul(y) }

// Outer is the matrix of all products of two vectors.
func (x Tensor) Outer(y Tensor) Tensor {
	return x.Reshape(-1, 1).Mul(y.Reshape(1, -1))
}

// Linear is x times the transpose of weight [out, in], plus bias [out]. The
// zero Tensor as bias is none.
func Linear(x, weight, bias Tensor) Tensor {
	if bad, ok := firstErr(x, weight); ok {
		return bad
	}
	if len(weight.v.Shape) != 2 {
		return failf([]Tensor{x, weight}, "the weight has rank %d, want [out, in]", len(weight.v.Shape))
	}
	y := x.MatMul(weight.T())
	if bias.v == nil {
		return y
	}
	return y.Add(bias)
}
