package ptx_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

var declared = regexp.MustCompile(`\.shared \.align (\d+) \.b8 \w+\[(\d+)\]`)

// TestAttentionShared has tiles that fill shared memory to within a few bytes:
// with what alignment adds they fit as well.
func TestAttentionShared(t *testing.T) {
	const room = 48 << 10
	target := targets[0]
	fullest := 0
	for _, widths := range [][2]int{{358, 179}, {362, 181}} {
		a, _ := flattest.Attention(rand.New(rand.NewPCG(3, 0)), ir.F32, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 64, Keys: 64, Width: widths[0]}, ir.AttentionAttr{Scale: 0.5})
		a.VWidth = widths[1]
		for _, c := range target.Shape().AttentionTable(a) {
			k := target.Shape().With(c).Attention("attention", a)
			if k.Own == nil {
				t.Fatalf("widths %v: no tiles", widths)
			}
			p, err := ptx.Write(target, []*entry.Kernel{k})
			if err != nil {
				t.Fatal(err)
			}
			end := 0
			for _, m := range declared.FindAllStringSubmatch(p.Source, -1) {
				align, _ := strconv.Atoi(m[1])
				size, _ := strconv.Atoi(m[2])
				end = (end+align-1)/align*align + size
			}
			fullest = max(fullest, end)
			if end > room {
				t.Errorf("widths %v, %+v: %d bytes of shared memory, of %d", widths, k.Tile, end, room)
			}
		}
	}
	if fullest < room-128 {
		t.Errorf("no tile comes near to what there is: %d bytes", fullest)
	}
}
