package cpu

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// sharedY tells whether all batches have the same Y.
func sharedY(g *template.Gemm) bool {
	shared := true
	g.Y.Walk(func(e *loop.Expr) { shared = shared && (e.Kind != loop.KindVar || e.Var != g.Batch) })
	return shared
}

// pack is a constant operand in the order that tile kernels read, kept with
// the buffers it was made from and shared by all programs.
type pack struct {
	once  sync.Once
	mem   *jit.Memory
	found []x86.Found // see gemmStep.foundOf
	pairs int         // see gemmStep.pairB
	err   error

	rows *atomic.Int64 // by which Y was multiplied before it was in pairs; apart, as who counts them is not to hold mem
}

// packLayout names what packing gives, up to the buffers it reads and the
// sizes: programs number their params differently.
func packLayout(g *template.Gemm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v ", g.DType)
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

// constY is a Y that depends on leaves, and on what is computed once from them:
// kept when packed, with the buffers it is made of.
type constY struct {
	loads   []int                    // params that it reads
	changes bool                     // it reads variables: it is kept when a second run finds it the same
	seen    atomic.Pointer[[]uint64] // of such: numbers of the buffers in the last run
	symbols []ir.Symbol              // that its elements are found by: two of them may change, and no size of the product
	layout  string                   // what packing gives, but for the sizes
	last    atomic.Pointer[packName]
}

// packName is the name of a packed Y of these sizes: batch, K and columns, and the
// values of its symbols.
type packName struct {
	size   [3]int
	values []int
	name   string
}

// newConstY is nil where Y may change from run to run, and where it takes less
// memory as it is: then each task packs what it needs. form tells apart the ways
// of packing.
func newConstY(g *template.Gemm, form string) *constY {
	if !g.ConstY && !g.SteadyY || g.Halves() {
		return nil
	}
	y := &loop.Kernel{Body: []loop.Stmt{&loop.Set{Value: g.Y}}}
	return &constY{loads: loads(g.Y), changes: !g.ConstY, symbols: y.Symbols(), layout: form + " " + packLayout(g)}
}

// sources are the buffers that Y is made of; none if one is computed by another kernel of
// this run, or again by one of the constant kernels that run together.
func (y *constY) sources(r *binding) (from []*buffer) {
	if y == nil {
		return nil
	}
	for _, param := range y.loads {
		buf := r.module.plan.Buffers[r.kernel.Args[param]]
		if buf.Kind != schedule.LeafBuffer && buf.Kind != schedule.ConstantBuffer || r.params[param] == nil {
			return nil
		}
		from = append(from, r.params[param])
	}
	return from
}

// key tells with which buffers Y is kept, and under which name; none if it may
// change from run to run.
func (y *constY) key(r *binding, p *gemmPlan) (from []*buffer, name string) {
	from = y.sources(r)
	if len(from) == 0 || y.changes && !y.again(r.numbers(y)) {
		return nil, ""
	}
	n := y.last.Load() // sizes are most likely those of the last run
	size := [3]int{p.batch, p.k, p.cols}
	var values []int
	for _, s := range y.symbols {
		values = append(values, r.env[s.Name])
	}
	if n == nil || n.size != size || !slices.Equal(n.values, values) {
		n = &packName{size, values, fmt.Sprintf("%d*%dx%d %v %s", p.batch, p.k, p.cols, values, y.layout)}
		y.last.Store(n)
	}
	return from, n.name
}

// numbers are those of the buffers that Y is made of.
func (r *binding) numbers(y *constY) (all []uint64) {
	if y == nil {
		return nil
	}
	for _, param := range y.loads {
		if b := r.params[param]; b != nil {
			all = append(all, y.number(b))
		}
	}
	return all
}

// number is that of a buffer, which is another one when the values are.
func (y *constY) number(b *buffer) uint64 {
	if y.changes {
		return b.Watch()
	}
	return b.Number()
}

// same tells whether numbers are those of the buffers that Y is made of.
func (r *binding) same(y *constY, numbers []uint64) bool {
	for i, param := range y.loads {
		if y.number(r.params[param]) != numbers[i] {
			return false
		}
	}
	return true
}

// again tells whether the last run read the same values. One that changes between any two
// runs, as in training, would be packed as a whole for nothing.
func (y *constY) again(numbers []uint64) bool {
	last := y.seen.Load()
	if last != nil && slices.Equal(*last, numbers) {
		return true
	}
	y.seen.Store(&numbers)
	return false
}

// owners are the parts of buffers that have what is kept with them.
func owners(from []*buffer) []*keep.Owner {
	all := make([]*keep.Owner, len(from))
	for i, b := range from {
		all[i] = &b.Owner
	}
	return all
}

// packedY returns Y packed as a whole for the step's tiles, if it is constant and can be;
// else an empty pack.
func (s *gemmStep) packedY(r *binding) (*pack, error) {
	k := s.kernel
	from, what := k.constY.key(r, &s.gemmPlan)
	if len(from) == 0 {
		return &pack{}, nil
	}
	plain, pairs := what, s.tiles.Format == x86.GemmPairs
	if pairs { // which others that have the same weights may not be able to read
		what += " in pairs"
	}
	find := func(name string) *keep.Kept {
		return r.module.holder.Find(owners(from), name, func() any { return &pack{rows: new(atomic.Int64)} })
	}
	have := find(what)
	made := have.Value.(*pack)
	if pairs && !s.pairsDue(r, made.rows) {
		s.unpaired = made.rows
		return &pack{}, nil
	}
	made.once.Do(func() {
		// A panic out of here would leave a pack that is neither made nor failed.
		made.err = jit.Protect(func() (err error) {
			if pairs {
				if made.mem, made.pairs, err = s.packPairs(r); made.mem != nil {
					find(plain).Drop() // runs that have it find that out
				}
				return err
			}
			made.mem, made.found, err = s.packAll(r)
			return err
		})
	})
	if made.err != nil {
		have.Drop() // another run may have the memory
		return nil, fmt.Errorf("pack %s: %w", k.work.Name, made.err)
	}
	if made.mem != nil { // else pairs are not worth it
		have.Takes(made.mem.Mapped())
	}
	return made, nil
}

// packedBatches is the number of different B among the products.
func (s *gemmStep) packedBatches() int {
	if s.kernel.sharedY {
		return 1
	}
	return s.batch
}

// packedBatch is where a product's B begins among those packed, in bytes.
func (s *gemmStep) packedBatch(batch int) int {
	return batch % s.packedBatches() * s.packedLen()
}

// packTask is the least elements that a task packs.
const packTask = 64 << 10

// packAll packs Y with all workers, and splits it where operands are split.
func (s *gemmStep) packAll(r *binding) (_ *jit.Memory, found []x86.Found, err error) {
	d, k := r.module.device, s.kernel
	batches := s.packedBatches()
	mem, err := d.memory(max(s.packedLen()*batches, 1))
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = mem.Close()
		}
	}()
	perTask := max(1, packTask/(s.maxK()*s.panelCols())) * s.panelCols()
	whole, scratch, spill := 0, 0, (max(k.packY.spill, 64)+63)&^63 // what is still to be split, behind the spills
	if s.splits() {
		whole, scratch = 4*perTask*s.maxK(), x86.SplitScratch(s.maxK())
		found = make([]x86.Found, batches*s.kBlocks*ceilDiv(s.cols, x86.PackedCols))
	}
	spills, err := r.scratch(spill + whole + scratch)
	if err != nil {
		return nil, nil, err
	}
	calls := make([]*partCall, r.workers)
	for w := range calls {
		if calls[w], err = k.packY.call(r, spills[w]); err != nil {
			return nil, nil, err
		}
	}
	parts := ceilDiv(s.cols, perTask)
	err = d.pool.Run(context.Background(), batches*s.kBlocks*parts, r.workers, func(worker, task int) error {
		part, rest := task%parts, task/parts
		block, batch := rest%s.kBlocks, rest/s.kBlocks
		first, end := part*perTask, min(s.cols, (part+1)*perTask)
		at, err := s.bases(batch)
		if err != nil {
			return err
		}
		to := s.packedBatch(batch) + s.packed(block, first)
		if !s.splits() {
			return s.packCols(calls[worker], batch, at.y, block, first, end, unsafe.Add(mem.Pointer(), to), mem.Len()-to)
		}
		panels := unsafe.Add(spills[worker], spill)
		at0 := (batch*s.kBlocks+block)*ceilDiv(s.cols, x86.PackedCols) + first/x86.PackedCols
		return s.splitCols(at.y, unsafe.Add(panels, whole), unsafe.Add(mem.Pointer(), to), block, first, end, found[at0:], func(col int) (unsafe.Pointer, error) {
			return panels, s.packCols(calls[worker], batch, at.y, block, col, end, panels, whole)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return mem, found, nil
}

// packCols packs columns col0 to col1 of B, whole panels but for the last of
// all, for a block of k. y is where B of this batch lies if it lies by columns.
func (s *gemmStep) packCols(c *partCall, batch int, y unsafe.Pointer, block, col0, col1 int, to unsafe.Pointer, room int) error {
	k0, k1 := s.kStart(block), s.kStart(block+1)
	first, end := col0/s.panelCols(), ceilDiv(col1, s.panelCols())
	s.fillUp(to, end-first, k0, k1)
	if s.splits() && col1%s.panelCols() != 0 { // thirds split what is no column too
		last := x86.PackedBytes * (k1 - k0)
		clear(unsafe.Slice((*byte)(unsafe.Add(to, (end-first-1)*last)), last))
	}
	if s.places != nil {
		s.places.pack(y, to, x86.PackedBytes*(k1-k0), k0, k1, col0, col1)
		return nil
	}
	c.set(template.AtBatch, batch)
	there := min(k1, max(k0, ceilDiv(s.k, s.group))) // behind it all is filled up
	c.set(template.EndK, there)
	// run is the part for panels from p on and steps from k on.
	run := func(p, end, k int) error {
		at := x86.PackedBytes * ((p-first)*(k1-k0) + k - k0)
		c.set(template.FirstK, k)
		c.set(template.FirstPanel, p)
		c.panel(unsafe.Add(to, at), room-at)
		for there < k1 && p+1 < end { // the part puts panels that are filled up closer together
			if err := c.run(p, p+1); err != nil {
				return err
			}
			p++
			at += x86.PackedBytes * (k1 - k0)
			c.set(template.FirstPanel, p)
			c.panel(unsafe.Add(to, at), room-at)
		}
		return c.run(p, end)
	}
	whole := min(k1, s.k/s.group) // behind it, part of a step: what fills it up does not lie there
	if s.kernel.transpose == 0 || whole-k0 < s.lanes {
		return run(first, end, k0)
	}
	for p := first; p < end; p++ {
		col := p * s.panelCols()
		cols := min(col1-col, s.panelCols())
		if cols < s.lanes {
			return run(p, end, k0) // the last
		}
		s.turnPanel(unsafe.Add(y, s.word*k0+s.sizeY*col*s.colY), unsafe.Add(to, x86.PackedBytes*(p-first)*(k1-k0)), cols, whole-k0)
		if whole < there {
			if err := run(p, p+1, whole); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillUp clears the steps of panels that stand behind the last k.
func (s *gemmStep) fillUp(to unsafe.Pointer, panels, k0, k1 int) {
	behind := max(k0, ceilDiv(s.k, s.group))
	if behind >= k1 {
		return
	}
	for p := range panels {
		at := x86.PackedBytes * (p*(k1-k0) + behind - k0)
		clear(unsafe.Slice((*byte)(unsafe.Add(to, at)), x86.PackedBytes*(k1-behind)))
	}
}

// turnPanel packs one panel of B that lies by columns, cols x ks lanes, both at
// least those of a vector. Squares at the ends overlap those before them.
func (s *gemmStep) turnPanel(from, to unsafe.Pointer, cols, ks int) {
	n, pitch := s.lanes, s.sizeY*s.colY
	args := x86.TransposeArgs{LDSrc: uintptr(pitch), LDDst: x86.PackedBytes, Down: 1}
	turn := func(col, k, count int) {
		args.Src, args.Dst = unsafe.Add(from, col*pitch+s.word*k), unsafe.Add(to, x86.PackedBytes*k+s.word*col)
		args.Count = uintptr(count)
		jit.Call(s.kernel.transpose, unsafe.Pointer(&args))
	}
	for c := 0; c < cols; c += n {
		col := min(c, cols-n)
		turn(col, 0, ks/n)
		if ks%n > 0 {
			turn(col, ks-n, 1)
		}
	}
}

// sizeOf is the value of sizes in a run.
func (r *binding) sizeOf(dims ...ir.Dim) ([]int, error) { return ir.Shape(dims).Eval(r.env) }
