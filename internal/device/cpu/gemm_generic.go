package cpu

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// genericGemm is a product in panels of one size: packing and epilogue, as
// closures around the inner kernel of package generic, or with arm64's machine
// code around its tiles.
//
// Without tiles for them, products of u8 and i8 are multiplied as f32, which is
// exact for a while: a sum of template.SumBlock of them is below 512*255*128 < 2^24.
// Those sums are added as integers.
type genericGemm struct {
	work                 *template.Gemm
	format               template.Format // of packed operands
	bytes                bool            // multiplied as f32
	packX, packY, finish *part
	constY               *constY
	sharedY              bool     // all batches have the same Y
	neon                 *neonSet // nil: package generic multiplies
}

// The blocks of sums that one call of package generic computes.
const (
	genericRows = 64
	genericCols = 64
)

func (c *compiler) genericGemm(g *template.Gemm) (kernel, error) {
	k := &genericGemm{work: g, sharedY: sharedY(g)}
	layout := "generic"
	if c.neon {
		var err error
		var tiles arm64.GemmFormat
		k.format, tiles = neonFormat(g.Format(), &c.device.has)
		if k.neon, err = neonSets[tiles](); err != nil {
			return nil, err
		}
		layout = fmt.Sprint("neon ", tiles)
	}
	floats := *g
	if k.bytes = g.Format() == template.Bytes && k.format == template.Single; k.bytes {
		narrow := g.Narrow(template.Bytes)
		floats.DType = ir.F32
		floats.X, floats.Y = loop.Apply(ir.Cast, ir.F32, narrow.X), loop.Apply(ir.Cast, ir.F32, narrow.Y)
	}
	var err error
	if k.packX, err = c.part(floats.PackX(k.format)); err != nil {
		return nil, err
	}
	if k.packY, err = c.part(floats.PackY(k.format, genericCols)); err != nil {
		return nil, err
	}
	if k.finish, err = c.part(finishOf(g)); err != nil {
		return nil, err
	}
	if g.ConstY {
		k.constY = newConstY(g, layout)
	}
	return k, nil
}

// genericStep is a genericGemm with the sizes and the memory of one run.
type genericStep struct {
	gemmPlan
	kernel  *genericGemm
	device  *Device
	status  []int64
	packs   *genericPacks // of constant Y; nil: each task packs what it needs
	workers []genericWorker

	fromY     []uint64 // numbers of the buffers that packs was made of
	lastPacks weak.Pointer[genericPacks]
}

// genericWorker is what one worker needs for itself.
type genericWorker struct {
	a, b, c              []float32 // rows of X, a panel of Y by rows, sums
	joined               []float32 // rows of X in pairs
	whole                []int32   // sums of bytes
	packed               genericPanel
	packX, packY, finish *partCall
	tile                 arm64.GemmArgs
	join                 arm64.JoinArgs
}

// genericPacks are the panels of a constant Y, packed when first used.
type genericPacks struct {
	panels []genericPack
}

// genericPack is packed by the first who gets through with it: reading the
// values may fault, and is then tried again by the next run.
type genericPack struct {
	mu   sync.Mutex
	done atomic.Bool
	b    genericPanel
	mem  *jit.Memory // of its rows
}

// genericPanel is a panel of Y: for arm64's tiles as it was packed, by rows, or in
// pairs. For package generic pieces, of bytes one for each block of k, of floats one,
// which the kernel cuts itself.
type genericPanel struct {
	rows   []float32
	pieces []generic.Packed
}

func (s *genericStep) flags() []int64 { return s.status }

func (s *genericStep) Tasks() int { return s.tasks() }

func (k *genericGemm) bind(r *binding) (jit.Step, error) {
	g := k.work
	n, err := r.sizeOf(g.BatchSize, g.Rows, g.Cols, g.K)
	if err != nil {
		return nil, err
	}
	s := &genericStep{kernel: k, device: r.module.device, status: r.status}
	s.gemmPlan = planGemm(gemmSize{n[0], n[1], n[2], n[3]}, kCut{group: k.format.Group(), word: 4, chunk: 1, block: template.SumBlock, aside: partialRows, speed: 1, size: 4, wide: maxBlock}, genericCols, x86.GemmTile{Rows: genericRows, Vectors: 1}, r.workers, true)
	if s.tasks() == 0 {
		return s, nil
	}
	if from, what := k.constY.key(r, &s.gemmPlan); len(from) > 0 {
		batches := s.batch
		if k.sharedY {
			batches = 1
		}
		s.fromY = r.numbers(k.constY) // before the values are read, which may change
		have := r.module.holder.Find(owners(from), what, func() any {
			return &genericPacks{panels: make([]genericPack, batches*s.panels)}
		})
		have.Takes(4 * batches * s.panels * s.steps * genericCols)
		s.packs = have.Value.(*genericPacks)
		s.lastPacks = weak.Make(s.packs)
	}
	parts := []*part{k.packX, k.packY, k.finish}
	spill := make([]int, len(parts)+1) // where the areas of parts begin
	for i, p := range parts {
		spill[i+1] = spill[i] + (p.spill+63)&^63
	}
	own, err := r.scratch(spill[len(parts)] + 64) // also where a part needs nothing its pointer is inside
	if err != nil {
		return nil, err
	}
	s.workers = make([]genericWorker, r.workers)
	for i := range s.workers {
		w := &s.workers[i]
		w.b, w.c = make([]float32, s.steps*genericCols), make([]float32, genericRows*genericCols)
		if k.bytes || k.format == template.Bytes {
			w.whole = make([]int32, genericRows*genericCols)
		}
		w.a, w.joined = make([]float32, genericRows*s.steps), s.neonJoined()
		for j, to := range []**partCall{&w.packX, &w.packY, &w.finish} {
			if *to, err = parts[j].call(r, unsafe.Add(own[i], spill[j])); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// move puts new addresses into the arguments of machine code. What is packed of a
// constant Y is that of the last run where it was made of the same buffers.
func (s *genericStep) move(r *binding, moved bool) bool {
	if s.kernel.neon == nil {
		return false
	}
	if s.fromY != nil {
		for i, param := range s.kernel.constY.loads {
			if r.params[param].Number() != s.fromY[i] {
				return false
			}
		}
		if s.packs = s.lastPacks.Value(); s.packs == nil {
			return false
		}
	}
	for i := range s.workers {
		w := &s.workers[i]
		for _, c := range []*partCall{w.packX, w.packY, w.finish} {
			if c.part.generic != nil || moved && !c.move(r.ptrs) {
				return false
			}
		}
	}
	return true
}

// rest drops pointers: what is packed belongs to the weights.
func (s *genericStep) rest() {
	s.packs = nil
	for i := range s.workers {
		w := &s.workers[i]
		for _, c := range []*partCall{w.packX, w.packY, w.finish} {
			clear(c.args.Params)
		}
		w.join = arm64.JoinArgs{}
		w.tile.A, w.tile.B, w.tile.C, w.tile.Joined = nil, nil, nil, nil
	}
}

// Do computes one task: for each panel of columns, the row panels.
func (s *genericStep) Do(worker, task int) error {
	w, t := &s.workers[worker], s.area(task)
	for batch := t.batch0; batch < t.batch1; batch++ {
		for p := t.col0; p < t.col1; p++ {
			b, err := s.panel(w, batch, p)
			if err != nil {
				return err
			}
			for i := t.row0; i < t.row1; i++ {
				if err := s.block(w, b, batch, p*genericCols, s.row(i), s.row(i+1)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// panel is a panel of Y, from the constant ones or packed now.
func (s *genericStep) panel(w *genericWorker, batch, p int) (genericPanel, error) {
	if s.packs == nil {
		b, err := s.pack(w, w.packed, batch, p)
		w.packed = b
		return b, err
	}
	kept := &s.packs.panels[(batch*s.panels+p)%len(s.packs.panels)]
	if kept.done.Load() {
		return kept.b, nil
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.done.Load() {
		return kept.b, nil
	}
	b, err := s.pack(w, genericPanel{}, batch, p)
	if err != nil {
		return b, err
	}
	if s.kernel.neon != nil {
		if kept.mem, err = s.device.memory(4 * len(b.rows)); err != nil {
			return genericPanel{}, fmt.Errorf("pack %s: %w", s.kernel.work.Name, err)
		}
		rows := unsafe.Slice((*float32)(kept.mem.Pointer()), len(b.rows))
		copy(rows, b.rows) // which may be the worker's
		b.rows = rows
	}
	kept.b = b
	kept.done.Store(true)
	return b, nil
}

// pack packs a panel into the memory of another, where there is one.
func (s *genericStep) pack(w *genericWorker, into genericPanel, batch, p int) (genericPanel, error) {
	c := w.packY
	c.set(template.AtBatch, batch)
	c.set(template.FirstK, 0)
	c.set(template.EndK, s.steps)
	c.set(template.FirstPanel, p)
	c.panel(unsafe.Pointer(unsafe.SliceData(w.b)), 4*len(w.b))
	if err := c.run(p, p+1); err != nil {
		return into, err
	}
	if s.kernel.neon != nil {
		return s.neonPanel(w, into), nil
	}
	if into.pieces == nil {
		into.pieces = make([]generic.Packed, s.pieces())
	}
	for i := range into.pieces {
		k0, k1 := s.piece(i)
		var err error
		if into.pieces[i], err = generic.PackB(into.pieces[i].Data(), w.b[k0*genericCols:], genericCols, k1-k0, min(genericCols, s.cols-p*genericCols), false); err != nil {
			return into, err
		}
	}
	return into, nil
}

// pieces is how many pieces of k are multiplied apart.
func (s *genericStep) pieces() int {
	if s.kernel.bytes || s.kernel.neon != nil {
		return s.kBlocks
	}
	return 1
}

// piece is the steps of k of a piece.
func (s *genericStep) piece(i int) (k0, k1 int) {
	if s.pieces() > 1 {
		return s.kStart(i), s.kStart(i + 1)
	}
	return 0, s.steps
}

// block computes the results of some rows and a panel of columns.
func (s *genericStep) block(w *genericWorker, b genericPanel, batch, col, r0, r1 int) error {
	x := w.packX
	x.set(template.AtBatch, batch)
	x.set(template.FirstRow, r0)
	x.set(template.FirstK, 0)
	x.set(template.EndK, s.k)
	x.set(template.Stride, s.steps*s.group)
	x.panel(unsafe.Pointer(unsafe.SliceData(w.a)), 4*len(w.a))
	if err := x.run(r0, r1); err != nil {
		return err
	}
	sums := unsafe.Pointer(unsafe.SliceData(w.c))
	if s.kernel.format == template.Bytes {
		sums = unsafe.Pointer(unsafe.SliceData(w.whole))
	}
	clear(w.whole)
	for i := range s.pieces() {
		k0, k1 := s.piece(i)
		if s.kernel.neon != nil {
			s.multiply(w, b.rows, sums, r1-r0, k0, k1, s.kernel.bytes || i == 0)
		} else if err := generic.Gemm(w.c, genericCols, w.a[k0:], s.k, b.pieces[i], r1-r0, false); err != nil {
			return err
		}
		if s.kernel.bytes {
			for j := range w.whole {
				w.whole[j] += int32(w.c[j])
			}
		}
	}
	if s.kernel.bytes {
		sums = unsafe.Pointer(unsafe.SliceData(w.whole))
	}
	c := w.finish
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.FirstCol, col)
	c.set(template.EndCol, min(s.cols, col+genericCols))
	c.set(template.Stride, genericCols)
	c.panel(sums, 4*len(w.c))
	return c.run(r0, r1)
}
