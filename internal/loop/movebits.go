package loop

import "github.com/sinterml/sinter/internal/ir"

// MoveBits turns the f16 and bf16 of a kernel that does no arithmetic on them
// into u16: targets that widen floats when they load them would otherwise make
// signalling NaNs quiet. Other kernels come back as they are.
func MoveBits(k *Kernel) *Kernel {
	found, arithmetic := false, false
	k.WalkExprs(func(e *Expr) {
		found = found || narrow(e.DType)
		arithmetic = arithmetic || !movesBits(e)
	})
	locals := false
	walkLocals(k.Body, func(l *Local) { locals = locals || narrow(l.DType) })
	if !found || arithmetic || locals {
		return k
	}
	params := append([]Param(nil), k.Params...)
	for i := range params {
		params[i].DType = asBits(params[i].DType)
	}
	body := Rewrite(k.Body, func(e *Expr) *Expr {
		if e.Kind == KindApply && e.Op == ir.Bitcast && asBits(e.DType) == e.Args[0].DType {
			return e.Args[0]
		}
		if !narrow(e.DType) {
			return e
		}
		c := *e
		c.DType = asBits(e.DType)
		return &c
	})
	return &Kernel{Name: k.Name, Params: params, Slots: k.Slots, Body: body}
}

func narrow(d ir.DType) bool { return d == ir.F16 || d == ir.BF16 }

func asBits(d ir.DType) ir.DType {
	if narrow(d) {
		return ir.U16
	}
	return d
}

// movesBits tells whether e computes nothing from a narrow float.
func movesBits(e *Expr) bool {
	if e.Kind != KindApply || e.Op == ir.Where || e.Op == ir.Bitcast {
		return true
	}
	if narrow(e.DType) {
		return false
	}
	for _, a := range e.Args {
		if narrow(a.DType) {
			return false
		}
	}
	return true
}

// walkLocals visits the local of every statement that has one.
func walkLocals(body []Stmt, visit func(*Local)) {
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			walkLocals(s.Body, visit)
		case *Set:
			visit(s.Local)
		case *Acc:
			visit(s.Local)
		}
	}
}
