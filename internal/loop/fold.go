package loop

import "github.com/sinterml/sinter/internal/ir"

// Fold is e with less to compute, where a place that is partly known was put
// in: of the k-th weight, say, for k = 2*step + 1. Quotients and remainders of
// sums by a constant lose what is a multiple of it, operations on integer
// constants become constants, and bits are not moved to and fro.
func Fold(e *Expr) *Expr { return FoldWithin(e, nil) }

// FoldWithin is Fold where some variables are known to be below a number, and not
// negative.
func FoldWithin(e *Expr, below map[*Var]int) *Expr {
	fold := func(e *Expr) *Expr { return foldOne(e, below) }
	return Rewrite([]Stmt{&Set{Value: e}}, fold)[0].(*Set).Value
}

func foldOne(e *Expr, below map[*Var]int) *Expr {
	if e.Kind != KindApply {
		return e
	}
	if folded := foldConstants(e); folded != nil {
		return folded
	}
	x := e.Args[0]
	switch e.Op {
	case ir.IDiv, ir.Mod:
		if c, ok := e.Args[1].AsInt(); ok && c > 0 {
			return foldDivision(e, c, below)
		}
	case ir.Shl, ir.Shr:
		if by := e.Args[1]; by.Kind == KindConst && by.Bits == 0 && !e.DType.IsFloat() {
			return x
		}
	case ir.Bitcast:
		if x.Kind == KindApply && x.Op == ir.Bitcast && x.Args[0].DType == e.DType {
			return x.Args[0]
		}
	case ir.Cast: // from u32 to u16 and back
		if e.DType == ir.U32 && x.Kind == KindApply && x.Op == ir.Cast && x.DType == ir.U16 && isUpperHalf(x.Args[0]) {
			return x.Args[0]
		}
	}
	return e
}

// isUpperHalf tells whether e is the upper 16 of 32 bits.
func isUpperHalf(e *Expr) bool {
	return e.Kind == KindApply && e.Op == ir.Shr && e.DType == ir.U32 && e.Args[1].Kind == KindConst && e.Args[1].Bits == 16
}

// foldConstants computes an operation whose operands are all integers that are
// known; else nil. Division may fail, and is left to the run.
func foldConstants(e *Expr) *Expr {
	var v [3]uint64
	for i, a := range e.Args {
		if a.Kind != KindConst || !a.DType.IsInt() || i == len(v) {
			return nil
		}
		v[i] = a.Bits
	}
	switch e.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Cast:
		if e.DType.IsInt() {
			return Const(e.DType, Scalar(e.Op, e.Args[0].DType, e.DType)(v[0], v[1], v[2]))
		}
	}
	return nil
}

// foldDivision is the quotient or the remainder of an index by c. Both round
// towards -Inf, so that what is a multiple of c can be taken out whatever sign
// the rest has: with a = g*x + r, where g divides c and 0 <= r < g,
//
//	floor(a/c) = floor(x/(c/g)), and a mod c = g*(x mod c/g) + r
func foldDivision(e *Expr, c int, below map[*Var]int) *Expr {
	g, constant := c, 0
	most, small, large := 0, Int(0), Int(0) // of small, what is known to be below a number
	for _, t := range summands(e.Args[0], nil) {
		if n, ok := t.AsInt(); ok {
			constant += n
		} else if limit := below[t.Var]; t.Kind == KindVar && limit > 0 {
			most, small = most+limit-1, AddIndex(small, t)
		} else {
			g, large = gcd(g, factor(t)), AddIndex(large, t)
		}
	}
	r := ((constant % g) + g) % g
	if g == 1 || r+most >= g {
		return e
	}
	x, rest := divide(large, ir.N(g), nil)
	if rest != nil {
		return e // what is no product by form
	}
	x = AddIndex(x, Int((constant-r)/g))
	rests := AddIndex(small, Int(r))
	switch {
	case e.Op == ir.IDiv && g == c:
		return x
	case e.Op == ir.IDiv:
		return Apply(ir.IDiv, ir.I64, x, Int(c/g))
	case g == c:
		return rests
	}
	return AddIndex(MulIndex(Apply(ir.Mod, ir.I64, x, Int(c/g)), Int(g)), rests)
}

// factor is a constant that e is a multiple of by form.
func factor(e *Expr) int {
	if n, ok := e.AsInt(); ok {
		return max(n, -n)
	}
	if e.Kind == KindApply && e.Op == ir.Mul {
		return factor(e.Args[0]) * factor(e.Args[1])
	}
	return 1
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
