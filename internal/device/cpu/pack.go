package cpu

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// pack is a constant operand in the order that tile kernels read, kept with
// the buffer it was made from and shared by all programs.
type pack struct {
	once sync.Once
	mem  *jit.Memory
	err  error
}

// packLayout names what packing gives, up to the buffers it reads and the
// sizes: programs number their params differently.
func packLayout(g *template.Gemm, tiles *tileSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %dx%d ", g.DType, tiles.lanes, tiles.Tile.Vectors)
	number := map[*loop.Expr]int{}
	params := map[int]int{}
	names := map[*loop.Var]string{g.Batch: "b", g.Inner: "k", g.Col: "n"}
	g.Y.Walk(func(e *loop.Expr) {
		number[e] = len(number)
		fmt.Fprintf(&b, "%d:%v.%v", e.Kind, e.Op, e.DType)
		switch e.Kind {
		case loop.KindConst:
			fmt.Fprintf(&b, " %#x", e.Bits)
		case loop.KindSize, loop.KindIndex:
			fmt.Fprintf(&b, " [%v]", e.Size)
		case loop.KindVar:
			fmt.Fprintf(&b, " %s", names[e.Var])
		case loop.KindLoad:
			if _, ok := params[e.Param]; !ok {
				params[e.Param] = len(params)
			}
			fmt.Fprintf(&b, " p%d", params[e.Param])
		}
		for _, a := range e.Args {
			fmt.Fprintf(&b, " %d", number[a])
		}
		b.WriteByte(';')
	})
	return b.String()
}

// loads lists the params that e reads, in order of first use.
func loads(e *loop.Expr) []int {
	var all []int
	seen := map[int]bool{}
	e.Walk(func(x *loop.Expr) {
		if x.Kind == loop.KindLoad && !seen[x.Param] {
			seen[x.Param] = true
			all = append(all, x.Param)
		}
	})
	return all
}

// packedY returns Y packed as a whole, if it depends on leaves alone.
func (k *gemmKernel) packedY(r *binding, p *gemmPlan) (unsafe.Pointer, error) {
	params := loads(k.work.Y)
	if !k.work.ConstY || len(params) == 0 {
		return nil, nil
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%d*%dx%d %s", p.batch, p.k, p.cols, k.layout)
	for i, param := range params {
		buf := r.module.plan.Buffers[r.kernel.Args[param]]
		if buf.Kind != schedule.LeafBuffer || r.params[param] == nil {
			return nil, nil // computed by another kernel of this run
		}
		if i > 0 {
			fmt.Fprintf(&key, " %p", r.params[param])
		}
	}
	have, _ := r.params[params[0]].packs.LoadOrStore(key.String(), &pack{})
	made := have.(*pack)
	made.once.Do(func() { made.mem, made.err = k.packAll(r, p) })
	if made.err != nil {
		return nil, fmt.Errorf("pack %s: %w", k.work.Name, made.err)
	}
	return made.mem.Pointer(), nil
}

// packTask is the least elements that a task packs.
const packTask = 64 << 10

// packAll packs Y with all workers.
func (k *gemmKernel) packAll(r *binding, p *gemmPlan) (*jit.Memory, error) {
	d := r.module.device
	each := 4 * p.k * p.packedCols() // bytes of one product's B
	mem, err := d.alloc.Alloc(max(each*p.batch, 1))
	if err != nil {
		return nil, err
	}
	spills, err := r.scratch(max(k.packY.spill, 1))
	if err != nil {
		return nil, err
	}
	calls := make([]*partCall, r.workers)
	for w := range calls {
		if calls[w], err = k.packY.call(r, spills[w]); err != nil {
			return nil, err
		}
	}
	perTask := max(1, packTask/max(1, p.maxK()*p.width))
	parts := ceilDiv(p.panels, perTask)
	err = d.pool.Run(context.Background(), p.batch*p.kBlocks*parts, r.workers, func(worker, task int) error {
		part, rest := task%parts, task/parts
		block, batch := rest%p.kBlocks, rest/p.kBlocks
		first, end := part*perTask, min(p.panels, (part+1)*perTask)
		at := batch*each + 4*p.packed(block, first)
		return packPanels(calls[worker], p, batch, block, first, end, unsafe.Add(mem.Pointer(), at), mem.Len()-at)
	})
	if err != nil {
		return nil, err
	}
	return mem, nil
}

// packPanels packs panels first to end of B for a block of k.
func packPanels(c *partCall, p *gemmPlan, batch, block, first, end int, to unsafe.Pointer, bytes int) error {
	c.set(template.AtBatch, batch)
	c.set(template.FirstK, p.kStart(block))
	c.set(template.EndK, p.kStart(block+1))
	c.set(template.FirstPanel, first)
	c.panel(to, bytes)
	return c.run(first, end)
}

// sizeOf is the value of a size in a run.
func (r *binding) sizeOf(dims ...ir.Dim) ([]int, error) { return ir.Shape(dims).Eval(r.env) }
