package template_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// What an epilogue reads beside the sums is a matrix of 4-byte elements with
// rows and columns of its own: no bias, no factor of a row, nothing turned.
func TestBeside(t *testing.T) {
	row, col := &loop.Var{Name: "row"}, &loop.Var{Name: "col"}
	acc := &loop.Local{Name: "acc", DType: ir.F32}
	rows := func(stride int) *loop.Expr { return loop.MulIndex(row.Ref(), loop.Int(stride)) }
	for _, c := range []struct {
		name  string
		index *loop.Expr
		dtype ir.DType
		want  bool
	}{
		{"residual", loop.AddIndex(rows(48), col.Ref()), ir.F32, true},
		{"part of a wider matrix", loop.AddIndex(loop.AddIndex(rows(96), col.Ref()), loop.Int(8)), ir.I32, true},
		{"bias", col.Ref(), ir.F32, false},
		{"factor of a row", row.Ref(), ir.F32, false},
		{"turned", loop.AddIndex(loop.MulIndex(col.Ref(), loop.Int(48)), row.Ref()), ir.F32, false},
		{"bytes", loop.AddIndex(rows(48), col.Ref()), ir.U8, false},
	} {
		g := &template.Gemm{Row: row, Col: col, Batch: &loop.Var{Name: "batch"}, Acc: acc, DType: ir.F32}
		load := loop.Apply(ir.Cast, ir.F32, loop.Load(3, c.dtype, c.index, nil))
		g.Epilogue = []loop.Stmt{&loop.Store{Param: 4, Index: loop.AddIndex(rows(48), col.Ref()), Value: loop.Apply(ir.Add, ir.F32, acc.Ref(), load)}}
		at, ok := g.Beside()
		if ok != c.want || ok && at.Param != 3 {
			t.Errorf("%s: %v, param %d", c.name, ok, at.Param)
		}
	}
}
