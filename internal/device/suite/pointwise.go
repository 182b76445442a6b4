package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// pointwiseCases is every operation that goes element by element, on every
// dtype, with operands in all views. Cast and Bitcast have cases of their own.
func pointwiseCases() []*Case {
	var all []*Case
	for _, op := range ir.Ops() {
		if !op.Pointwise() || op == ir.Cast || op == ir.Bitcast {
			continue
		}
		operands := map[ir.Class]int{ir.ClassUnary: 1, ir.ClassBinary: 2, ir.ClassTernary: 3}[op.Class()]
		for _, d := range ir.DTypes() {
			types := make([]ir.Type, operands)
			for i := range types {
				types[i] = ir.Type{DType: d}
			}
			if op == ir.Where {
				types[0].DType = ir.Bool
			}
			if !fits(op, ir.Attr{}, types...) {
				continue
			}
			name := fmt.Sprintf("%v %v", op, d)
			all = append(all,
				&Case{Name: name, Sizes: planes, Build: func(b *Builder) []*ir.Node { return pointwise(b, op, types, rows, cols) }},
				&Case{Name: name + " static", Build: func(b *Builder) []*ir.Node { return pointwise(b, op, types, ir.N(7), ir.N(9)) }},
			)
		}
	}
	return append(all, chainCases()...)
}

// pointwise is op once for each view that its first operand may have; the
// others then have other ones.
func pointwise(b *Builder, op ir.Op, types []ir.Type, n, m ir.Dim) []*ir.Node {
	var outs []*ir.Node
	for v := range views {
		in := make([]*ir.Node, len(types))
		for i, t := range types {
			in[i] = b.view(v+2*i, t.DType, operandFill(op, i), n, m)
		}
		outs = append(outs, b.Add(op, ir.Attr{}, in...))
	}
	return outs
}

// operandFill is what the i-th operand may hold without the run failing.
func operandFill(op ir.Op, i int) Fill {
	switch {
	case i == 1 && (op == ir.IDiv || op == ir.Mod):
		return Divisors
	case i == 1 && (op == ir.Shl || op == ir.Shr):
		return Shifts
	}
	return Special
}

// castCases converts every dtype to every other.
func castCases() []*Case {
	var all []*Case
	for _, from := range ir.DTypes() {
		all = append(all, &Case{Name: fmt.Sprintf("cast %v", from), Sizes: planes, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			for i, to := range ir.DTypes() {
				outs = append(outs, b.Add(ir.Cast, ir.Attr{DType: to}, b.view(i, from, Special, rows, cols)))
			}
			for i, to := range ir.DTypes() { // mostly out of range
				outs = append(outs, b.Add(ir.Cast, ir.Attr{DType: to}, b.view(i+1, from, Anything, rows, cols)))
			}
			return outs
		}})
		all = append(all, &Case{Name: fmt.Sprintf("bitcast %v", from), Sizes: planes, Exact: true, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			for i, to := range ir.DTypes() {
				a := ir.Attr{DType: to}
				if fits(ir.Bitcast, a, ir.Type{DType: from}) {
					outs = append(outs, b.Add(ir.Bitcast, a, b.view(i, from, Anything, rows, cols)))
				}
			}
			if outs == nil { // bool: from no type, and to those of one byte
				outs = append(outs, b.Add(ir.Contiguous, ir.Attr{}, b.view(0, from, Anything, rows, cols)))
			}
			return outs
		}})
	}
	return all
}

// chainCases are long expressions, which fuse: many values live at once, types
// that change on the way, a result used twice.
func chainCases() []*Case {
	var all []*Case
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16, ir.I32, ir.I64, ir.U8} {
		all = append(all, &Case{Name: fmt.Sprintf("chain %v", d), Sizes: planes, Build: func(b *Builder) []*ir.Node {
			var live []*ir.Node
			for i := range 20 {
				live = append(live, b.view(i, d, Ordinary, rows, cols))
			}
			for round := range 3 {
				for i := range live {
					live[i] = b.Add([]ir.Op{ir.Add, ir.Max, ir.Sub, ir.Min}[(i+round)%4], ir.Attr{}, live[i], live[(i+7)%len(live)])
				}
			}
			less := b.Add(ir.Less, ir.Attr{}, live[0], b.Full(d, 3, rows, cols))
			return append(live[:4], less, b.Add(ir.Where, ir.Attr{}, less, live[5], live[6]))
		}})
	}
	// What random numbers are made of: both halves of products with constants.
	all = append(all, &Case{Name: "chain u32", Exact: true, Sizes: planes, Build: func(b *Builder) []*ir.Node {
		x := b.Input(ir.U32, Anything, rows, cols)
		outs := []*ir.Node{b.Add(ir.MulHi, ir.Attr{}, x, x)}
		for _, v := range []float64{0, 1, 65536, 0xD2511F53, 1<<32 - 1} {
			by := b.Full(ir.U32, v, rows, cols)
			outs = append(outs, b.Add(ir.Xor, ir.Attr{}, b.Add(ir.MulHi, ir.Attr{}, x, by), b.Add(ir.Mul, ir.Attr{}, x, by)))
		}
		return outs
	}})
	all = append(all, &Case{Name: "chain gelu large", Sizes: []ir.Env{{"N": 130, "M": 90}},
		Flops: func(env ir.Env) float64 { return 5 * float64(env["N"]*env["M"]) },
		Build: func(b *Builder) []*ir.Node {
			x := b.Input(ir.F32, Ordinary, rows, cols)
			return []*ir.Node{gelu(b, x, rows, cols)}
		}})
	return all
}

// gelu is x/2 * (1 + erf(x/sqrt 2)).
func gelu(b *Builder, x *ir.Node, shape ...ir.Dim) *ir.Node {
	e := b.Add(ir.Erf, ir.Attr{}, b.Add(ir.Mul, ir.Attr{}, x, b.Full(ir.F32, 0.7071067811865476, shape...)))
	half := b.Add(ir.Mul, ir.Attr{}, x, b.Full(ir.F32, 0.5, shape...))
	return b.Add(ir.Mul, ir.Attr{}, half, b.Add(ir.Add, ir.Attr{}, e, b.Full(ir.F32, 1, shape...)))
}
