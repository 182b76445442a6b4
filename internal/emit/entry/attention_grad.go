package entry

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// AttentionGrad makes the entry point of an attention's gradient: by tiles in f32
// where a group has memory for one, else a sequence and key head at a time.
func (s Shape) AttentionGrad(name string, a *template.AttentionGrad) *Kernel {
	tiles := s.gradientTiles(a)
	if len(tiles) == 0 {
		return s.Kernel(name, spread(a.Loops()))
	}
	tile := cmp.Or(s.Strategy.Tile, tiles[0])
	return s.tiled(name, a.Tiles(pairTile(tile)), tile)
}

// AttentionGradTable is Table for the gradient of an attention.
func (s Shape) AttentionGradTable(a *template.AttentionGrad) []Strategy {
	tiles := s.gradientTiles(a)
	if len(tiles) == 0 {
		return s.Table(spread(a.Loops()))
	}
	return tileTable(tiles)
}

// pairTile is a tile of an attention's gradient, all of whose columns lie in
// shared memory at a time.
func pairTile(t Tile) template.PairTile {
	return template.PairTile{Rows: t.Rows, Cols: t.Cols, EachRows: t.EachRows, EachCols: t.EachCols}
}

// gradientWords are what a work-item needs beyond what an attention does: more
// operands are on the way. Without, values are spilled on AMD's gfx1100.
const gradientWords = 16

// gradientTiles are the tiles that an attention's gradient can have here, the
// best first: with usualItems work-items or more, and then those that read
// memory least.
func (s Shape) gradientTiles(a *template.AttentionGrad) []Tile {
	if s.Items == 1 || a.DType.Compute() != ir.F32 || a.Width == 0 || a.VWidth == 0 {
		return nil
	}
	rows := max(QueryRows(&a.Attention), keyRows(&a.Attention))
	var usual, others []Tile
	for _, high := range tileRows {
		if high > 16 && high/2 >= rows || high < 16 && len(usual)+len(others) > 0 {
			continue
		}
		for _, cols := range []int{32, 16, 8} {
			for _, each := range []struct{ rows, cols int }{{4, 4}, {4, 2}, {2, 4}, {2, 2}, {4, 1}, {2, 1}, {1, 2}, {1, 1}} {
				t := Tile{Rows: high, Cols: cols, EachRows: each.rows, EachCols: each.cols}
				n := t.Items()
				if n > s.Items || high < each.rows || !s.holds(a.TileMemory(pairTile(t)), each.rows*each.cols+gradientWords) {
					continue
				}
				if n >= min(usualItems, s.Items) {
					usual = append(usual, t)
				} else if n >= min(leastItems, s.Items) {
					others = append(others, t)
				}
			}
		}
	}
	for _, all := range [][]Tile{usual, others} {
		slices.SortStableFunc(all, func(x, y Tile) int { return cmp.Compare(pairLoads(a, x), pairLoads(a, y)) })
	}
	return append(usual, others...)
}

// pairLoads is about how many loads from shared memory a multiply-add of a tile
// takes: in products rows and columns, in sums factors of rows and lanes of
// columns. One from a buffer, which a column's lane takes for all rows, counts
// as distant, and so does that all wait for each other with every block of
// columns.
func pairLoads(a *template.AttentionGrad, t Tile) float64 {
	const distant = 8
	per := func(n int) float64 { return 1 / float64(n) }
	width := (a.Width + a.VWidth) / 2
	lanes := max(1, width/t.ItemCols())
	return 2*per(t.EachRows) + per(t.EachCols) + per(lanes) + distant*per(t.Rows) + distant*per(t.Cols)*per(t.EachRows*lanes)
}

// keyRows is how many keys a sequence has at most.
func keyRows(a *template.Attention) int {
	d := a.KLen
	if a.Attr.Ragged {
		d = a.Keys
	}
	return atMost(d)
}
