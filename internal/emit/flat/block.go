package flat

import (
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Multiplier is a Builder for a machine that has instructions for matrices. It
// computes blocks of some products itself.
type Multiplier interface {
	Builder
	// Multiplies tells whether it does of k, all of whose groups have k.Items.
	Multiplies(k *entry.Kernel) bool
	// Multiply computes a block of results, in code that all work-items of a
	// group run alike, and has Finish take each that lies in the block.
	Multiply(b *Block)
}

// Block is the results of a product in some rows and columns, as many as the
// tile of the kernel has or fewer.
type Block struct {
	Gemm                          *template.Gemm
	Row0, Row1, Col0, Col1, Depth Value // from one to below the other; the values of k. All I64
	w                             *writer
}

// Value computes an expression of sizes and the batch.
func (b *Block) Value(e *loop.Expr) Value {
	b.w.values = map[*loop.Expr]Value{}
	return b.w.value(e)
}

// Memory is that of a param.
func (b *Block) Memory(param int) Memory { return b.w.params[param] }

// Element computes an operand, e, at a row or column, v, and a k.
func (b *Block) Element(e *loop.Expr, v *loop.Var, at, k Value) Value {
	b.w.vars[v], b.w.vars[b.Gemm.Inner] = at, k
	return b.Value(e)
}

// Finish runs the epilogue for a result, whose sum has the type of sums. Not all
// work-items need to run that.
func (b *Block) Finish(row, col, sum Value) {
	w, g := b.w, b.Gemm
	w.vars[g.Row], w.vars[g.Col] = row, col
	w.once[g.Acc] = w.cast(sum, g.DType.Compute(), g.DType)
	w.epilogue(g.Epilogue)
}

// FinishPack does so for results side by side, as many as the kernel's Packed says,
// of which the first is in a column that is a multiple.
func (b *Block) FinishPack(row, col Value, sums []Value) {
	w, p := b.w, b.w.k.Packed
	w.vars[b.Gemm.Row], w.vars[p.Pack] = row, w.high(col, p.Each)
	for i, sum := range sums {
		w.once[p.Acc[i]] = w.cast(sum, b.Gemm.DType.Compute(), b.Gemm.DType)
	}
	w.epilogue(p.Body)
}

// epilogue writes what a work-item does with results of its own.
func (w *writer) epilogue(body []loop.Stmt) {
	alone := w.alone
	w.alone = true
	w.body(body)
	w.alone = alone
}

// blocks writes the loop over the tasks of a worker.
func (w *writer) blocks(body func(b *Block)) {
	g, wide := w.k.Gemm, w.k.Tile.Cols
	rows, cols := w.size(g.Rows), w.size(g.Cols)
	panels := w.high(w.add(cols, w.int(uint64(wide-1))), wide)
	blocks := w.Op(DivU, I64, w.Op(Sub, I64, w.add(rows, w.rows), w.int(1)), w.rows)
	from, to := w.share()
	w.For(from, to, 1, false, func(task Value) {
		each := w.mul(panels, blocks)
		batch := w.Op(DivU, I64, task, each)
		w.vars[g.Batch] = batch
		task = w.Op(Sub, I64, task, w.mul(batch, each))
		block := w.Op(DivU, I64, task, panels)
		b := &Block{Gemm: g, w: w, Depth: w.size(g.K)}
		b.Row0 = w.mul(block, w.rows)
		b.Row1 = w.least(w.add(b.Row0, w.rows), rows)
		b.Col0 = w.mul(w.Op(Sub, I64, task, w.mul(block, panels)), w.int(uint64(wide)))
		b.Col1 = w.least(w.add(b.Col0, w.int(uint64(wide))), cols)
		body(b)
	})
}
