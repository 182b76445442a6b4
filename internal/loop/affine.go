package loop

import "github.com/sinterml/sinter/internal/ir"

// Affine writes e as base + stride*v with base and stride free of v. It fails
// where e depends on v otherwise, e.g. through a division or a load.
func Affine(e *Expr, v *Var) (base, stride *Expr, ok bool) {
	if !e.Uses(v) {
		return e, Int(0), true
	}
	switch e.Kind {
	case KindVar:
		return Int(0), Int(1), true
	case KindApply:
		switch e.Op {
		case ir.Add, ir.Sub:
			b0, s0, ok0 := Affine(e.Args[0], v)
			b1, s1, ok1 := Affine(e.Args[1], v)
			if !ok0 || !ok1 {
				return nil, nil, false
			}
			if e.Op == ir.Add {
				return AddIndex(b0, b1), AddIndex(s0, s1), true
			}
			return SubIndex(b0, b1), SubIndex(s0, s1), true
		case ir.Mul:
			x, c := e.Args[0], e.Args[1]
			if c.Uses(v) {
				x, c = c, x
			}
			if c.Uses(v) {
				return nil, nil, false
			}
			b, s, ok := Affine(x, v)
			if !ok {
				return nil, nil, false
			}
			return MulIndex(b, c), MulIndex(s, c), true
		}
	}
	return nil, nil, false
}
