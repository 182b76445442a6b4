package ptxsim

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// element is a type of what units for matrices multiply.
type element struct {
	bits int
	// values are those in 32 bits of a register, the lowest bits first.
	values func(x uint32, to []float64)
}

var elements = map[string]element{
	"f16": {16, func(x uint32, to []float64) {
		to[0], to[1] = float64(ir.F16ToFloat32(uint16(x))), float64(ir.F16ToFloat32(uint16(x>>16)))
	}},
	"bf16": {16, func(x uint32, to []float64) {
		to[0], to[1] = float64(math.Float32frombits(x<<16)), float64(math.Float32frombits(x&^0xffff))
	}},
	"tf32": {32, func(x uint32, to []float64) { to[0] = float64(math.Float32frombits(x &^ 0x1fff)) }},
	"s8": {8, func(x uint32, to []float64) {
		to = to[:4]
		to[0], to[1], to[2], to[3] = float64(int8(x)), float64(int8(x>>8)), float64(int8(x>>16)), float64(int8(x>>24))
	}},
	"u8": {8, func(x uint32, to []float64) {
		to = to[:4]
		to[0], to[1], to[2], to[3] = float64(uint8(x)), float64(uint8(x>>8)), float64(uint8(x>>16)), float64(uint8(x>>24))
	}},
}
