package entry_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
)

// TestStagesFit: a product has two stages in shared memory where these fit, one
// where that does, and a smaller tile where one of the usual tile does not.
func TestStagesFit(t *testing.T) {
	large := entry.Tile{Rows: 128, Cols: 128, EachRows: 8, EachCols: 8, Depth: 16} // 16,512 bytes a stage of f32
	for _, c := range []struct {
		d      ir.DType
		shared int
		tile   entry.Tile // asked for
		want   entry.Tile
		one    bool
	}{
		{ir.F32, 16 << 10, entry.Tile{}, entry.GroupTile, true}, // two are 16,640 bytes
		{ir.F32, 32 << 10, entry.Tile{}, entry.GroupTile, false},
		{ir.F32, 0, entry.Tile{}, entry.GroupTile, false},
		{ir.BF16, 16 << 10, entry.Tile{}, entry.GroupTile, true},
		{ir.F32, 32 << 10, large, large, true},
		{ir.F32, 48 << 10, large, large, false},
		{ir.F64, 16 << 10, entry.Tile{}, entry.WideTile, true},
		{ir.F64, 32 << 10, entry.Tile{}, entry.GroupTile, true},
		{ir.F64, 48 << 10, entry.Tile{}, entry.GroupTile, false},
	} {
		g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), c.d, flattest.Sizes{Batch: 1, Rows: 5, Cols: 128, K: 64}, false)
		s := entry.Shape{Items: 256, Shared: c.shared, Product: flat.Product, Strategy: entry.Strategy{Tile: c.tile}}
		k := s.Gemm("product", g)
		if k.Tile != c.want || k.OneStage != c.one {
			t.Errorf("%v in %d bytes: tile %v, one stage %v, not %v and %v", c.d, c.shared, k.Tile, k.OneStage, c.want, c.one)
		}
		if n := k.Stages() * k.Tile.Elements() * c.d.Compute().Size(); c.shared > 0 && n > c.shared {
			t.Errorf("%v, tile %v: %d bytes of %d", c.d, k.Tile, n, c.shared)
		}
	}
}

// TestTilesFit: what is worth a try has two stages of 32 bits, and one of 64.
func TestTilesFit(t *testing.T) {
	const items = 256
	for _, shared := range []int{32 << 10, 48 << 10, 64 << 10} {
		tiles := entry.GroupTiles(items, shared/2/8)
		if len(tiles) == 0 {
			t.Errorf("no tiles in %d bytes", shared)
		}
		for _, tile := range tiles {
			for _, d := range []ir.DType{ir.F32, ir.F64} {
				g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 1, Rows: 5, Cols: 128, K: 64}, false)
				s := entry.Shape{Items: items, Shared: shared, Product: cstyle.GemmForGroups}
				k := s.With(entry.Strategy{Tile: tile}).Gemm("product", g)
				if k.OneStage || k.Tile != tile {
					t.Errorf("%v in %d bytes: tile %v for %v, one stage %v", d, shared, k.Tile, tile, k.OneStage)
				}
			}
			if n := (tile.Rows + tile.Cols) * tile.Depth / tile.Items(); n > 32 {
				t.Errorf("%v: a work-item brings %d elements", tile, n)
			}
		}
	}
}
