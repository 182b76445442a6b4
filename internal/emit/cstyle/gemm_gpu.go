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
// as many rows of Y, a stage, into memory that it shares, and every work-item adds
// their products to results of its own, which lie apart, so that work-items side
// by side read and write side by side. There is room for two stages where there
// can be: while one is multiplied, the next is on its way to registers.

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
	t, stages := m.t, w.k.Stages()
	if w.OneStage {
		stages = 1
	}
	w.line("%s %s xs[%d], ys[%d];", w.Shared, m.scalar, stages*t.Depth*entry.SharedRow(t.Rows), stages*t.Depth*entry.SharedRow(t.Cols))
	w.line("const long across = item %% %d, down = item / %d;", t.ItemCols(), t.ItemCols())
	m.tasks(func() {
		n := t.EachRows * t.EachCols
		w.line("%s total[%d], sum[%d];", m.scalar, n, n)
		w.line("for (int i = 0; i < %d; i++) total[i] = sum[i] = 0;", n)
		if stages == 1 {
			m.oneStage()
		} else {
			m.twoStages()
		}
		m.results()
	})
}

// oneStage multiplies each stage when it is there.
func (m *gemm) oneStage() {
	w, depth, size := m.writer, m.t.Depth, m.writer.size(m.g.K)
	w.line("for (long k0 = 0; k0 < %s; k0 += %d) {", size, depth)
	w.inside(func() {
		for _, s := range m.sides() {
			m.bring(s, fmt.Sprintf("%s[k * %d + r] = v;", s.to, entry.SharedRow(s.wide)))
		}
		w.line("%s", w.BarrierShared)
		m.products("")
		w.line("%s", w.BarrierShared)
		m.totals(fmt.Sprintf("k0 %% %d == %d || k0 + %d >= %s", template.SumBlock, template.SumBlock-depth, depth, size))
	})
	w.line("}")
}

// twoStages brings the stage at k0 to registers, multiplies the one before it, and
// then puts those registers where the one before that was: at the barrier all have
// left it, those of the last task too.
func (m *gemm) twoStages() {
	w, depth, size := m.writer, m.t.Depth, m.writer.size(m.g.K)
	sides := m.sides()
	w.line("for (long k0 = 0; k0 < %s + %d; k0 += %d) {", size, depth, depth)
	w.inside(func() {
		w.line("const int next = k0 / %d %% 2, now = 1 - next;", depth)
		w.line("const bool more = k0 < %s;", size)
		w.line("%s next_xs[%d], next_ys[%d];", m.scalar, m.turns(sides[0]), m.turns(sides[1]))
		w.line("if (more) {")
		w.inside(func() {
			for _, s := range sides {
				w.hint(w.Whole)
				m.bring(s, fmt.Sprintf("next_%s[s] = v;", s.to))
			}
		})
		w.line("}")
		w.line("if (k0 > 0) {")
		w.inside(func() {
			m.products("now")
			m.totals(fmt.Sprintf("k0 %% %d == 0 || !more", template.SumBlock))
		})
		w.line("}")
		w.line("if (more) {")
		w.inside(func() {
			for _, s := range sides {
				m.put(s)
			}
		})
		w.line("}")
		w.line("%s", w.BarrierShared)
	})
	w.line("}")
}

// totals adds sums to totals behind the blocks of k that end where a condition
// holds.
func (m *gemm) totals(end string) {
	w := m.writer
	w.line("if (%s) {", end)
	w.line("\tfor (int i = 0; i < %d; i++) {", m.t.EachRows*m.t.EachCols)
	w.line("\t\ttotal[i] += sum[i];")
	w.line("\t\tsum[i] = 0;")
	w.line("\t}")
	w.line("}")
}

// side is an operand on its way to shared memory, for r along the tile, which is
// so wide, and k: at says where r is, valid whether that is within the operand.
// turned says that those of one k lie side by side.
type side struct {
	to        string
	wide      int
	e         *loop.Expr
	v         *loop.Var
	at, valid string
	turned    bool
}

func (m *gemm) sides() [2]side {
	g, size := m.g, m.writer.size
	y, plain := g.PlainY()
	return [2]side{
		{"xs", m.t.Rows, g.X, g.Row, "row0 + r", fmt.Sprintf("row0 + r < %s", size(g.Rows)), g.TurnedX()},
		{"ys", m.t.Cols, g.Y, g.Col, "col0 + r", fmt.Sprintf("col0 + r < %s", size(g.Cols)), !plain || y.Col.IsInt(1)},
	}
}

// turns is how many elements of an operand a work-item brings for a stage.
func (m *gemm) turns(s side) int { return s.wide * m.t.Depth / m.t.Items() }

// place finds r and k of the elements that a work-item brings: work-items side by
// side have those that lie side by side.
func (m *gemm) place(s side) {
	w, depth := m.writer, m.t.Depth
	w.line("const long e = s * %d + item;", m.t.Items())
	if s.turned {
		w.line("const long r = e %% %d, k = e / %d;", s.wide, s.wide)
	} else {
		w.line("const long r = e / %d, k = e %% %d;", depth, depth)
	}
}

// bring computes them, 0 beyond the ends of the operand, and keeps each, v.
func (m *gemm) bring(s side, keep string) {
	w, g := m.writer, m.g
	w.line("for (int s = 0; s < %d; s++) {", m.turns(s))
	w.inside(func() {
		m.place(s)
		w.line("%s v = 0;", m.scalar)
		w.line("if (%s && k0 + k < %s) {", s.valid, w.size(g.K))
		w.inside(func() {
			w.names[s.v], w.names[g.Inner] = "("+s.at+")", "(k0 + k)"
			w.named = map[*loop.Expr]string{}
			w.share(s.e)
			w.line("v = (%s)%s;", m.scalar, w.cast(w.value(s.e), s.e.DType, m.ct))
		})
		w.line("}")
		w.line("%s", keep)
	})
	w.line("}")
}

// put stores what was brought to registers.
func (m *gemm) put(s side) {
	w := m.writer
	w.hint(w.Whole)
	w.line("for (int s = 0; s < %d; s++) {", m.turns(s))
	w.inside(func() {
		m.place(s)
		w.line("%s[%sk * %d + r] = next_%s[s];", s.to, m.stage("next", s.wide), entry.SharedRow(s.wide), s.to)
	})
	w.line("}")
}

// stage is where one of two stages begins, as the begin of an index.
func (m *gemm) stage(which string, wide int) string {
	if which == "" {
		return ""
	}
	return fmt.Sprintf("%s * %d + ", which, m.t.Depth*entry.SharedRow(wide))
}

// products adds those of a stage; it has no name where there is one alone.
func (m *gemm) products(stage string) {
	w, t := m.writer, m.t
	w.hint(w.Unroll)
	w.line("for (int k = 0; k < %d; k++) {", t.Depth)
	w.inside(func() {
		w.line("%s x[%d], y[%d];", m.scalar, t.EachRows, t.EachCols)
		w.line("for (int i = 0; i < %d; i++) x[i] = xs[%sk * %d + down + %d * i];", t.EachRows, m.stage(stage, t.Rows), entry.SharedRow(t.Rows), t.ItemRows())
		w.line("for (int i = 0; i < %d; i++) y[i] = ys[%sk * %d + across + %d * i];", t.EachCols, m.stage(stage, t.Cols), entry.SharedRow(t.Cols), t.ItemCols())
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
