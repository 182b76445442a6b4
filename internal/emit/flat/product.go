package flat

import (
	"cmp"
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// A group computes a block of results: it brings a few columns of X and as many
// rows of Y into memory that it shares, and every work-item adds their products
// to results of its own, which lie apart, so that work-items side by side read
// and write side by side.

// Product is the product g as a group does a task of it. The numbers of a tile
// are powers of two.
func Product(name string, g *template.Gemm, t entry.Tile) *entry.Kernel {
	t = cmp.Or(t, entry.GroupTile)
	return entry.Product(name, g, t.Items(), t)
}

// product writes the tasks of a product.
type product struct {
	*writer
	g            *template.Gemm
	tile         entry.Tile
	dtype        ir.DType // of sums
	t            Type
	xs, ys       Memory
	across, down Value // where the work-item's results are in the block
	row0, row1   Value
	col0, col1   Value
	sums, totals []Var // of a work-item, row by row
}

func (w *writer) product() {
	p := &product{writer: w, g: w.k.Gemm, tile: w.k.Tile, dtype: w.k.Gemm.DType.Compute()}
	p.t = TypeOf(p.dtype)
	t := p.tile
	p.xs, p.ys = w.Shared(p.dtype, t.Depth*entry.SharedRow(t.Rows)), w.Shared(p.dtype, t.Depth*entry.SharedRow(t.Cols))
	p.across, p.down = w.low(w.item, t.ItemCols()), w.high(w.item, t.ItemCols())
	for range t.EachRows * t.EachCols {
		p.sums, p.totals = append(p.sums, w.Var(p.t)), append(p.totals, w.Var(p.t))
	}
	w.blocks(func(b *Block) {
		p.row0, p.row1, p.col0, p.col1 = b.Row0, b.Row1, b.Col0, b.Col1
		p.task()
	})
}

// low is the remainder of x by n, a power of two, high the quotient.
func (w *writer) low(x Value, n int) Value {
	return w.Op(And, x.Type, x, w.Const(x.Type, uint64(n-1)))
}

func (w *writer) high(x Value, n int) Value {
	return w.Op(ShrU, x.Type, x, w.Const(x.Type, uint64(bits.TrailingZeros(uint(n)))))
}

// task computes one block of results.
func (p *product) task() {
	zero := p.Const(p.t, 0)
	for i := range p.sums {
		p.Set(p.sums[i], zero)
		p.Set(p.totals[i], zero)
	}
	k, depth := p.size(p.g.K), p.tile.Depth
	p.For(p.int(0), k, depth, false, func(k0 Value) {
		p.operands(k0)
		p.Barrier(false)
		p.products()
		p.Barrier(false)
		done := p.add(k0, p.int(uint64(depth)))
		full := p.Op(Equal, Bool, p.low(done, template.SumBlock), p.int(0))
		last := p.not(p.Op(Less, Bool, done, k))
		p.If(p.Op(Or, Bool, full, last), func() {
			for i := range p.sums {
				p.Set(p.totals[i], p.add(p.Get(p.totals[i]), p.Get(p.sums[i])))
				p.Set(p.sums[i], zero)
			}
		})
	})
	p.results()
}

// operands has each work-item bring some elements of X and Y, 0 beyond their
// ends: work-items side by side those that lie side by side.
func (p *product) operands(k0 Value) {
	g := p.g
	p.bring(p.xs, p.tile.Rows, g.X, g.Row, k0, p.row0, p.size(g.Rows), g.TurnedX())
	y, plain := g.PlainY()
	p.bring(p.ys, p.tile.Cols, g.Y, g.Col, k0, p.col0, p.size(g.Cols), !plain || y.Col.IsInt(1))
}

// bring fills shared memory with an operand from first along the tile, which is
// so wide, and from k0. turned says that those of one k lie side by side.
func (p *product) bring(to Memory, wide int, e *loop.Expr, along *loop.Var, k0, first, size Value, turned bool) {
	items, depth := p.tile.Items(), p.tile.Depth
	zero, turns := p.Const(I32, 0), p.Const(I32, uint64(wide*depth/items))
	p.For(zero, turns, 1, true, func(turn Value) {
		at := p.add(p.mul(turn, p.Const(I32, uint64(items))), p.item)
		var r, k Value
		if turned {
			r, k = p.low(at, wide), p.high(at, wide)
		} else {
			r, k = p.high(at, depth), p.low(at, depth)
		}
		row, inner := p.add(first, p.extend(r)), p.add(k0, p.extend(k))
		inside := p.Op(LessU, Bool, row, size)
		inside = p.Op(And, Bool, inside, p.Op(LessU, Bool, inner, p.size(p.g.K)))
		v := p.Var(p.t)
		p.Set(v, p.Const(p.t, 0))
		p.If(inside, func() {
			p.vars[along], p.vars[p.g.Inner] = row, inner
			p.values = map[*loop.Expr]Value{}
			p.Set(v, p.cast(p.value(e), e.DType, p.dtype))
		})
		p.Store(to, p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(wide)))), r), p.Get(v), Value{})
	})
}

// products adds those of what is shared.
func (p *product) products() {
	t := p.tile
	p.For(p.Const(I32, 0), p.Const(I32, uint64(t.Depth)), 1, true, func(k Value) {
		x0 := p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(t.Rows)))), p.down)
		y0 := p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(t.Cols)))), p.across)
		x, y := make([]Value, t.EachRows), make([]Value, t.EachCols)
		for i := range max(t.EachRows, t.EachCols) {
			if i < t.EachRows {
				x[i] = p.Load(p.xs, p.add(x0, p.Const(I32, uint64(t.ItemRows()*i))), Value{})
			}
			if i < t.EachCols {
				y[i] = p.Load(p.ys, p.add(y0, p.Const(I32, uint64(t.ItemCols()*i))), Value{})
			}
		}
		for n := range p.sums {
			p.Set(p.sums[n], p.fused(x[n/t.EachCols], y[n%t.EachCols], p.Get(p.sums[n])))
		}
	})
}

// fused is x*y + sum.
func (p *product) fused(x, y, sum Value) Value {
	if p.t.IsFloat() {
		return p.Op(FMA, p.t, x, y, sum)
	}
	return p.add(p.mul(x, y), sum)
}

// results runs the epilogue for those of a work-item.
func (p *product) results() {
	p.alone = true
	t := p.tile
	for n := range p.totals {
		row := p.add(p.row0, p.extend(p.add(p.down, p.Const(I32, uint64(n/t.EachCols*t.ItemRows())))))
		col := p.add(p.col0, p.extend(p.add(p.across, p.Const(I32, uint64(n%t.EachCols*t.ItemCols())))))
		// Without a sign: Mesa 22 takes a signed comparison of 64 bits with a constant
		// for false here.
		inside := p.Op(And, Bool, p.Op(LessU, Bool, row, p.row1), p.Op(LessU, Bool, col, p.col1))
		p.If(inside, func() {
			p.vars[p.g.Row], p.vars[p.g.Col] = row, col
			p.once[p.g.Acc] = p.cast(p.Get(p.totals[n]), p.dtype, p.g.DType)
			p.body(p.g.Epilogue)
		})
	}
	p.alone = false
}
