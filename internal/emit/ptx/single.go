package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// A large product of f32 goes the way of those on units for matrices but for the
// multiplication: a thread adds products of 8 rows and 8 columns, which it reads
// from shared memory four at a time. The order of sums is that of every tile.

// singleTile is that of such a product.
var singleTile = entry.Tile{Rows: tensorWide, Cols: tensorWide, EachRows: 8, EachCols: 8, Depth: stageBytes / 4}

// isSingle tells whether k is one.
func isSingle(k *entry.Kernel) bool {
	g := k.Gemm
	return k.Tile == singleTile && g.DType == ir.F32 && g.X.DType == ir.F32 && g.Y.DType == ir.F32
}

// isLarge tells whether a product may have results for a whole tile.
func isLarge(g *template.Gemm) bool {
	_, rows := g.Rows.Bounds()
	_, cols := g.Cols.Bounds()
	return g.DType == ir.F32 && g.X.DType == ir.F32 && g.Y.DType == ir.F32 && rows >= tensorWide && cols >= tensorWide
}

// A thread has rows 4*(item/16) and columns 4*(item%16) and the three behind
// each, and the same half a tile further on. vector gives four sums side by side:
// in row 0 to 7 of the thread's, columns 0 to 3 or 4 to 7.
func (t *tensor) vector(row, half int) *[4]string { return &t.sum[row/2][row%2*2+half] }

// singlePlace is the first row and column of the thread.
func (t *tensor) singlePlace() (row, col string) {
	row = t.op(words, "shl.b32", t.op(words, "shr.u32", t.item, "4"), "2")
	return row, t.op(words, "shl.b32", t.op(words, "and.b32", t.item, "15"), "2")
}

// multiplySingles adds the products of a stage.
func (t *tensor) multiplySingles(stage string) {
	row, col := t.singlePlace()
	xs := t.op(words, "mad.lo.u32", row, "4", stage)
	ys := t.op(words, "mad.lo.u32", col, "4", stage)
	for k := range stageBytes / 4 {
		at := k * t.wideRow()
		x := append(t.four(xs, at), t.four(xs, at+2*tensorWide)...)
		y := append(t.four(ys, at+operandLen), t.four(ys, at+operandLen+2*tensorWide)...)
		for i, a := range x {
			for j, b := range y {
				sum := t.vector(i, j/4)[j%4]
				t.line("fma.rn.f32 %s, %s, %s, %s", sum, a, b, sum)
			}
		}
	}
}

// four loads elements side by side.
func (t *tensor) four(base string, offset int) []string {
	r := []string{t.reg(singles), t.reg(singles), t.reg(singles), t.reg(singles)}
	t.line("ld.shared.v4.f32 {%s}, [%s+%d]", strings.Join(r, ", "), base, offset)
	return r
}

// keepSingles is keep for them.
func (t *tensor) keepSingles(first flat.Value, mine string) {
	for half := range 2 {
		here := t.op(predicates, "setp.eq.u32", t.name(first), fmt.Sprint(half*warpRows))
		t.If(t.value(flat.Bool, here), func() {
			for i := range 4 {
				for j := range 2 {
					at := 4 * (i*finishRow + j*tensorWide/2)
					t.line("st.shared.v4.f32 [%s+%d], {%s}", mine, at, strings.Join(t.vector(4*half+i, j)[:], ", "))
				}
			}
		})
	}
}
