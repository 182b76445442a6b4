package entry

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// A product of few rows, as in the generation of text, reads every weight once
// and does little with it: what counts is that all compute units read at once,
// and wide. A block of results, as a tile has them, would leave most units idle.
// Here a group has a few columns of all rows, or of a block of them, and its
// work-items share the values of k as well: each sums up every so many-th, and
// what they have is joined in one order. The sums are not in the order of those
// of tiles, but in one that depends on neither the number of rows nor on the
// strategy: how a product is dealt out changes no bit.

const (
	// fewRows is how many rows a group computes at most: sums, and what of X
	// they need at a time, stay in registers.
	fewRows = 8
	// fewBlocks is how many blocks of rows read the weight. More rows are the
	// work of tiles.
	fewBlocks = 2
	// fewItems is the work-items of a group where nothing else was found better.
	fewItems = 128
	// deepLanes and wideLanes are how many work-items share a sum: those side by
	// side where values of k lie side by side, and others where columns do, of
	// which enough are left to read whole lines of memory.
	deepLanes, wideLanes = 32, 16
	// fewSums is how many a work-item has at most, deepSums where that leaves
	// registers for wide pieces of X.
	fewSums, deepSums = 32, 16
	// fewFactors is how many it has at a time.
	fewFactors = 64
	// fewTurns are taken together at most: what is on its way to all work-items has to
	// fill the time that memory takes to answer.
	fewTurns = 16
	// lineBytes of a row that a group reads side by side are worth while.
	lineBytes = 32
)

// few is how a product of few rows is computed.
type few struct {
	g     *template.Gemm
	rows  int  // of a group
	deep  bool // values of k lie side by side in Y
	step  int  // values of k that a work-item takes side by side, if deep
	lanes int  // work-items that share a sum
	items int  // of a group
	cols  int  // of a work-item
	ahead int  // bytes that are read together; 0: as many factors as there are registers for
	// beside says that they lie side by side, if not deep.
	beside bool
}

// few tells how g is computed if it has few rows or few columns, by the strategy
// if that says so.
func (s Shape) few(g *template.Gemm) (*few, bool) {
	if s.Items == 1 {
		return nil, false
	}
	_, rows := g.Rows.Bounds()
	if _, cols := g.Cols.Bounds(); rows > fewRows*fewBlocks && cols <= fewRows {
		g, rows = exchanged(g), cols
	}
	if rows < 1 || rows > fewRows*fewBlocks {
		return nil, false
	}
	blocks := (int(rows) + fewRows - 1) / fewRows
	f := &few{g: g, rows: (int(rows) + blocks - 1) / blocks, ahead: s.Ahead}
	f.places(s)
	if blocks > 1 && !s.idle(g) {
		return nil, false
	}
	f.items = cmp.Or(s.Strategy.Items, s.fewItems(f))
	f.cols = cmp.Or(s.Strategy.Tile.EachCols, s.fewCols(f))
	f.beside = !f.deep && f.aligned(f.cols)
	return f, true
}

// exchanged is g with rows for columns.
func exchanged(g *template.Gemm) *template.Gemm {
	t := *g
	t.Rows, t.Cols, t.Row, t.Col, t.X, t.Y = g.Cols, g.Rows, g.Col, g.Row, g.Y, g.X
	return &t
}

// idle tells whether tiles of g would leave most compute units without work.
func (s Shape) idle(g *template.Gemm) bool {
	return 2*s.groups(g, GroupTile.Rows, GroupTile.Cols) <= int64(s.Units)
}

// groups is how many blocks of so many rows and columns g has at most.
func (s Shape) groups(g *template.Gemm, rows, cols int) int64 {
	_, m := g.Rows.Bounds()
	_, n := g.Cols.Bounds()
	_, batch := g.BatchSize.Bounds()
	return min(batch, many) * ((m + int64(rows) - 1) / int64(rows)) * ((min(n, many) + int64(cols) - 1) / int64(cols))
}

// many is more than any device has units.
const many = 1 << 20

// places finds how Y lies, and the lanes of a sum. None of that is a matter of
// the strategy, as the order of sums depends on it.
func (f *few) places(s Shape) {
	load := f.weight()
	f.step, f.lanes = 1, wideLanes
	if load != nil {
		_, byK, ok := loop.Affine(load.Args[0], f.g.Inner)
		f.deep = ok && byK.IsInt(1)
	}
	if f.deep {
		f.lanes = deepLanes
		for n := WideBytes / load.DType.Size(); n > 1 && n*load.DType.Size() >= 4; n /= 2 {
			if size, ok := f.g.K.Const(); ok && size%n == 0 && f.stays(load, f.g.Inner, n) {
				f.step = n
				break
			}
		}
	}
	f.lanes = min(f.lanes, s.Items)
	_, k := f.g.K.Bounds()
	for f.lanes > 4 && int64(f.lanes/2*f.step) >= k {
		f.lanes /= 2
	}
}

// weight is the load of what Y has for each k and column, nil if there is none.
func (f *few) weight() *loop.Expr {
	var found *loop.Expr
	f.g.Y.Walk(func(e *loop.Expr) {
		if found == nil && e.Kind == loop.KindLoad && len(e.Args) == 1 && e.Uses(f.g.Inner) && e.Uses(f.g.Col) {
			found = e
		}
	})
	return found
}

// stays tells whether n elements of a load along v, from a multiple of n on, are
// at a multiple of their bytes and can be loaded together.
func (f *few) stays(load *loop.Expr, v *loop.Var, n int) bool {
	if load.DType == ir.Bool || load.DType.Size() > 4 || f.g.Params[load.Param].Use != loop.Read {
		return false
	}
	terms, c := termsOf(loop.Substitute(load.Args[0], map[*loop.Var]*loop.Expr{v: loop.MulIndex(v.Ref(), loop.Int(n))}))
	for _, t := range terms {
		if !loop.Multiple(t, n) {
			return false
		}
	}
	return c%n == 0
}

// aligned tells whether n columns side by side can be loaded together.
func (f *few) aligned(n int) bool {
	load := f.weight()
	size, ok := f.g.Cols.Const()
	if load == nil || !ok || size%n != 0 {
		return false
	}
	_, byCol, ok := loop.Affine(load.Args[0], f.g.Col)
	bytes := n * load.DType.Size()
	return ok && byCol.IsInt(1) && bytes >= 4 && bytes <= WideBytes && f.stays(load, f.g.Col, n)
}

// groupCols is how many columns a group has.
func (f *few) groupCols() int { return f.cols * f.items / f.lanes }

// partsLen is how many elements of scratch memory a group has: for each result as
// many as there are lanes, and one more, as banks repeat.
func (f *few) partsLen() int { return f.rows * f.groupCols() * (f.lanes + 1) }

// fits tells whether a group's memory and a work-item's registers have room.
func (s Shape) fits(f *few) bool {
	size := f.g.DType.Compute().Size()
	return f.rows*f.cols*size <= 4*fewSums && (f.partsLen()*size <= s.Near || s.Near == 0)
}

// fewItems is the usual size of a group.
func (s Shape) fewItems(f *few) int {
	t := *f
	t.cols, t.items = 1, 2*t.lanes // as many work-items for each lane, whatever a group may have
	for t.items <= min(fewItems, s.Items) && s.fits(&t) {
		t.items *= 2
	}
	return t.items / 2
}

// fewCols is so many columns of a work-item that what it reads of X is used for
// several, as long as there are groups for all compute units; where columns lie
// side by side, so many that a group reads whole lines.
func (s Shape) fewCols(f *few) int {
	size := f.g.DType.Size()
	if load := f.weight(); load != nil {
		size = load.DType.Size()
	}
	most := 4
	if !f.deep {
		most = max(1, WideBytes/size)
	}
	best := 1
	for n := 2; n <= most; n *= 2 {
		t := *f
		t.cols = n
		line := !f.deep && best*f.items/f.lanes*size < lineBytes
		if !s.fits(&t) || f.deep && f.rows*n > deepSums || !line && s.groups(f.g, f.rows, t.groupCols()) < 2*int64(s.Units) {
			break
		}
		best = n
	}
	return best
}

// table lists the strategies for f, which s has chosen.
func (f *few) table(s Shape) []Strategy {
	all := []Strategy{{}}
	for items := f.lanes; items <= s.Items; items *= 2 {
		for cols := 1; cols <= WideBytes; cols *= 2 {
			t := *f
			t.items, t.cols = items, cols
			c := Strategy{Items: items, Tile: Tile{EachCols: cols}}
			if items >= min(fewItems/4, s.Items) && (items != f.items || cols != f.cols) && s.fits(&t) && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
