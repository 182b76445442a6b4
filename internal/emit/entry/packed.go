package entry

import (
	"fmt"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Packed is the epilogue of a product for columns side by side, whose operands and
// results are loaded and stored at once.
type Packed struct {
	Each int           // columns: the number of all is a multiple
	Pack *loop.Var     // the first column is Each times that
	Acc  []*loop.Local // their sums
	Body []loop.Stmt   // has no loops, and sets no local twice
}

// packColumns is how many columns that are at most.
const packColumns = 4

// pack finds whether a product's epilogue can be done so.
func (k *Kernel) pack() {
	g := k.Gemm
	if sums(g.Epilogue) {
		return
	}
	l := &loop.Loop{Var: g.Col, Hi: loop.SizeOf(g.Cols), Range: loop.Vector, Body: g.Epilogue}
	all := &loop.Kernel{Params: k.Work.Params, Body: []loop.Stmt{l}}
	n := 0
	for bytes := WideBytes; n == 0 || n > 1 && !loop.Multiple(l.Hi, n); bytes /= 2 {
		n = min(loop.Each(all, bytes, 1), packColumns)
	}
	if n < 2 {
		return
	}
	p := &Packed{Each: n, Pack: &loop.Var{Name: "pack"}}
	for u := range n {
		p.Acc = append(p.Acc, &loop.Local{Name: fmt.Sprint(g.Acc.Name, u), DType: g.Acc.DType})
	}
	body := loop.Packed(all, l, p.Pack, n, map[*loop.Local][]*loop.Local{g.Acc: p.Acc})
	shared := loop.Share(&loop.Kernel{Params: all.Params, Body: body})
	p.Body = shared.Body
	k.Packed, k.Wide, k.WideStores = p, wideLoads(shared, false), wideStores(shared)
}

// PackedProduct is Product with an epilogue for columns side by side, where that can
// be done.
func PackedProduct(name string, g *template.Gemm, items int, tile Tile) *Kernel {
	k := Product(name, g, items, tile)
	k.pack()
	return k
}
