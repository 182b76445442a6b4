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

// apart writes indices of loads as a sum whose last term is a constant, if they
// have one: those that differ by it alone have the rest in common.
func apart(body []loop.Stmt) []loop.Stmt {
	return loop.Rewrite(body, func(e *loop.Expr) *loop.Expr {
		if e.Kind != loop.KindLoad || len(e.Args) != 1 {
			return e
		}
		rest, c := constantOf(e.Args[0])
		if c == 0 {
			return e
		}
		return loop.Load(e.Param, e.DType, loop.AddIndex(rest, loop.Int(c)), nil)
	})
}

// constantOf takes the constant out of a sum, and out of sums that are multiplied.
func constantOf(e *loop.Expr) (rest *loop.Expr, c int) {
	if n, ok := e.AsInt(); ok {
		return loop.Int(0), n
	}
	if e.Kind != loop.KindApply || e.Op != ir.Add && e.Op != ir.Mul {
		return e, 0
	}
	x, a := constantOf(e.Args[0])
	if e.Op == ir.Add {
		y, b := constantOf(e.Args[1])
		return loop.AddIndex(x, y), a + b
	}
	n, ok := e.Args[1].AsInt()
	if !ok || a == 0 || max(a, -a) > math.MaxInt32/max(n, -n, 1) {
		return e, 0
	}
	return loop.MulIndex(x, loop.Int(n)), a * n
}
