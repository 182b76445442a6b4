package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Linear is an epilogue that stores Scale*(Acc + Bias) + Beside, rounded after each sum, or
// the larger of that and 0: as layers, residuals and steps of gradient descent have it. What
// is nil is not there.
type Linear struct {
	Bias    *Plain     // of a row, or of a column: its Col or its Row is 0
	Beside  bool       // what Gemm.Beside tells is added; else there is no Scale
	Scale   *loop.Expr // one number for all elements: a load or a constant
	Negated bool       // Scale is to be negated
	ReLU    bool       // NaN and -0 stay
}

// Linear tells whether the epilogue is one, of f32.
func (g *Gemm) Linear() (l Linear, ok bool) {
	if len(g.Epilogue) != 1 || g.DType != ir.F32 {
		return l, false
	}
	s, ok := g.Epilogue[0].(*loop.Store)
	if !ok || s.Valid != nil || s.Value.DType != ir.F32 {
		return l, false
	}
	e := s.Value
	if x, ok := ofReLU(e); ok {
		e, l.ReLU = x, true
	}
	return l, l.biased(g, e) || l.added(g, e)
}

// ofReLU is what a ReLU is of.
func ofReLU(e *loop.Expr) (*loop.Expr, bool) {
	if !applies(e, ir.Where) || !applies(e.Args[2], ir.Where) {
		return nil, false
	}
	x, below := e.Args[1], e.Args[2]
	same := func(a, b *loop.Expr) bool { return a == b || isZero(a) && isZero(b) }
	less := func(c, a, b *loop.Expr) bool { return applies(c, ir.Less) && same(c.Args[0], a) && same(c.Args[1], b) }
	zero := below.Args[1]
	return x, isZero(zero) && less(e.Args[0], zero, x) && less(below.Args[0], x, zero) && below.Args[2] == x
}

func applies(e *loop.Expr, op ir.Op) bool { return e.Kind == loop.KindApply && e.Op == op }

func isZero(e *loop.Expr) bool { return e.Kind == loop.KindConst && e.Bits == 0 }

// added takes a sum of Beside's elements and what is left.
func (l *Linear) added(g *Gemm, e *loop.Expr) bool {
	switch {
	case applies(e, ir.Add):
		for i, x := range e.Args {
			if l.beside(g, x) && l.biased(g, e.Args[1-i]) {
				return true
			}
		}
	case applies(e, ir.FMA) && l.beside(g, e.Args[2]):
		for i, x := range e.Args[:2] {
			if l.scale(x) && l.biased(g, l.unsigned(e.Args[1-i])) {
				return true
			}
		}
	}
	return false
}

// biased takes Acc, or its sum with a bias.
func (l *Linear) biased(g *Gemm, e *loop.Expr) bool {
	acc := func(x *loop.Expr) bool { return x.Kind == loop.KindLocal && x.Local == g.Acc }
	if acc(e) {
		return true
	}
	if !applies(e, ir.Add) {
		return false
	}
	for i, x := range e.Args {
		at, plain := g.plainLoad(x, g.Row, g.Col)
		ofRow, ofCol := plain && at.Row.IsInt(0) && at.Col.IsInt(1), plain && at.Col.IsInt(0)
		if x.DType == ir.F32 && (ofRow || ofCol) && acc(e.Args[1-i]) {
			l.Bias = &at
			return true
		}
	}
	return false
}

// beside takes an element of a matrix.
func (l *Linear) beside(g *Gemm, e *loop.Expr) bool {
	at, plain := g.plainLoad(e, g.Row, g.Col)
	if !plain || e.DType != ir.F32 || !at.Col.IsInt(1) || at.Row.IsInt(0) {
		return false
	}
	l.Beside = true
	return true
}

// scale takes a number that is the same for all elements.
func (l *Linear) scale(e *loop.Expr) bool {
	if e.DType != ir.F32 || e.Kind != loop.KindConst && (e.Kind != loop.KindLoad || len(e.Args) != 1 || varies(e.Args[0])) {
		return false
	}
	l.Scale = e
	return true
}

// unsigned takes a sign off what Scale multiplies.
func (l *Linear) unsigned(e *loop.Expr) *loop.Expr {
	if l.Negated = applies(e, ir.Neg); l.Negated {
		return e.Args[0]
	}
	return e
}
