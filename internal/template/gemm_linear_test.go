package template_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

func TestLinear(t *testing.T) {
	row, col := &loop.Var{Name: "row"}, &loop.Var{Name: "col"}
	acc := &loop.Local{Name: "acc", DType: ir.F32}
	do := func(op ir.Op, in ...*loop.Expr) *loop.Expr { return loop.Apply(op, ir.F32, in...) }
	less := func(a, b *loop.Expr) *loop.Expr { return loop.Apply(ir.Less, ir.Bool, a, b) }
	load := func(param int, index *loop.Expr) *loop.Expr { return loop.Load(param, ir.F32, index, nil) }
	rows := loop.MulIndex(row.Ref(), loop.Int(48))
	matrix, turned := load(3, loop.AddIndex(rows, col.Ref())), load(3, loop.AddIndex(loop.MulIndex(col.Ref(), loop.Int(48)), row.Ref()))
	ofCols, ofRows, number := load(5, col.Ref()), load(6, row.Ref()), load(7, loop.Int(0))
	zero, one := loop.Const(ir.F32, 0), loop.Const(ir.F32, 0x3F800000)
	relu := func(x *loop.Expr) *loop.Expr {
		return do(ir.Where, less(zero, x), x, do(ir.Where, less(x, zero), zero, x))
	}
	sum := acc.Ref()
	biased := do(ir.Add, sum, ofCols)
	for name, c := range map[string]struct {
		value              *loop.Expr
		bias, beside, relu bool
		scale              int // its param, -1 for a constant
		negated, not       bool
	}{
		"bias":                      {value: biased, bias: true},
		"bias first":                {value: do(ir.Add, ofCols, acc.Ref()), bias: true},
		"a number for each row":     {value: do(ir.Add, ofRows, acc.Ref()), bias: true},
		"one number":                {value: do(ir.Add, number, acc.Ref()), bias: true},
		"residual":                  {value: do(ir.Add, matrix, acc.Ref()), beside: true},
		"bias and residual":         {value: do(ir.Add, biased, matrix), bias: true, beside: true},
		"bias and residual of ReLU": {value: relu(do(ir.Add, biased, matrix)), bias: true, beside: true, relu: true},
		"ReLU":                      {value: relu(acc.Ref()), relu: true},
		"step":                      {value: do(ir.FMA, do(ir.Neg, acc.Ref()), number, matrix), beside: true, scale: 7, negated: true},
		"factor first":              {value: do(ir.FMA, number, biased, matrix), bias: true, beside: true, scale: 7},
		"constant":                  {value: do(ir.FMA, one, acc.Ref(), matrix), beside: true, scale: -1},
		"ReLU of another":           {value: do(ir.Where, less(zero, sum), sum, do(ir.Where, less(ofCols, zero), zero, sum)), not: true},
		"steeper below":             {value: do(ir.Where, less(zero, sum), sum, do(ir.Where, less(sum, zero), one, sum)), not: true},
		"below one":                 {value: do(ir.Where, less(zero, sum), sum, do(ir.Where, less(sum, one), zero, sum)), not: true},
		"above one":                 {value: do(ir.Where, less(one, sum), sum, do(ir.Where, less(sum, zero), zero, sum)), not: true},
		"turned":                    {value: do(ir.Add, turned, acc.Ref()), not: true},
		"factor of a row":           {value: do(ir.FMA, ofRows, acc.Ref(), matrix), not: true},
		"bias of the scaled":        {value: do(ir.FMA, number, acc.Ref(), ofCols), not: true},
		"two matrices":              {value: do(ir.Add, do(ir.Add, acc.Ref(), matrix), matrix), not: true},
		"twice the sum":             {value: do(ir.Add, acc.Ref(), acc.Ref()), not: true},
		"exp":                       {value: do(ir.Exp, acc.Ref()), not: true},
		"difference":                {value: do(ir.Sub, acc.Ref(), ofCols), not: true},
	} {
		g := &template.Gemm{Row: row, Col: col, Batch: &loop.Var{Name: "batch"}, Acc: acc, DType: ir.F32}
		g.Epilogue = []loop.Stmt{&loop.Store{Param: 4, Index: loop.AddIndex(rows, col.Ref()), Value: c.value}}
		l, ok := g.Linear()
		if ok == c.not {
			t.Errorf("%s: %v", name, ok)
		}
		if !ok || c.not {
			continue
		}
		scale := 0
		if l.Scale != nil {
			scale = l.Scale.Param
			if l.Scale.Kind == loop.KindConst {
				scale = -1
			}
		}
		if (l.Bias != nil) != c.bias || l.Beside != c.beside || l.ReLU != c.relu || scale != c.scale || l.Negated != c.negated {
			t.Errorf("%s: %+v", name, l)
		}
		if at, _ := g.Beside(); l.Beside && at.Param != 3 {
			t.Errorf("%s: param %d lies beside", name, at.Param)
		}
	}
}
