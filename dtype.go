package sinter

import "github.com/sinterml/sinter/internal/ir"

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
