package entry

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// IsIndex tells whether e is arithmetic on loop variables and sizes alone, which
// never wraps and where a division is of what is not negative.
func IsIndex(e *loop.Expr) bool {
	switch e.Kind {
	case loop.KindVar, loop.KindSize, loop.KindIndex:
		return true
	case loop.KindConst:
		return e.DType == ir.I64 && int64(e.Bits) > math.MinInt32 && int64(e.Bits) < math.MaxInt32
	case loop.KindApply:
		if e.DType != ir.I64 && e.DType != ir.Bool {
			return false
		}
		switch e.Op {
		case ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.Less:
			return IsIndex(e.Args[0]) && IsIndex(e.Args[1])
		case ir.IDiv, ir.Mod:
			return notNegative(e.Args[0]) && IsIndex(e.Args[0]) && notNegative(e.Args[1]) && IsIndex(e.Args[1])
		}
	}
	return false
}

// notNegative tells whether an index cannot be below 0, whatever a loop runs
// over: starts of loops are not negative.
func notNegative(e *loop.Expr) bool {
	switch e.Kind {
	case loop.KindVar, loop.KindIndex:
		return true
	case loop.KindSize:
		lo, _ := e.Size.Bounds()
		return lo >= 0
	case loop.KindConst:
		return int64(e.Bits) >= 0
	case loop.KindApply:
		switch e.Op {
		case ir.Add, ir.Mul, ir.IDiv, ir.Mod, ir.Min:
			return notNegative(e.Args[0]) && notNegative(e.Args[1])
		}
	}
	return false
}
