package entry

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Attended is an attention whose tiles an emitter writes itself, for a machine
// that has instructions for matrices. A tile is so many rows of the query heads
// that share a key head, see template.Attention.TileLoops; Cols of it are the keys
// after which the greatest score is looked at. Its parts are in the operations
// that every target has.
type Attended struct {
	*template.Attention
	// Dot is what Score and Log are functions of, in f32: the score of a product of
	// q and k without the mask, and the logarithm.
	Dot        *loop.Local
	Score, Log *loop.Expr
}

// Attend is the entry point of a by tiles of such rows and keys.
func Attend(name string, a *template.Attention, tile Tile) *Kernel {
	p := *a.Apart()
	for _, e := range []**loop.Expr{&p.Q, &p.K, &p.V, &p.Mask} {
		if *e != nil {
			*e = expanded(*e)
		}
	}
	p.Epilogue = loop.Expand(&loop.Kernel{Body: p.Epilogue}).Body
	if p.Sums != nil {
		p.Sums = loop.Expand(&loop.Kernel{Body: p.Sums}).Body
	}
	dot := &loop.Local{Name: "dot", DType: ir.F32}
	work := loop.Expand(a.TileLoops(tile.Rows))
	k := &Kernel{Entry: name, Work: work, Items: tile.Items(), Tile: tile, Near: make([]bool, len(work.Params)),
		Attended: &Attended{Attention: &p, Dot: dot, Score: expanded(p.Scored(dot.Ref())), Log: expanded(loop.Apply(ir.Log, ir.F32, dot.Ref()))}}
	for i, p := range work.Params {
		k.Near[i] = p.Use == loop.Scratch // scores, which no memory holds
	}
	return k
}
