package cstyle

import (
	"cmp"
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// A task of a processor is a panel of columns times some rows: it brings the
// panel of Y into the order in which it is read, once, and goes over its rows,
// a tile's at a time.

// processorTile leaves registers for a row of Y and an element of X beside the
// sums, in vectors of 16 as in vectors of 8.
var processorTile = entry.Tile{Rows: 6, Cols: 32}

// ProcessorTiles are those whose sums fit the registers of some processor, and
// fill a quarter of the fewest at least: of 16 registers of 8 numbers, or of 32
// of 16.
func ProcessorTiles() []entry.Tile {
	const most, least = 30, 2
	var all []entry.Tile
	for cols := vectorLanes; cols <= 4*vectorLanes; cols += vectorLanes {
		for _, rows := range []int{1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28} {
			if n := rows * cols / vectorLanes; n >= least && n <= most {
				all = append(all, entry.Tile{Rows: rows, Cols: cols})
			}
		}
	}
	return all
}

// vectorLanes is the width of vectors in the text; a compiler splits those that
// are wider than the machine's.
const vectorLanes = 16

// GemmForProcessor is the product g as one work-item does a task of it, with
// panels of Y in scratch memory.
func GemmForProcessor(name string, g *template.Gemm, t entry.Tile) *entry.Kernel {
	t = cmp.Or(t, processorTile)
	k := entry.Product(name, g, 1, t)
	panel := loop.Param{Name: "panel", DType: g.DType.Compute(), Len: g.K.Mul(ir.N(t.Cols)), Use: loop.Scratch}
	k.Work.Params = append(append([]loop.Param(nil), k.Work.Params...), panel)
	k.Near = append(k.Near, false)
	return k
}

// gemm writes the tasks of a product.
type gemm struct {
	*writer
	g      *template.Gemm
	t      entry.Tile
	ct     ir.DType
	scalar string
	vector string
	panel  string // the param
	plain  bool   // X is read where it lies
	x      template.Plain
	blocks bool // there may be more than one block of K
}

func (w *writer) gemm() {
	g := w.k.Gemm
	m := &gemm{writer: w, g: g, t: w.k.Tile, ct: g.DType.Compute(), panel: w.params[len(w.params)-1]}
	m.scalar = w.Types[m.ct]
	if !m.ct.IsFloat() {
		m.scalar = unsigned(m.ct) // sums wrap
	}
	m.vector = fmt.Sprint(m.scalar, vectorLanes)
	if x, ok := g.PlainX(); ok && g.X.DType == m.ct {
		m.x, m.plain = x, true
	}
	n, static := g.K.Const()
	m.blocks = !static || n > template.SumBlock
	m.tasks(func() {
		m.pack()
		w.line("for (long row = row0; row < row1; row += %d) {", m.t.Rows)
		w.inside(m.tile)
		w.line("}")
	})
}

// tasks writes the loop over the tasks of a worker. body has row0 to row1 and
// columns from col0 on.
func (m *gemm) tasks(body func()) {
	w, g := m.writer, m.g
	w.line("const long panels = (%s + %d) / %d, blocks = (%s + rows - 1) / rows;", w.size(g.Cols), m.t.Cols-1, m.t.Cols, w.size(g.Rows))
	w.line("const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;")
	w.line("for (long task = from; task < to; task++) {")
	w.inside(func() {
		w.names[g.Batch] = "batch"
		w.line("const long batch = task / (panels * blocks);")
		w.line("const long col0 = task %% panels * %d, cols = %s - col0 < %d ? %s - col0 : %d;", m.t.Cols, w.size(g.Cols), m.t.Cols, w.size(g.Cols), m.t.Cols)
		w.line("const long row0 = task / panels %% blocks * rows, row1 = row0 + rows < %s ? row0 + rows : %s;", w.size(g.Rows), w.size(g.Rows))
		body()
	})
	w.line("}")
}

// pack brings the panel of Y in order, and 0 where it has no columns.
func (m *gemm) pack() {
	w, g := m.writer, m.g
	w.line("for (long k = 0; k < %s; k++) {", w.size(g.K))
	w.inside(func() {
		w.names[g.Inner], w.names[g.Col] = "k", "(col0 + j)"
		w.hint(w.Lanes)
		w.line("for (long j = 0; j < cols; j++) {")
		w.inside(func() {
			w.named = map[*loop.Expr]string{}
			w.share(g.Y)
			w.line("%s[k * %d + j] = %s;", m.panel, m.t.Cols, w.cast(w.value(g.Y), g.Y.DType, m.ct))
		})
		w.line("}")
		w.line("for (long j = cols; j < %d; j++) %s[k * %d + j] = 0;", m.t.Cols, m.panel, m.t.Cols)
	})
	w.line("}")
}

// each calls f for each vector of sums of the tile.
func (m *gemm) each(f func(row, vector int)) {
	for i := range m.t.Rows {
		for j := range m.t.Cols / vectorLanes {
			f(i, j)
		}
	}
}

// tile computes a block of results and hands it to the epilogue.
func (m *gemm) tile() {
	w, g := m.writer, m.g
	w.line("const long last = row1 - 1 - row;")
	if m.plain {
		w.named = map[*loop.Expr]string{}
		w.share(m.x.Base, m.x.Row, m.x.Col)
		for i := range m.t.Rows {
			w.line("%sconst %s *x%d = %s + %s + (row + (last < %d ? last : %d)) * %s;", w.Global, w.Types[m.ct], i, w.params[m.x.Param], w.value(m.x.Base), i, i, w.value(m.x.Row))
		}
	}
	sum := "c"
	if m.blocks {
		sum = "t"
		m.each(func(i, j int) { w.line("%s t%d_%d = 0;", m.vector, i, j) })
		w.line("for (long k0 = 0; k0 < %s; k0 += %d) {", w.size(g.K), template.SumBlock)
		w.inside(func() {
			w.line("const long k1 = k0 + %d < %s ? k0 + %d : %s;", template.SumBlock, w.size(g.K), template.SumBlock, w.size(g.K))
			m.sums()
			m.each(func(i, j int) { w.line("t%d_%d += c%d_%d;", i, j, i, j) })
		})
		w.line("}")
	} else {
		w.line("const long k0 = 0, k1 = %s;", w.size(g.K))
		m.sums()
	}
	w.line("%s sums[%d];", w.Types[m.ct], m.t.Rows*m.t.Cols)
	as := ""
	if m.scalar != w.Types[m.ct] {
		as = fmt.Sprintf("as_%s%d", w.Types[m.ct], vectorLanes)
	}
	m.each(func(i, j int) {
		w.line("vstore%d(%s(%s%d_%d), 0, sums + %d);", vectorLanes, as, sum, i, j, i*m.t.Cols+j*vectorLanes)
	})
	m.epilogue()
}

// sums adds the products of one block of K.
func (m *gemm) sums() {
	w := m.writer
	if !m.plain {
		m.copyX()
	}
	m.each(func(i, j int) { w.line("%s c%d_%d = 0;", m.vector, i, j) })
	w.line("for (long k = k0; k < k1; k++) {")
	w.inside(func() {
		for j := range m.t.Cols / vectorLanes {
			load := fmt.Sprintf("vload%d(0, %s + k * %d + %d)", vectorLanes, m.panel, m.t.Cols, j*vectorLanes)
			if m.scalar != w.Types[m.ct] {
				load = "as_" + m.vector + "(" + load + ")"
			}
			w.line("const %s y%d = %s;", m.vector, j, load)
		}
		for i := range m.t.Rows {
			x := fmt.Sprintf("xs[%d + k - k0]", i*template.SumBlock)
			if m.plain {
				x = fmt.Sprintf("x%d[k * %s]", i, w.value(m.x.Col))
			}
			w.line("const %s a%d = (%s)(%s);", m.vector, i, m.vector, x)
			for j := range m.t.Cols / vectorLanes {
				if m.ct.IsFloat() {
					w.line("c%d_%d = %s(a%d, y%d, c%d_%d);", i, j, w.Float[ir.FMA], i, j, i, j)
				} else {
					w.line("c%d_%d += a%d * y%d;", i, j, i, j)
				}
			}
		}
	})
	w.line("}")
}

// copyX computes the elements of X that the tile reads.
func (m *gemm) copyX() {
	w, g := m.writer, m.g
	w.line("%s xs[%d];", m.scalar, m.t.Rows*template.SumBlock)
	w.line("for (long i = 0; i < %d; i++) {", m.t.Rows)
	w.inside(func() {
		w.line("const long r = row + (last < i ? last : i);")
		w.names[g.Row], w.names[g.Inner] = "r", "k"
		w.hint(w.Lanes)
		w.line("for (long k = k0; k < k1; k++) {")
		w.inside(func() {
			w.named = map[*loop.Expr]string{}
			w.share(g.X)
			w.line("xs[i * %d + k - k0] = (%s)%s;", template.SumBlock, m.scalar, w.cast(w.value(g.X), g.X.DType, m.ct))
		})
		w.line("}")
	})
	w.line("}")
}

// epilogue runs what follows the sums.
func (m *gemm) epilogue() {
	w, g := m.writer, m.g
	w.line("for (long i = 0; i <= last && i < %d; i++) {", m.t.Rows)
	w.inside(func() {
		w.line("const long r = row + i;")
		w.names[g.Row], w.names[g.Col] = "r", "col"
		w.hint(w.Lanes)
		w.line("for (long col = col0; col < col0 + cols; col++) {")
		w.inside(func() {
			value := w.cast(fmt.Sprintf("sums[i * %d + col - col0]", m.t.Cols), m.ct, g.DType)
			w.line("const %s %s = %s;", w.valueType(g.DType), w.name(g.Acc, g.Acc.Name), value)
			w.body(g.Epilogue)
		})
		w.line("}")
	})
	w.line("}")
}
