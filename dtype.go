package sinter

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// DType is the type of one element: F32 and its fellows. The zero value is
// no type.
type DType = ir.DType

const (
	F32  = ir.F32
	F64  = ir.F64
	F16  = ir.F16
	BF16 = ir.BF16
	I8   = ir.I8
	I16  = ir.I16
	I32  = ir.I32
	I64  = ir.I64
	U8   = ir.U8
	U16  = ir.U16
	U32  = ir.U32
	U64  = ir.U64
	Bool = ir.Bool
)

// checkDType refuses what no tensor can have.
func checkDType(dt DType) error {
	switch {
	case dt.Valid():
		return nil
	case dt == Int8, dt == Int4, dt == TF32:
		return fmt.Errorf("%s is a precision of programs, no dtype of tensors as I8 and F32 are", dt)
	}
	return fmt.Errorf("no dtype %v", dt)
}
