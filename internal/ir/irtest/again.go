package irtest

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
)

// Again is data for the leaves of a random graph whose symbols have other
// values: of the elements that the leaves had, and places and offsets within
// what they point into.
func Again(rng *rand.Rand, g *ir.Graph, leaves [][]byte, env ir.Env) [][]byte {
	below, rows := map[int]int{}, map[int]int{} // by leaf
	size := func(d ir.Dim) int {
		n, err := d.Eval(env)
		if err != nil {
			panic(err)
		}
		return n
	}
	for _, n := range g.Nodes {
		offsets := func(in int, of ir.Dim) {
			if x := n.In[in]; x.Op == ir.Input {
				rows[x.Attr.Leaf] = size(of)
			}
		}
		switch n.Op {
		case ir.Gather, ir.Scatter:
			if x := n.In[1]; x.Op == ir.Input {
				below[x.Attr.Leaf] = size(n.In[0].Shape[n.Attr.Axis()])
			}
		case ir.SegmentIDs:
			offsets(0, n.Shape[0])
		case ir.SegmentReduce:
			offsets(1, n.In[0].Shape[0])
		case ir.Attention, ir.AttentionGrad:
			if n.Attr.Attention.Ragged {
				offsets(3, n.In[0].Shape[0])
				offsets(4, n.In[1].Shape[0])
			}
		}
	}
	all := make([][]byte, len(leaves))
	for i, l := range g.Leaves {
		width := l.Type.DType.Size()
		count := size(l.Type.Shape.Numel())
		data := make([]byte, count*width)
		most, isIndex := below[i]
		last, isOffsets := rows[i]
		switch {
		case isOffsets:
			at := 0
			for k := 1; k < count; k++ {
				if at += rng.IntN(max(1, last-at+1)); k == count-1 {
					at = last
				}
				binary.LittleEndian.PutUint32(data[k*width:], uint32(at))
			}
		case isIndex && most > 0:
			for k := range count {
				binary.LittleEndian.PutUint32(data[k*width:], uint32(rng.IntN(most)))
			}
		case l.Type.Shape.Numel().Static():
			data = leaves[i]
		default:
			for k := range count {
				if old := len(leaves[i]) / width; old > 0 {
					from := rng.IntN(old)
					copy(data[k*width:], leaves[i][from*width:][:width])
				}
			}
		}
		all[i] = data
	}
	return all
}
