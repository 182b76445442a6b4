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
// rows of Y, a stage, into memory that it shares, and every work-item adds their
// products to results of its own, which lie apart, so that work-items side by side
// read and write side by side. There is room for two stages where there can be:
// while one is multiplied, the next is on its way to variables.

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
	x, y         *side
	across, down Value // where the work-item's results are in the block
	row0, row1   Value
	col0, col1   Value
	sums, totals []Var // of a work-item, row by row
}

func (w *writer) product() {
	p := &product{writer: w, g: w.k.Gemm, tile: w.k.Tile, dtype: w.k.Gemm.DType.Compute()}
	p.t = TypeOf(p.dtype)
	t := p.tile
	p.sides()
	p.across, p.down = w.low(w.item, t.ItemCols()), w.high(w.item, t.ItemCols())
	for range t.EachRows * t.EachCols {
		p.sums, p.totals = append(p.sums, w.Var(p.t)), append(p.totals, w.Var(p.t))
	}
	w.blocks(func(b *Block) {
		p.row0, p.row1, p.col0, p.col1 = b.Row0, b.Row1, b.Col0, b.Col1
		p.x.first, p.y.first = b.Row0, b.Col0
		p.task()
	})
}

// low is the remainder of x by n, a power of two.
func (w *writer) low(x Value, n int) Value {
	return w.Op(And, x.Type, x, w.Const(x.Type, uint64(n-1)))
}

// high is the quotient of x, which is not negative, by n.
func (w *writer) high(x Value, n int) Value {
	if n&(n-1) != 0 {
		return w.Op(DivU, x.Type, x, w.Const(x.Type, uint64(n)))
	}
	return w.Op(ShrU, x.Type, x, w.Const(x.Type, uint64(bits.TrailingZeros(uint(n)))))
}

// task computes one block of results.
func (p *product) task() {
	zero := p.Const(p.t, 0)
	for i := range p.sums {
		p.Set(p.sums[i], zero)
		p.Set(p.totals[i], zero)
	}
	if p.k.OneStage {
		p.oneStage()
	} else {
		p.twoStages()
	}
	p.results()
}

// oneStage multiplies each stage when it is there.
func (p *product) oneStage() {
	k, depth := p.size(p.g.K), p.tile.Depth
	p.For(p.int(0), k, depth, false, func(k0 Value) {
		for _, s := range []*side{p.x, p.y} {
			p.each(s, true, func(_, r, inner Value) {
				v := p.Var(p.t)
				p.Set(v, p.Const(p.t, 0))
				p.element(s, k0, r, inner, func(x Value) { p.Set(v, x) })
				p.put(s, p.Const(I32, 0), r, inner, p.Get(v))
			})
		}
		p.Barrier(false)
		p.products(p.Const(I32, 0))
		p.Barrier(false)
		done := p.add(k0, p.int(uint64(depth)))
		p.addTotals(done, p.not(p.Op(Less, Bool, done, k)))
	})
}

// twoStages brings the stage at k0 to variables, multiplies the one before it, and
// then puts the variables where the one before that was: at the barrier all have
// left it, those of the last task too. Comparisons are without a sign, see results.
func (p *product) twoStages() {
	k, depth := p.size(p.g.K), p.tile.Depth
	p.For(p.int(0), p.add(k, p.int(uint64(depth))), depth, false, func(k0 Value) {
		next := p.low(p.high(p.Op(Narrow, I32, k0), depth), 2)
		more := p.Op(LessU, Bool, k0, k)
		p.If(more, func() {
			p.bring(p.x, k0)
			p.bring(p.y, k0)
		})
		p.If(p.Op(NotEqual, Bool, k0, p.int(0)), func() {
			p.products(p.Op(Xor, I32, next, p.Const(I32, 1)))
			p.addTotals(k0, p.not(more))
		})
		p.If(more, func() {
			for _, s := range []*side{p.x, p.y} {
				turn := 0
				p.each(s, false, func(_, r, inner Value) {
					p.put(s, next, r, inner, p.Get(s.next[turn]))
					turn++
				})
			}
		})
		p.Barrier(false)
	})
}

// addTotals adds sums to totals behind a block of k or the last, which is done.
func (p *product) addTotals(done, last Value) {
	full := p.Op(Equal, Bool, p.low(done, template.SumBlock), p.int(0))
	zero := p.Const(p.t, 0)
	p.If(p.Op(Or, Bool, full, last), func() {
		for i := range p.sums {
			p.Set(p.totals[i], p.add(p.Get(p.totals[i]), p.Get(p.sums[i])))
			p.Set(p.sums[i], zero)
		}
	})
}

// side is an operand on its way to shared memory.
type side struct {
	to     Memory
	e      *loop.Expr
	along  *loop.Var // of its rows or columns
	size   Value     // of those
	first  Value     // of the tile
	wide   int       // the tile
	turned bool      // elements of one k lie side by side
	next   []Var     // of the next stage, those that the work-item brings
}

func (p *product) sides() {
	g, t := p.g, p.tile
	y, plain := g.PlainY()
	p.x = &side{e: g.X, along: g.Row, size: p.size(g.Rows), wide: t.Rows, turned: g.TurnedX()}
	p.y = &side{e: g.Y, along: g.Col, size: p.size(g.Cols), wide: t.Cols, turned: !plain || y.Col.IsInt(1)}
	for _, s := range []*side{p.x, p.y} {
		s.to = p.Shared(p.dtype, p.k.Stages()*t.Depth*entry.SharedRow(s.wide))
		for range p.turns(s) * (p.k.Stages() - 1) {
			s.next = append(s.next, p.Var(p.t))
		}
	}
}

// turns is how many elements of an operand a work-item brings for a stage.
func (p *product) turns(s *side) int { return s.wide * p.tile.Depth / p.tile.Items() }

// each visits the elements that a work-item brings: at r along the tile and a k of
// the stage, work-items side by side have those that lie side by side. They may be
// visited by a loop, or else in code of its own each.
func (p *product) each(s *side, mayLoop bool, visit func(turn, r, k Value)) {
	one := func(turn Value) {
		at := p.add(p.mul(turn, p.Const(I32, uint64(p.tile.Items()))), p.item)
		if s.turned {
			visit(turn, p.low(at, s.wide), p.high(at, s.wide))
		} else {
			visit(turn, p.high(at, p.tile.Depth), p.low(at, p.tile.Depth))
		}
	}
	if mayLoop {
		p.For(p.Const(I32, 0), p.Const(I32, uint64(p.turns(s))), 1, true, one)
		return
	}
	for turn := range p.turns(s) {
		one(p.Const(I32, uint64(turn)))
	}
}

// bring computes elements of the stage at k0 into variables, 0 beyond the ends of
// the operand. Its expression is there once where a loop stays one, so the
// variable is chosen by the turn.
func (p *product) bring(s *side, k0 Value) {
	for _, v := range s.next {
		p.Set(v, p.Const(p.t, 0))
	}
	p.each(s, true, func(turn, r, k Value) {
		p.element(s, k0, r, k, func(x Value) {
			for i, v := range s.next {
				mine := p.Op(Equal, Bool, turn, p.Const(I32, uint64(i)))
				p.Set(v, p.Op(Select, p.t, mine, x, p.Get(v)))
			}
		})
	})
}

// element computes an element if there is one at such a place.
func (p *product) element(s *side, k0, r, k Value, keep func(x Value)) {
	row, inner := p.add(s.first, p.extend(r)), p.add(k0, p.extend(k))
	inside := p.Op(LessU, Bool, row, s.size)
	inside = p.Op(And, Bool, inside, p.Op(LessU, Bool, inner, p.size(p.g.K)))
	p.If(inside, func() {
		p.vars[s.along], p.vars[p.g.Inner] = row, inner
		p.values = map[*loop.Expr]Value{}
		keep(p.cast(p.value(s.e), s.e.DType, p.dtype))
	})
}

// put stores an element of a stage, the first or second.
func (p *product) put(s *side, stage, r, k, x Value) {
	at := p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(s.wide)))), r)
	p.Store(s.to, p.add(at, p.begin(s, stage)), x, Value{})
}

// begin is where a stage begins.
func (p *product) begin(s *side, stage Value) Value {
	return p.mul(stage, p.Const(I32, uint64(p.tile.Depth*entry.SharedRow(s.wide))))
}

// products adds those of a stage.
func (p *product) products(stage Value) {
	t := p.tile
	firstX, firstY := p.add(p.begin(p.x, stage), p.down), p.add(p.begin(p.y, stage), p.across)
	p.For(p.Const(I32, 0), p.Const(I32, uint64(t.Depth)), 1, true, func(k Value) {
		x0 := p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(t.Rows)))), firstX)
		y0 := p.add(p.mul(k, p.Const(I32, uint64(entry.SharedRow(t.Cols)))), firstY)
		x, y := make([]Value, t.EachRows), make([]Value, t.EachCols)
		for i := range max(t.EachRows, t.EachCols) {
			if i < t.EachRows {
				x[i] = p.Load(p.x.to, p.add(x0, p.Const(I32, uint64(t.ItemRows()*i))), Value{})
			}
			if i < t.EachCols {
				y[i] = p.Load(p.y.to, p.add(y0, p.Const(I32, uint64(t.ItemCols()*i))), Value{})
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
