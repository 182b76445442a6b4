package native

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// Computable tells whether d is computed in 32-bit lanes.
func Computable(d ir.DType) bool {
	switch d.Compute() {
	case ir.F32, ir.I32, ir.U32:
		return true
	}
	return false
}

// Wide tells whether d is computed in lanes of 8 bytes.
func Wide(d ir.DType) bool { return d == ir.F64 || d == ir.I64 }

// ConstBits is a constant of 32-bit lanes in its compute type.
func (n *Node) ConstBits() uint32 {
	switch n.DType {
	case ir.F16:
		return math.Float32bits(ir.F16ToFloat32(uint16(n.Bits)))
	case ir.BF16:
		return math.Float32bits(ir.BF16ToFloat32(uint16(n.Bits)))
	case ir.I8:
		return uint32(int32(int8(n.Bits)))
	case ir.I16:
		return uint32(int32(int16(n.Bits)))
	}
	return uint32(n.Bits)
}
