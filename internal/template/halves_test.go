package template_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// An operand has less than a byte for each value where every element that it
// reads serves two successive k.
func TestHalves(t *testing.T) {
	k, col := &loop.Var{Name: "k"}, &loop.Var{Name: "col"}
	load := func(d ir.DType, row *loop.Expr) *loop.Expr {
		return loop.Load(1, d, loop.AddIndex(loop.MulIndex(row, loop.Int(48)), col.Ref()), nil)
	}
	by := func(n int) *loop.Expr { return loop.Apply(ir.IDiv, ir.I64, k.Ref(), loop.Int(n)) }
	half := loop.Apply(ir.Cast, ir.I32, loop.Apply(ir.Mod, ir.I64, k.Ref(), loop.Int(2)))
	codes := loop.Apply(ir.Cast, ir.F32, loop.Apply(ir.Shr, ir.I32, loop.Apply(ir.Cast, ir.I32, load(ir.U8, by(2))), half))
	scaled := func(x *loop.Expr) *loop.Expr { return loop.Apply(ir.Mul, ir.F32, x, load(ir.F32, by(32))) }
	for _, c := range []struct {
		name string
		y    *loop.Expr
		want bool
	}{
		{"codes", codes, true},
		{"codes with scales", scaled(codes), true},
		{"weights", load(ir.F32, k.Ref()), false},
		{"bytes with scales", scaled(loop.Apply(ir.Cast, ir.F32, load(ir.I8, k.Ref()))), false},
		{"threes", load(ir.F32, by(3)), false},
		{"no weights", loop.Const(ir.F32, 0), false},
	} {
		g := &template.Gemm{Inner: k, Col: col, Y: c.y}
		if got := g.Halves(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
