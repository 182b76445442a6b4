package cstyle

import (
	"cmp"
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// On a GPU a group computes a block of results: it brings a few columns of X and
// as many rows of Y into memory that it shares, and every work-item adds their
// products to results of its own, which lie apart, so that work-items side by
// side read and write side by side.

// GemmForGroups is the product g as a group does a task of it.
func GemmForGroups(name string, g *template.Gemm, t entry.Tile) *entry.Kernel {
	usual := entry.GroupTile
	if g.DType.Compute().Size() == 8 {
		usual = entry.WideTile
	}
	t = cmp.Or(t, usual)
	return entry.Product(name, g, t.Items(), t)
}

// groupGemm writes the tasks of a product.
func (w *writer) groupGemm() {
	g := w.k.Gemm
	m := &gemm{writer: w, g: g, t: w.k.Tile, ct: g.DType.Compute()}
	m.scalar = w.Types[m.ct]
	if !m.ct.IsFloat() {
		m.scalar = unsigned(m.ct) // sums wrap
	}
	t := m.t
	w.line("%s %s xs[%d], ys[%d];", w.Shared, m.scalar, t.Depth*entry.SharedRow(t.Rows), t.Depth*entry.SharedRow(t.Cols))
	w.line("const long across = item %% %d, down = item / %d;", t.ItemCols(), t.ItemCols())
	m.tasks(func() {
		n := t.EachRows * t.EachCols
		w.line("%s total[%d], sum[%d];", m.scalar, n, n)
		w.line("for (int i = 0; i < %d; i++) total[i] = sum[i] = 0;", n)
		w.line("for (long k0 = 0; k0 < %s; k0 += %d) {", w.size(g.K), t.Depth)
		w.inside(func() {
			m.operands()
			w.line("%s", w.BarrierShared)
			m.products()
			w.line("%s", w.BarrierShared)
			w.line("if (k0 %% %d == %d || k0 + %d >= %s) {", template.SumBlock, template.SumBlock-t.Depth, t.Depth, w.size(g.K))
			w.line("\tfor (int i = 0; i < %d; i++) {", n)
			w.line("\t\ttotal[i] += sum[i];")
			w.line("\t\tsum[i] = 0;")
			w.line("\t}")
			w.line("}")
		})
		w.line("}")
		m.results()
	})
}

// operands has each work-item bring some elements of X and Y, 0 beyond their ends:
// work-items side by side those that lie side by side.
func (m *gemm) operands() {
	g := m.g
	m.bring("xs", m.t.Rows, g.X, g.Row, "row0 + r", fmt.Sprintf("row0 + r < %s", m.writer.size(g.Rows)), g.TurnedX())
	y, plain := g.PlainY()
	m.bring("ys", m.t.Cols, g.Y, g.Col, "col0 + r", fmt.Sprintf("col0 + r < %s", m.writer.size(g.Cols)), !plain || y.Col.IsInt(1))
}

// bring fills shared memory with an operand: for r along the tile, which is so
// wide, and k. turned says that those of one k lie side by side.
func (m *gemm) bring(to string, wide int, e *loop.Expr, v *loop.Var, at, valid string, turned bool) {
	w, g := m.writer, m.g
	items, depth := m.t.Items(), m.t.Depth
	w.line("for (int s = 0; s < %d; s++) {", wide*depth/items)
	w.inside(func() {
		w.line("const long e = s * %d + item;", items)
		if turned {
			w.line("const long r = e %% %d, k = e / %d;", wide, wide)
		} else {
			w.line("const long r = e / %d, k = e %% %d;", depth, depth)
		}
		w.line("%s v = 0;", m.scalar)
		w.line("if (%s && k0 + k < %s) {", valid, w.size(g.K))
		w.inside(func() {
			w.names[v], w.names[g.Inner] = "("+at+")", "(k0 + k)"
			w.named = map[*loop.Expr]string{}
			w.share(e)
			w.line("v = (%s)%s;", m.scalar, w.cast(w.value(e), e.DType, m.ct))
		})
		w.line("}")
		w.line("%s[k * %d + r] = v;", to, entry.SharedRow(wide))
	})
	w.line("}")
}

// products adds those of what is shared.
func (m *gemm) products() {
	w, t := m.writer, m.t
	w.hint(w.Unroll)
	w.line("for (int k = 0; k < %d; k++) {", t.Depth)
	w.inside(func() {
		w.line("%s x[%d], y[%d];", m.scalar, t.EachRows, t.EachCols)
		w.line("for (int i = 0; i < %d; i++) x[i] = xs[k * %d + down + %d * i];", t.EachRows, entry.SharedRow(t.Rows), t.ItemRows())
		w.line("for (int i = 0; i < %d; i++) y[i] = ys[k * %d + across + %d * i];", t.EachCols, entry.SharedRow(t.Cols), t.ItemCols())
		w.line("for (int i = 0; i < %d; i++)", t.EachRows)
		w.line("\tfor (int j = 0; j < %d; j++)", t.EachCols)
		at := fmt.Sprintf("sum[%d * i + j]", t.EachCols)
		if m.ct.IsFloat() {
			w.line("\t\t%s = %s(x[i], y[j], %s);", at, w.Float[ir.FMA], at)
		} else {
			w.line("\t\t%s += x[i] * y[j];", at)
		}
	})
	w.line("}")
}

// results runs the epilogue for those of a work-item.
func (m *gemm) results() {
	w, g, t := m.writer, m.g, m.t
	w.alone = true
	w.line("for (int n = 0; n < %d; n++) {", t.EachRows*t.EachCols)
	w.inside(func() {
		w.line("const long r = row0 + down + n / %d * %d, col = col0 + across + n %% %d * %d;", t.EachCols, t.ItemRows(), t.EachCols, t.ItemCols())
		w.line("if (r < row1 && col < col0 + cols) {")
		w.inside(func() {
			w.names[g.Row], w.names[g.Col] = "r", "col"
			value := w.cast(fmt.Sprintf("((%s)total[n])", w.Types[m.ct]), m.ct, g.DType)
			w.line("const %s %s = %s;", w.valueType(g.DType), w.name(g.Acc, g.Acc.Name), value)
			w.body(g.Epilogue)
		})
		w.line("}")
	})
	w.line("}")
	w.alone = false
}
