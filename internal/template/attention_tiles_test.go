package template_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// tiles differ in all that a tile may differ in.
var tiles = []template.QueryTile{
	{Rows: 4, EachRows: 2, EachKeys: 8, Keys: 32}, {Rows: 2, EachRows: 1, EachKeys: 4, Keys: 16}, {Rows: 16, EachRows: 4, EachKeys: 16, Keys: 8},
}

// Tiles compute what rows do, but for roundings, and the same bits whatever the
// tile.
func TestTiles(t *testing.T) {
	for _, attr := range []ir.AttentionAttr{{Scale: 0.5}, {Scale: 0.5, Causal: true}, {Scale: 0.5, Window: 2}, {Scale: 0.5, Causal: true, Window: 3, SoftCap: 2},
		{Scale: 0.5, Ragged: true}, {Scale: 0.5, Ragged: true, Causal: true}, {Scale: 0.5, Ragged: true, Window: 2}} {
		a := attention(t, attr)
		want := run(t, a, a.Loops())
		var first []byte
		for _, q := range tiles {
			got := run(t, a, a.Tiles(q).Kernel)
			if first == nil {
				first = got
			}
			if !bytes.Equal(first, got) {
				t.Errorf("%+v: results differ from tile to tile", attr)
			}
			for i := 0; i < len(want); i += 4 {
				x, y := math.Float32frombits(binary.LittleEndian.Uint32(want[i:])), math.Float32frombits(binary.LittleEndian.Uint32(got[i:]))
				if x != y && !(math.Abs(float64(x-y)) <= 2e-6*(1+math.Abs(float64(x)))) {
					t.Fatalf("%+v, %+v: element %d is %v, not %v\n%v", attr, q, i/4, y, x, a.Tiles(q))
				}
			}
		}
	}
}
