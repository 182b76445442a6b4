package entry

import "github.com/sinterml/sinter/internal/template"

// Tile is the block of a product that a worker computes close by: in registers,
// or a group in memory that it shares. No result depends on it: sums are made in
// blocks of template.SumBlock whatever the tile.
type Tile struct {
	Rows, Cols int
	// Of a group: how many results a work-item computes along each, and how many
	// values of k a stage in shared memory has, a divisor of template.SumBlock.
	EachRows, EachCols, Depth int
}

// Items is how many work-items a group of the tile has.
func (t Tile) Items() int { return t.ItemRows() * t.ItemCols() }

// ItemRows and ItemCols are how many work-items stand along rows and columns.
func (t Tile) ItemRows() int { return t.Rows / t.EachRows }

// ItemCols is ItemRows for columns.
func (t Tile) ItemCols() int { return t.Cols / t.EachCols }

// Elements is how many elements of both operands a stage has in shared memory.
func (t Tile) Elements() int { return t.Depth * (SharedRow(t.Rows) + SharedRow(t.Cols)) }

// SharedRow is how many elements lie from one value of k to the next in shared
// memory, for a tile so wide: one more than there are, as banks repeat.
func SharedRow(wide int) int { return wide + 1 }

// GroupTile is what a group computes where nothing else was found to be better.
var GroupTile = Tile{Rows: 64, Cols: 64, EachRows: 4, EachCols: 4, Depth: 16}

// WideTile is that for elements of 64 bits, which take two registers each where
// registers have 32.
var WideTile = Tile{Rows: 32, Cols: 64, EachRows: 2, EachCols: 4, Depth: 16}

// GroupTiles are the tiles that groups of at most so many work-items can have
// with so many elements of a stage in shared memory, all of them powers of two:
// GroupTile and those around it, few enough to try all.
func GroupTiles(items, elements int) []Tile {
	var all []Tile
	for _, rows := range []int{32, 64, 128} {
		for _, cols := range []int{32, 64, 128} {
			for _, each := range []struct{ rows, cols int }{{2, 2}, {4, 4}, {4, 8}, {8, 4}, {8, 8}} {
				for _, depth := range []int{8, 16, 32} {
					t := Tile{rows, cols, each.rows, each.cols, depth}
					n := t.Items()
					if n < leastItems || n > items || t.Elements() > elements || (rows+cols)*depth > mostBrought*n || min(rows, cols)*depth%n != 0 || template.SumBlock%depth != 0 {
						continue
					}
					all = append(all, t)
				}
			}
		}
	}
	return all
}

// mostBrought is how many elements a work-item brings for a stage at most, in
// registers beside its sums.
const mostBrought = 32

// leastItems keep a compute unit busy.
const leastItems = 64
