package cpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// gemmKernel is a matrix product in machine code, for any sizes: tile kernels
// that every product shares, around them parts generated for this one.
type gemmKernel struct {
	work   *template.Gemm
	format template.Format // of packed operands
	tiles  tileKind        // which tile, a run's sizes tell

	// An operand that lies in memory as the tile kernels read it is used in
	// place. A nil part is never needed.
	x, y, out    template.Plain
	beside       template.Plain // what the epilogue reads
	yRows        bool           // Y lies by rows
	sharedY      bool           // all batches have the same Y
	plainOut     bool           // out is where rows of sums are written
	hasBeside    bool
	packX, packY *part
	finish       *part
	linear       *template.Linear   // the same by tile kernels, where they can
	finishOps    float64            // operations on each sum behind it
	transpose    uintptr            // Y lies by columns: code that turns them; else 0
	columns      *template.Separate // Y is packed by tables; nil: by packY
	turnX        uintptr            // the same of X, where AMX wants rows
	widenX       uintptr            // code that makes words of its bytes, where tiles want these
	split        *splitSet          // nil if operands are not
	odd          *tileSet           // for what cannot be split
	constY       *constY            // nil if Y may change from run to run
}

// compileGemm makes the kernel of a product. f16 and bf16 are widened where
// they are packed and narrowed behind the sums, unless there are tile kernels
// for their format. Dtypes without tile kernels have their loops.
func compileGemm(c *compiler, g *template.Gemm) (kernel, error) {
	format := g.Format()
	switch {
	case format == template.Single && !c.multiplies(g.DType.Compute()):
		return c.loops(g.Loops())
	case !c.templates():
		return c.genericGemm(g)
	}
	format, lanes := c.device.productFormat(g)
	k := &gemmKernel{work: g, format: format, tiles: tileKind{isa: c.isa, format: lanes}, sharedY: sharedY(g)}
	if err := k.operands(c); err != nil {
		return nil, err
	}
	if lanes.Splits() {
		var err error
		if k.split, err = splitKernels[lanes](); err != nil {
			return nil, err
		}
		if k.odd, err = (tileKind{isa: c.isa, format: x86.GemmF32}).set(oddTile(lanes)); err != nil {
			return nil, err
		}
	}
	var plain bool
	k.out, plain = g.StoreAt()
	sums := g.DType.Compute()
	k.plainOut = plain && sideBySide(k.out.Col, g.Cols) && g.Params[k.out.Param].DType.Size() == sums.Size()
	k.beside, k.hasBeside = g.Beside()
	if !k.plainOut || !g.Bare() || g.DType != sums || k.keepsSums() {
		var err error
		if c.isa == x86.AVX512 {
			k.finish, err = c.partBehindTiles(finishOf(g), k.tiles)
		} else {
			k.finish, err = c.part(finishOf(g))
		}
		if err != nil {
			return nil, err
		}
		if lanes.AMX() {
			k.finishOps = operationsOf(g, k.finish)
		}
		if l, ok := g.Linear(); ok && k.plainOut && lanes.Linear() {
			k.linear = &l
		}
	}
	k.constY = newConstY(g, fmt.Sprint(lanes, cutOf(lanes)))
	return k, k.makeTiles(c.device)
}

// multiplies tells whether there are tile kernels for sums of a dtype, of operands that
// are widened to it.
func (c *compiler) multiplies(sums ir.DType) bool {
	return sums == ir.F32 || sums == ir.F64 && c.templates()
}

// operationsOf is the operations that a part behind tiles does with each sum: infinite if
// they cannot be counted.
func operationsOf(g *template.Gemm, p *part) float64 {
	const cols = 64 // that share what is done once a row
	env := ir.Env{}
	for _, s := range p.symbols {
		env[s.Name] = max(1, int(s.Min))
	}
	for s := range template.PartSizes {
		env[p.Name(s)] = 0
	}
	env[p.Name(template.EndCol)] = cols
	rows, err := g.Rows.Eval(env)
	cost, err2 := loop.CostOf(loop.Expand(p.Kernel), env)
	if errors.Join(err, err2) != nil {
		return math.Inf(1)
	}
	return cost.Operations / float64(max(1, rows)*cols)
}

// keepsSums tells that unfinished sums are to lie side by side, as those of several
// blocks of k are loaded again and again.
func (k *gemmKernel) keepsSums() bool {
	terms, _ := k.work.K.Const()
	return k.tiles.format.Splits() && terms > cutOf(k.tiles.format).block
}

// handsOver tells that tile kernels run the epilogue. Behind the tiles of AVX2, 6
// rows of 16 columns, that costs 5 % of a product at K = 384 more than behind
// whole row panels: the loops take 32 columns at once.
func (k *gemmKernel) handsOver() bool {
	return k.finish != nil && k.finish.generic == nil && k.finish.tile.args > 0
}

// operands chooses how X and Y are read.
func (k *gemmKernel) operands(c *compiler) (err error) {
	if k.tiles.format == x86.GemmWords {
		if k.widenX, err = widening(); err != nil {
			return err
		}
	}
	g := k.work.Narrow(k.format)
	inPlace := k.format != template.Single || g.DType == g.DType.Compute() // what it holds is in the format
	var plain bool
	k.x, plain = g.PlainX()
	plain = plain && inPlace
	switch {
	case k.tiles.format.Splits() && !(plain && sideBySide(k.x.Col, g.K)):
		if plain && sideBySide(k.x.Row, g.Rows) {
			if k.turnX, err = transposes[c.isa](); err != nil {
				return err
			}
		}
		if k.packX, err = c.part(moved(k.work.PackX(k.format))); err != nil {
			return err
		}
	case k.tiles.format == x86.GemmWide:
		if k.packX, err = c.part(moved(k.work.PackX(template.Single))); err != nil {
			return err
		}
	case plain && sideBySide(k.x.Col, g.K):
	case plain && sideBySide(k.x.Row, g.Rows) && k.format == template.Single:
		k.tiles.form = x86.GemmColumns
		if c.device.core.FarColumns {
			k.tiles.form = x86.GemmFarColumns
		}
	case g.TurnedX() && k.format != template.Bytes:
		if !k.tiles.format.AMX() {
			k.tiles.form = x86.GemmColumns
		} else if k.turnX, err = transposes[c.isa](); err != nil {
			return err
		}
		if k.packX, err = c.part(moved(k.work.PackTurnedX(k.format))); err != nil {
			return err
		}
	default:
		if k.packX, err = c.part(moved(k.work.PackX(k.format))); err != nil {
			return err
		}
	}
	k.y, plain = g.PlainY()
	plain = plain && inPlace
	switch {
	case plain && sideBySide(k.y.Col, g.Cols) && k.format == template.Single:
		k.yRows = true
	case plain && sideBySide(k.y.Row, g.K):
		if k.transpose, err = transposesOf(k.tiles.format)[c.isa](); err != nil {
			return err
		}
	}
	if !k.yRows && k.transpose == 0 {
		if k.columns = columnsOf(g, k.format); k.columns != nil {
			k.y = template.Plain{Param: k.columns.Param, Base: k.columns.Base}
			return nil
		}
	}
	k.packY, err = c.part(moved(k.work.PackY(k.format, k.tiles.format.PackedCols())))
	return err
}

// sideBySide tells whether n elements with this stride are known to have no
// gaps.
func sideBySide(stride *loop.Expr, n ir.Dim) bool {
	_, most := n.Bounds()
	return stride.IsInt(1) || most <= 1
}

// evalIndex computes index arithmetic over sizes and the batch.
func evalIndex(e *loop.Expr, env ir.Env, batch int) (int, error) {
	n, err := loop.EvalIndex(e, env, func(*loop.Var) int64 { return int64(batch) })
	return int(n), err
}
