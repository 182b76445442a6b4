package loop

import (
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// costs counts the operations of an expression. Those that look at bits anew
// cost nothing, nor does a negation, which goes into the multiply-add that
// uses it.
func costs(t *testing.T, e *Expr) int {
	negated := map[*Expr]bool{}
	n := 0
	e.Walk(func(e *Expr) {
		if e.Kind != KindApply {
			return
		}
		for _, a := range e.Args {
			if a.Op == ir.Neg && e.Op != ir.FMA {
				t.Errorf("a negation is an operand of %v", e.Op)
			}
		}
		switch e.Op {
		case ir.Bitcast:
		case ir.Neg:
			negated[e] = true
		default:
			n++
		}
	})
	if negated[e] {
		t.Error("the result is negated")
	}
	return n
}

// TestExpandCost: a change of these numbers is a change of speed.
func TestExpandCost(t *testing.T) {
	check := func(op ir.Op, d ir.DType, arity, want int) {
		e, _ := expansion(op, d, arity)
		if got := costs(t, e); got != want {
			t.Errorf("%v of %v costs %d operations, not %d", op, d, got, want)
		}
	}
	for _, f := range expansions {
		check(f.op, ir.F32, 1, f.ops)
	}
	for _, f := range expansions64 {
		check(f.op, ir.F64, 1, f.ops)
	}
	check(ir.Pow, ir.F32, 2, powOps)
	check(ir.Pow, ir.F64, 2, pow64Ops)
}

// basic are the operations that Expand may use.
var basic = []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.FMA, ir.Neg, ir.Abs, ir.Min, ir.Max, ir.Round, ir.Floor,
	ir.And, ir.Or, ir.Xor, ir.Shl, ir.Shr, ir.Less, ir.Equal, ir.Where, ir.Cast, ir.Bitcast}

// everything is a kernel with each function of each float type.
func everything() *Kernel {
	k := &Kernel{Name: "everything"}
	v := &Var{Name: "i"}
	var body []Stmt
	for _, d := range []ir.DType{ir.F32, ir.F16, ir.BF16, ir.F64} {
		in, out := len(k.Params), len(k.Params)+1
		k.Params = append(k.Params, Param{Name: "x", DType: d, Len: ir.N(8), Use: Read}, Param{Name: "y", DType: d, Len: ir.N(8), Use: Update})
		x := Load(in, d, v.Ref(), nil)
		add := func(e *Expr) { body = append(body, &Store{Param: out, Index: v.Ref(), Value: e}) }
		for _, f := range expansions {
			add(Apply(f.op, d, x))
		}
		add(Apply(ir.Recip, d, x))
		add(Apply(ir.Pow, d, x, Apply(ir.Exp, d, x)))
	}
	k.Body = []Stmt{&Loop{Var: v, Hi: Int(8), Range: Vector, Body: body}}
	return k
}

func TestExpandKernel(t *testing.T) {
	k := everything()
	before := k.String()
	x := Expand(k)
	if err := Check(x); err != nil {
		t.Fatal(err)
	}
	x.WalkExprs(func(e *Expr) {
		if e.Kind == KindApply && !slices.Contains(basic, e.Op) {
			t.Errorf("%v of %v is left", e.Op, e.DType)
		}
		if e.Kind == KindApply && e.Op == ir.FMA && e.DType == ir.F64 {
			t.Error("a multiply-add of f64, which not every device rounds once")
		}
	})
	if again := Expand(x).String(); again != x.String() {
		t.Error("expanding twice changes the kernel again")
	}
	if k.String() != before {
		t.Error("the kernel that was given has changed")
	}
}

// TestExpandNarrow tries values of f16 and bf16: the function of f32, rounded
// once.
func TestExpandNarrow(t *testing.T) {
	for _, d := range []ir.DType{ir.F16, ir.BF16} {
		for _, f := range expansions {
			wide, narrow := compile(t, f.op, ir.F32, 1), compile(t, f.op, d, 1)
			for b := uint32(0); b < 1<<16; {
				for i := range blockSize {
					narrow.in[0][i] = b & 0xFFFF
					wide.in[0][i] = fb(float32(ir.Float(d, uint64(b&0xFFFF))))
					b += 8 + uint32(i)%2*3
				}
				wide.run(blockSize)
				narrow.run(blockSize)
				for i, got := range narrow.out {
					y := float64(fl(wide.out[i]))
					want, err := ir.Bits(d, y)
					if err != nil {
						t.Fatal(err)
					}
					if uint64(got) != want && !math.IsNaN(y) {
						t.Fatalf("%v of %v %#x is %#x, not %#x", f.op, d, narrow.in[0][i], got, want)
					}
				}
			}
		}
	}
}
