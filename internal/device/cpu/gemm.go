package cpu

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// gemmKernel is a matrix product in machine code, for any sizes: tile kernels
// that every product shares, around them parts generated for this one.
type gemmKernel struct {
	work  *template.Gemm
	tiles *tileSet

	// An operand that lies in memory as the tile kernels read it is used in
	// place. A nil part is never needed.
	x, y, out        template.Plain
	plainX, plainOut bool
	packX, packY     *part
	finish           *part
	layout           string // of packed constants: equal for equal contents
}

// compileGemm makes the kernel of a product. Where there are no tile kernels
// for its dtype, its loops do.
func compileGemm(c *compiler, g *template.Gemm) (kernel, error) {
	if !c.machine || g.DType != ir.F32 {
		return c.loops(g.Loops())
	}
	tiles, err := tileSets[c.isa]()
	if err != nil {
		return nil, err
	}
	k := &gemmKernel{work: g, tiles: tiles}
	var plain bool
	if k.x, plain = g.PlainX(); !plain || !rowContiguous(k.x, g.K) {
		if k.packX, err = c.part(g.PackX()); err != nil {
			return nil, err
		}
	}
	if k.packY, err = c.part(g.PackY(tiles.lanes*tiles.Tile.Vectors, tiles.lanes)); err != nil {
		return nil, err
	}
	k.out, plain = g.StoreAt()
	k.plainOut = plain && rowContiguous(k.out, g.Cols) && g.Params[k.out.Param].DType == ir.F32
	if !k.plainOut || !g.Bare() {
		if k.finish, err = c.part(g.Finish()); err != nil {
			return nil, err
		}
	}
	if g.ConstY {
		k.layout = packLayout(g, tiles)
	}
	return k, nil
}

// rowContiguous tells whether the elements of each row are known to lie side
// by side.
func rowContiguous(p template.Plain, cols ir.Dim) bool {
	_, most := cols.Bounds()
	return p.Col.IsInt(1) || most <= 1
}

// evalIndex computes index arithmetic over sizes and the batch.
func evalIndex(e *loop.Expr, env ir.Env, batch int) (int, error) {
	switch e.Kind {
	case loop.KindConst:
		return int(int64(e.Bits)), nil
	case loop.KindSize:
		return e.Size.Eval(env)
	case loop.KindVar:
		return batch, nil
	}
	x, err := evalIndex(e.Args[0], env, batch)
	if err != nil {
		return 0, err
	}
	y, err := evalIndex(e.Args[1], env, batch)
	if err != nil {
		return 0, err
	}
	return int(loop.BinaryInt[int64](e.Op)(int64(x), int64(y))), nil
}
