package cpu

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// genericGemm is a product in plain Go: the same parts as closures around the
// inner kernel of package generic.
//
// Products of u8 and i8 are multiplied as f32, which is exact for a while: a sum
// of template.SumBlock of them is below 512*255*128 < 2^24. Those sums are added
// as integers.
type genericGemm struct {
	work                 *template.Gemm
	bytes                bool
	packX, packY, finish *part
	constY               *constY
	sharedY              bool // all batches have the same Y
}

// The blocks of sums that one call of package generic computes.
const (
	genericRows = 64
	genericCols = 64
)

func (c *compiler) genericGemm(g *template.Gemm) (kernel, error) {
	k := &genericGemm{work: g, bytes: g.Format() == template.Bytes, sharedY: sharedY(g)}
	floats := *g
	if k.bytes {
		narrow := g.Narrow(template.Bytes)
		floats.DType = ir.F32
		floats.X, floats.Y = loop.Apply(ir.Cast, ir.F32, narrow.X), loop.Apply(ir.Cast, ir.F32, narrow.Y)
	}
	var err error
	if k.packX, err = c.part(floats.PackX(template.Single)); err != nil {
		return nil, err
	}
	if k.packY, err = c.part(floats.PackY(template.Single, genericCols)); err != nil {
		return nil, err
	}
	if k.finish, err = c.part(g.Finish()); err != nil {
		return nil, err
	}
	k.constY = newConstY(g, "generic")
	return k, nil
}

// genericStep is a genericGemm with the sizes and the memory of one run.
type genericStep struct {
	gemmPlan
	kernel  *genericGemm
	status  []int64
	packs   *genericPacks // of constant Y; nil: each task packs what it needs
	workers []genericWorker
}

// genericWorker is what one worker needs for itself.
type genericWorker struct {
	a, b, c              []float32 // rows of X, a panel of Y by rows, sums
	whole                []int32   // sums of bytes
	packed               genericPanel
	packX, packY, finish *partCall
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
}

// genericPanel is a panel of Y: of bytes a piece for each block of k, of floats
// one, which the kernel cuts itself.
type genericPanel []generic.Packed

func (s *genericStep) flags() []int64 { return s.status }

func (s *genericStep) Tasks() int { return s.tasks() }

func (k *genericGemm) bind(r *binding) (jit.Step, error) {
	g := k.work
	n, err := r.sizeOf(g.BatchSize, g.Rows, g.Cols, g.K)
	if err != nil {
		return nil, err
	}
	s := &genericStep{kernel: k, status: r.status}
	s.gemmPlan = planGemm(gemmSize{n[0], n[1], n[2], n[3]}, 1, genericCols, x86.GemmTile{Rows: genericRows, Vectors: 1}, r.workers, true)
	if s.tasks() == 0 {
		return s, nil
	}
	if from, what := k.constY.key(r, &s.gemmPlan); len(from) > 0 {
		batches := s.batch
		if k.sharedY {
			batches = 1
		}
		have := keep(from, what, func() any { return &genericPacks{panels: make([]genericPack, batches*s.panels)} })
		s.packs = have.value.(*genericPacks)
	}
	s.workers = make([]genericWorker, r.workers)
	for i := range s.workers {
		w := &s.workers[i]
		w.b, w.c = make([]float32, s.k*genericCols), make([]float32, genericRows*genericCols)
		if k.bytes {
			w.whole = make([]int32, genericRows*genericCols)
		}
		if w.packY, err = k.packY.call(r, nil); err != nil {
			return nil, err
		}
		if w.finish, err = k.finish.call(r, nil); err != nil {
			return nil, err
		}
		w.a = make([]float32, genericRows*s.k)
		if w.packX, err = k.packX.call(r, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
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
	b, err := s.pack(w, nil, batch, p)
	if err != nil {
		return nil, err
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
	c.set(template.EndK, s.k)
	c.set(template.FirstPanel, p)
	c.panel(unsafe.Pointer(unsafe.SliceData(w.b)), 4*len(w.b))
	if err := c.run(p, p+1); err != nil {
		return nil, err
	}
	if into == nil {
		into = make(genericPanel, s.pieces())
	}
	for i := range into {
		k0, k1 := s.piece(i)
		var err error
		if into[i], err = generic.PackB(into[i].Data(), w.b[k0*genericCols:], genericCols, k1-k0, min(genericCols, s.cols-p*genericCols), false); err != nil {
			return nil, err
		}
	}
	return into, nil
}

// pieces is how many pieces of k are multiplied apart.
func (s *genericStep) pieces() int {
	if s.kernel.bytes {
		return s.kBlocks
	}
	return 1
}

// piece is the k of a piece.
func (s *genericStep) piece(i int) (k0, k1 int) {
	if s.kernel.bytes {
		return s.kStart(i), s.kStart(i + 1)
	}
	return 0, s.k
}

// block computes the results of some rows and a panel of columns.
func (s *genericStep) block(w *genericWorker, b genericPanel, batch, col, r0, r1 int) error {
	x := w.packX
	x.set(template.AtBatch, batch)
	x.set(template.FirstRow, r0)
	x.set(template.FirstK, 0)
	x.set(template.EndK, s.k)
	x.set(template.Stride, s.k)
	x.panel(unsafe.Pointer(unsafe.SliceData(w.a)), 4*len(w.a))
	if err := x.run(r0, r1); err != nil {
		return err
	}
	sums := unsafe.Pointer(unsafe.SliceData(w.c))
	clear(w.whole)
	for i, piece := range b {
		k0, _ := s.piece(i)
		if err := generic.Gemm(w.c, genericCols, w.a[k0:], s.k, piece, r1-r0, false); err != nil {
			return err
		}
		for j := range w.whole {
			w.whole[j] += int32(w.c[j])
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
