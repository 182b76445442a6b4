package sinter

import (
	"fmt"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// Precision is what a program computes products of data with weights in. The
// zero Precision is F32: as written. BF16 is the dtype of this name, summed in
// f32. Int8 quantises weights by columns and data by rows. In both, attention has
// its products in bf16. Everything else computes as written; docs/precision.md
// lists what, and what is lost.
//
// F16 and Int4 are not supported yet.
type Precision = DType

const (
	Int8 Precision = 0x40 + iota
	Int4
)

// products is the dtype that a precision makes products compute in; 0 is as
// written.
func products(p Precision) (ir.DType, error) {
	switch p {
	case 0, F32:
		return 0, nil
	case BF16:
		return ir.BF16, nil
	case Int8:
		return ir.I8, nil
	}
	return 0, fmt.Errorf("precision %s is not supported: use F32, BF16 or Int8", precisionName(p))
}

func precisionName(p Precision) string {
	switch p {
	case Int8:
		return "int8"
	case Int4:
		return "int4"
	}
	return p.String()
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
