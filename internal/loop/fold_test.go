package loop

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// Folding changes no value, whatever sign an index has: sums of products are
// divided by what may or may not be a factor.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y, lane := &Var{Name: "x"}, &Var{Name: "y"}, &Var{Name: "lane"}
	folded := 0
	for range 20000 {
		term := func(v *Var) *Expr { return MulIndex(v.Ref(), Int([]int{1, 2, 3, 4, 16, 32}[rng.IntN(6)])) }
		e := AddIndex(term(x), Int(rng.IntN(70)-35))
		if rng.IntN(2) == 0 {
			e = AddIndex(e, term(y))
		}
		if rng.IntN(2) == 0 {
			e = AddIndex(e, lane.Ref())
		}
		for range 1 + rng.IntN(2) {
			op := []ir.Op{ir.IDiv, ir.Mod}[rng.IntN(2)]
			e = Apply(op, ir.I64, e, Int([]int{1, 2, 4, 7, 32}[rng.IntN(5)]))
		}
		limit := []int{2, 4, 16}[rng.IntN(3)]
		f := FoldWithin(e, map[*Var]int{lane: limit})
		if f != e {
			folded++
		}
		for range 5 {
			at := map[*Var]int64{x: int64(rng.IntN(200) - 100), y: int64(rng.IntN(50) - 25), lane: int64(rng.IntN(limit))}
			of := func(v *Var) int64 { return at[v] }
			want, err := EvalIndex(e, nil, of)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := EvalIndex(f, nil, of); err != nil || got != want {
				t.Fatalf("%v is %d, folded to %v it is %d, %v", e, want, f, got, err)
			}
		}
	}
	if folded < 3000 {
		t.Errorf("%d of 20000 are folded", folded)
	}
}

// What a place that is known in part leaves over: nothing of a quotient whose
// remainder is known, and no bits that move twice.
func TestFoldForms(t *testing.T) {
	x := &Var{Name: "x"}
	k := AddIndex(MulIndex(x.Ref(), Int(2)), Int(1))
	half := Apply(ir.Cast, ir.I32, Apply(ir.Mod, ir.I64, k, Int(2)))
	byte1 := Load(0, ir.I32, x.Ref(), nil)
	bits := Apply(ir.Shr, ir.U32, Load(1, ir.U32, x.Ref(), nil), Const(ir.U32, 16))
	short := Apply(ir.Cast, ir.U16, bits)
	word := Load(2, ir.U32, x.Ref(), nil)
	for _, c := range []struct {
		name    string
		e, want *Expr
	}{
		{"quotient", Apply(ir.IDiv, ir.I64, k, Int(2)), x.Ref()},
		{"quotient by a multiple", Apply(ir.IDiv, ir.I64, k, Int(32)), Apply(ir.IDiv, ir.I64, x.Ref(), Int(16))},
		{"remainder by a multiple", Apply(ir.Mod, ir.I64, k, Int(32)), AddIndex(MulIndex(Apply(ir.Mod, ir.I64, x.Ref(), Int(16)), Int(2)), Int(1))},
		{"remainder", Apply(ir.Mod, ir.I64, k, Int(2)), Int(1)},
		{"constants", Apply(ir.Mul, ir.I32, half, Const(ir.I32, 4)), Const(ir.I32, 4)},
		{"no shift", Apply(ir.Shr, ir.I32, byte1, Const(ir.I32, 0)), byte1},
		{"bits", Apply(ir.Bitcast, ir.U16, Apply(ir.Bitcast, ir.BF16, short)), short},
		{"upper half", Apply(ir.Cast, ir.U32, short), bits},
		{"lower half", Apply(ir.Cast, ir.U32, Apply(ir.Cast, ir.U16, word)), nil},
		{"factor unknown", Apply(ir.Mod, ir.I64, AddIndex(x.Ref(), Int(4)), Int(2)), nil},
		{"division by zero", Apply(ir.IDiv, ir.I64, Int(3), Int(0)), nil},
	} {
		want := c.want
		if want == nil {
			want = c.e
		}
		if got := Fold(c.e); !same(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// same tells whether two expressions are alike, loads by themselves.
func same(a, b *Expr) bool {
	if a == b || SameIndex(a, b) {
		return true
	}
	if a.Kind != KindApply || b.Kind != KindApply || a.Op != b.Op || a.DType != b.DType || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}
