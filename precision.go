package sinter

import (
	"fmt"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// Precision is what a program computes products in. The zero Precision is F32:
// as written. BF16 and F16 round the operands of every product to the dtype of
// this name, in attention and in gradients too, and sum in f32; F16 rounds the
// results as well, so that they may become infinite, see optim.LossScale. TF32 is
// a permission: devices with units for it may round the operands of products to 10
// binary digits behind the first; others compute them as written. Int8 quantises
// products of data with weights: weights by columns, data by rows. Int4 keeps the
// weights of these products in 4 bits, with a factor for 32 of them, and rounds the
// data to bf16. Everything else computes as written; docs/precision.md lists what,
// and what is lost.
type Precision = DType

// Precisions that are no dtype of tensors: see Precision.
const (
	Int8 = ir.Int8
	Int4 = ir.Int4
	TF32 = ir.TF32
)

// products is the dtype that a precision makes products compute in; 0 is as
// written.
func products(p Precision) (ir.DType, error) {
	switch p {
	case 0, F32:
		return 0, nil
	case BF16:
		return ir.BF16, nil
	case F16:
		return ir.F16, nil
	case TF32:
		return ir.TF32, nil
	case Int8:
		return ir.I8, nil
	case Int4:
		return 0, nil // as written, once weights are packed
	}
	return 0, fmt.Errorf("precision %s is not supported: use F32, BF16, F16, TF32, Int8 or Int4", p)
}

// referee tells whether d evaluates graphs as they are, without any pass.
func (d *Device) referee() bool {
	_, ok := d.dev.(*interp.Device)
	return ok
}

// asAsked is what g means in a precision: the one pass that changes more than
// the last places is done before the referee sees the graph.
func asAsked(g *ir.Graph, products ir.DType) (*ir.Graph, error) {
	g, _, err := rewrite.Run(g, rewrite.Options{NoOpt: []string{"all"}, Precision: products})
	return g, err
}
