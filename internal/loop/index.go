package loop

import "github.com/sinterml/sinter/internal/ir"

// The constructors below build i64 index arithmetic and simplify as they go:
// lowering composes views one at a time and leaves the tidying to them. Index
// values are never negative except where a Pad looks left of its operand.

// AddIndex is a + b.
func AddIndex(a, b *Expr) *Expr {
	x, aok := a.AsInt()
	y, bok := b.AsInt()
	switch {
	case aok && bok:
		return Int(x + y)
	case aok && x == 0:
		return b
	case bok && y == 0:
		return a
	case aok:
		return AddIndex(b, a)
	}
	if bok && a.Kind == KindApply && a.Op == ir.Add {
		if c, ok := a.Args[1].AsInt(); ok { // (p + c) + y
			return AddIndex(a.Args[0], Int(c+y))
		}
	}
	if whole := rejoinFirst(a, b); whole != nil { // of what a reshape took apart
		return whole
	}
	return Apply(ir.Add, ir.I64, a, b)
}

// rejoinFirst joins the first summand of b, or of what b is a multiple of, to a,
// see rejoin; nil if that cannot be.
func rejoinFirst(a, b *Expr) *Expr {
	sum, step := scaled(b)
	if sum.Kind != KindApply || sum.Op != ir.Add {
		return rejoin(a, b)
	}
	times := SizeOf(step)
	if whole := rejoinFirst(a, MulIndex(sum.Args[0], times)); whole != nil {
		return AddIndex(whole, MulIndex(sum.Args[1], times))
	}
	return nil
}

// rejoin is p + x*s where a is p + floor(x/c)*c*s and b is (x mod c)*s, and
// p + (x mod c*n)*s where a has no more than floor(x/c) mod n; else nil. What is
// looked for may be the last summand of a factor of a's last summand.
func rejoin(a, b *Expr) *Expr {
	m, s := scaled(b)
	if m.Kind != KindApply || m.Op != ir.Mod || a.Kind != KindApply {
		return nil
	}
	c, ok := m.Args[1].dim()
	if !ok {
		return nil
	}
	rest, last := Int(0), a
	if a.Op == ir.Add {
		rest, last = a.Args[0], a.Args[1]
	}
	q, step := scaled(last)
	if !step.Equal(c.Mul(s)) || q.Kind != KindApply {
		return nil
	}
	if q.Op == ir.Add {
		rest, q = AddIndex(rest, MulIndex(q.Args[0], SizeOf(step))), q.Args[1]
	}
	x := m.Args[0]
	switch {
	case isQuotient(q, x, c):
	case q.Kind == KindApply && q.Op == ir.Mod && isQuotient(q.Args[0], x, c):
		n, ok := q.Args[1].dim()
		if !ok {
			return nil
		}
		x = Apply(ir.Mod, ir.I64, x, SizeOf(c.Mul(n)))
	default:
		return nil
	}
	return AddIndex(rest, MulIndex(x, SizeOf(s)))
}

// scaled takes the size that e is multiplied by off it.
func scaled(e *Expr) (*Expr, ir.Dim) {
	if e.Kind == KindApply && e.Op == ir.Mul {
		if s, ok := e.Args[1].dim(); ok {
			return e.Args[0], s
		}
	}
	return e, ir.N(1)
}

// isQuotient tells whether q is floor(x/c) by form, x itself perhaps a quotient.
func isQuotient(q, x *Expr, c ir.Dim) bool {
	if q.Kind != KindApply || q.Op != ir.IDiv {
		return false
	}
	by, ok := q.Args[1].dim()
	if !ok {
		return false
	}
	if SameIndex(q.Args[0], x) {
		return by.Equal(c)
	}
	if x.Kind != KindApply || x.Op != ir.IDiv || !SameIndex(q.Args[0], x.Args[0]) {
		return false
	}
	inner, ok := x.Args[1].dim()
	return ok && by.Equal(inner.Mul(c))
}

// SameIndex tells whether two expressions are alike by form: variables, sizes
// and arithmetic.
func SameIndex(a, b *Expr) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind || len(a.Args) != len(b.Args) || a.DType != b.DType {
		return false
	}
	switch a.Kind {
	case KindConst:
		return a.Bits == b.Bits
	case KindVar:
		return a.Var == b.Var
	case KindSize:
		return a.Size.Equal(b.Size)
	case KindApply:
		for i := range a.Args {
			if !SameIndex(a.Args[i], b.Args[i]) {
				return false
			}
		}
		return a.Op == b.Op
	}
	return false
}

// SubIndex is a - b.
func SubIndex(a, b *Expr) *Expr {
	if y, ok := b.AsInt(); ok {
		return AddIndex(a, Int(-y))
	}
	return Apply(ir.Sub, ir.I64, a, b)
}

// MulIndex is a * b.
func MulIndex(a, b *Expr) *Expr {
	x, aok := a.AsInt()
	y, bok := b.AsInt()
	switch {
	case aok && bok:
		return Int(x * y)
	case aok:
		return MulIndex(b, a)
	case bok && y == 0:
		return b
	case bok && y == 1:
		return a
	}
	if bok && a.Kind == KindApply && a.Op == ir.Mul {
		if c, ok := a.Args[1].AsInt(); ok { // (p * c) * y
			return MulIndex(a.Args[0], Int(c*y))
		}
	}
	if bok && a.Kind == KindApply && a.Op == ir.Add {
		if c, ok := a.Args[1].AsInt(); ok { // (p + c) * y
			return AddIndex(MulIndex(a.Args[0], b), Int(c*y))
		}
	}
	return Apply(ir.Mul, ir.I64, a, b)
}

// Bound tells the range of a variable, 0 <= v < Bound(v), if it is known.
type Bound func(v *Var) (ir.Dim, bool)

// DivIndex is floor(a / b) for a >= 0 and b > 0. An axis without elements has no
// index that is read: 0 will do.
func DivIndex(a *Expr, b ir.Dim, bound Bound) *Expr {
	switch {
	case b.IsConst(1):
		return a
	case b.IsConst(0):
		return Int(0)
	}
	q, r := divide(a, b, bound)
	if r == nil || within(r, b, bound) {
		return q
	}
	if whole, _, by := splitOff(r, b, bound); whole != nil {
		part, _ := b.Div(by)
		return AddIndex(q, DivIndex(whole, part, bound))
	}
	return AddIndex(q, Apply(ir.IDiv, ir.I64, r, SizeOf(b)))
}

// ModIndex is a - b*floor(a/b) for a >= 0 and b > 0; 0 for an axis without
// elements.
func ModIndex(a *Expr, b ir.Dim, bound Bound) *Expr {
	if b.IsConst(1) || b.IsConst(0) {
		return Int(0)
	}
	_, r := divide(a, b, bound)
	if r == nil {
		return Int(0)
	}
	if within(r, b, bound) {
		return r
	}
	if whole, below, by := splitOff(r, b, bound); whole != nil {
		part, _ := b.Div(by)
		return AddIndex(MulIndex(ModIndex(whole, part, bound), SizeOf(by)), below)
	}
	return Apply(ir.Mod, ir.I64, r, SizeOf(b))
}

// splitOff is a as whole*by + below, where by divides b and below is at least 0
// and less than by: neither a division by b nor what it leaves over needs below.
// Of several it takes the largest by; whole is nil where there is none.
func splitOff(a *Expr, b ir.Dim, bound Bound) (whole, below *Expr, by ir.Dim) {
	largest := int64(0)
	for _, t := range summands(a, nil) {
		_, step := scaled(t)
		least, _ := step.Bounds()
		if _, ok := b.Div(step); !ok || step.IsConst(1) || least <= largest {
			continue
		}
		q, r := divide(a, step, bound)
		if r == nil {
			r = Int(0)
		}
		if within(r, step, bound) {
			whole, below, by, largest = q, r, step, least
		}
	}
	return whole, below, by
}

// divide splits a into q*b + r, r nil for zero: the summands that are
// multiples of b by form go to q.
func divide(a *Expr, b ir.Dim, bound Bound) (q, r *Expr) {
	q = Int(0)
	for _, t := range summands(a, nil) {
		if part, ok := exact(t, b); ok {
			q = AddIndex(q, part)
		} else if r == nil {
			r = t
		} else {
			r = AddIndex(r, t)
		}
	}
	return q, r
}

func summands(e *Expr, to []*Expr) []*Expr {
	if e.Kind == KindApply && e.Op == ir.Add {
		return summands(e.Args[1], summands(e.Args[0], to))
	}
	return append(to, e)
}

// exact returns e/b when e is a product that holds b as a factor.
func exact(e *Expr, b ir.Dim) (*Expr, bool) {
	if d, ok := e.dim(); ok {
		if q, ok := d.Div(b); ok {
			return SizeOf(q), true
		}
		return nil, false
	}
	if e.Kind == KindApply && e.Op == ir.Mul {
		if q, ok := exact(e.Args[1], b); ok {
			return MulIndex(e.Args[0], q), true
		}
		if q, ok := exact(e.Args[0], b); ok {
			return MulIndex(q, e.Args[1]), true
		}
	}
	return nil, false
}

// dim returns the size that e is, if it is one.
func (e *Expr) dim() (ir.Dim, bool) {
	if n, ok := e.AsInt(); ok {
		return ir.N(n), true
	}
	if e.Kind == KindSize {
		return e.Size, true
	}
	return ir.Dim{}, false
}

// And joins two conditions of which either may be nil for true.
func And(a, b *Expr) *Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return Apply(ir.And, ir.Bool, a, b)
}
