package entry

import (
	"cmp"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Attention makes the entry point of an attention: on units for matrices where
// the device has some that take it, by tiles in f32 where a group has memory for
// one, else row by row.
func (s Shape) Attention(name string, a *template.Attention) *Kernel {
	tiles := s.attentionTiles(a)
	if len(tiles) == 0 {
		return s.Kernel(name, a.RowLoops())
	}
	tile := cmp.Or(s.Strategy.Tile, tiles[0])
	if s.attends(a) {
		k := Attend(name, a, tile)
		k.Strategy = s.Strategy
		return k
	}
	return s.tiled(name, a.Tiles(queryTile(tile)), tile)
}

// tiled is the entry point of tiles whose memory is near.
func (s Shape) tiled(name string, t *template.Tiled, tile Tile) *Kernel {
	k := &Kernel{Entry: name, Items: tile.Items(), Tile: tile, Strategy: s.Strategy, Own: t.Own, Near: make([]bool, len(t.Params))}
	k.Work = loop.Expand(loop.MoveBits(t.Kernel))
	for i, p := range k.Work.Params {
		k.Near[i] = p.Use == loop.Scratch
	}
	return k
}

// AttentionTable is Table for an attention.
func (s Shape) AttentionTable(a *template.Attention) []Strategy {
	tiles := s.attentionTiles(a)
	if len(tiles) == 0 {
		return s.Table(a.RowLoops())
	}
	return tileTable(tiles)
}

// tileTable lists tiles, the first being the heuristic's.
func tileTable(tiles []Tile) []Strategy {
	all := []Strategy{{}}
	for _, t := range tiles[1:min(len(tiles), MaxStrategies-len(tasks))] {
		all = append(all, Strategy{Tile: t})
	}
	return all
}

// queryTile is a tile of an attention, whose rows are queries and whose columns
// a block of keys.
func queryTile(t Tile) template.QueryTile {
	return template.QueryTile{Rows: t.Rows, EachRows: t.EachRows, EachKeys: t.EachCols, Keys: t.Depth}
}

const (
	// ownWords are Shape.Own where nothing is known: a third of 128 registers.
	ownWords = 40
	// usualItems share a tile at least where a group may have them.
	usualItems = 128
)

// tileRows are how many rows a tile of an attention may have. Fewer than 16 are
// for groups of few work-items, and for heads that are very wide.
var tileRows = []int{64, 32, 16, 8, 4, 2}

// attentionTiles are the tiles that an attention can have here, the best first:
// with many rows, as each row reads the keys again otherwise, but not many more
// than there are; with all of a block of keys at a time; and with
// usualItems work-items or more.
func (s Shape) attentionTiles(a *template.Attention) []Tile {
	if s.attends(a) {
		return s.Attend(a)
	}
	if s.Items == 1 || a.DType.Compute() != ir.F32 {
		return nil
	}
	rows := QueryRows(a)
	var usual, others []Tile
	for _, high := range tileRows {
		if high > 16 && high/2 >= rows || high < 16 && len(usual)+len(others) > 0 {
			continue
		}
		for _, depth := range []int{template.KeyBlock, template.KeyBlock / 2} {
			for _, each := range []struct{ rows, keys int }{{4, 4}, {4, 2}, {2, 4}, {2, 2}, {4, 8}, {2, 8}, {8, 4}, {1, 2}} {
				t := Tile{Rows: high, Cols: template.KeyBlock, EachRows: each.rows, EachCols: each.keys, Depth: depth}
				n := t.Items()
				if n > s.Items || high < each.rows || depth%t.ItemCols() != 0 || !s.holds(a.TileMemory(queryTile(t)), t.EachRows*t.EachCols*depth/template.KeyBlock) {
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
	return append(usual, others...)
}

// holds tells whether a group has memory for a tile, and a work-item registers
// beside so many products on the way.
func (s Shape) holds(m template.TileMemory, products int) bool {
	return m.Shared <= s.Shared && m.Own+products <= cmp.Or(s.Own, ownWords)
}

// attends tells whether units for matrices take it. Their sums have roundings of
// their own, so that no other tiles may take turns with theirs.
func (s Shape) attends(a *template.Attention) bool { return s.Attend != nil && len(s.Attend(a)) > 0 }

// QueryRows is how many rows of queries share the keys of a head at most.
func QueryRows(a *template.Attention) int {
	d := a.QLen
	if a.Attr.Ragged {
		d = a.Queries
	}
	return atMost(d) * (a.Heads / a.KVHeads)
}

// atMost bounds what a dimension may be, and that by many.
func atMost(d ir.Dim) int {
	const many = 1 << 20
	_, most := d.Bounds()
	return int(min(most, many))
}
