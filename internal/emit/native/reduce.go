package native

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Identity is the bits, in the compute type of d, that leave any other operand of
// op as it is: for a sum -0, as 0 + -0 is 0.
func Identity(op ir.Op, d ir.DType) (bits uint64, ok bool) {
	d = d.Compute()
	unsigned := d.IsUnsigned()
	size := 8 * d.Size()
	float := d.IsFloat()
	number := func(x float64) (uint64, bool) {
		if d == ir.F64 {
			return math.Float64bits(x), true
		}
		return uint64(math.Float32bits(float32(x))), true
	}
	switch op {
	case ir.Add:
		if float {
			return number(math.Copysign(0, -1))
		}
		return 0, true
	case ir.Mul:
		if float {
			return number(1)
		}
		return 1, true
	case ir.Max, ir.Min:
		low := op == ir.Max
		switch {
		case float && low:
			return number(math.Inf(-1))
		case float:
			return number(math.Inf(1))
		case unsigned && low:
			return 0, true
		case unsigned:
			return math.MaxUint64 >> (64 - size), true
		case low:
			return 1 << (size - 1), true
		}
		return math.MaxInt64 >> (64 - size), true
	case ir.And:
		return math.MaxUint64 >> (64 - size), true
	case ir.Or:
		return 0, true
	}
	return 0, false
}

// ReducedBy lists an Acc for each local outside that the loop accumulates into.
func ReducedBy(l *loop.Loop) []*loop.Acc {
	set := map[*loop.Local]bool{}
	var accs []*loop.Acc
	var visit func(body []loop.Stmt)
	visit = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				visit(s.Body)
			case *loop.Set:
				set[s.Local] = true
			case *loop.Acc:
				if !set[s.Local] {
					set[s.Local] = true
					accs = append(accs, s)
				}
			}
		}
	}
	visit(l.Body)
	return accs
}

// Stride is how far p moves from one value of lane to the next; false where that
// is not the same everywhere. differs is what changes with lane.
func (p *Poly) Stride(lane *loop.Var, differs Deps) (*Poly, bool) {
	stride := &Poly{}
	for _, m := range p.Monos {
		at := -1
		for i, x := range m.Atoms {
			if !x.Deps.Meets(differs) {
				continue
			}
			if at >= 0 || x.Kind != loop.KindVar || x.Var != lane {
				return nil, false
			}
			at = i
		}
		if at < 0 {
			continue
		}
		rest := append(append([]*Node{}, m.Atoms[:at]...), m.Atoms[at+1:]...)
		part := &Poly{Monos: []Mono{{m.Coef, rest}}}
		if len(rest) == 0 {
			part = &Poly{C: m.Coef}
		}
		stride = stride.Plus(part, 1)
	}
	return stride, true
}
