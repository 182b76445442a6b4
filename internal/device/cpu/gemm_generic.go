package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// genericGemm is a product in plain Go: the same parts as closures around the
// inner kernel of package generic.
type genericGemm struct {
	work                 *template.Gemm
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
	k := &genericGemm{work: g, sharedY: sharedY(g)}
	var err error
	if k.packX, err = c.part(g.PackX(template.Single)); err != nil {
		return nil, err
	}
	if k.packY, err = c.part(g.PackY(template.Single, genericCols)); err != nil {
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
	packed               []float32
	packX, packY, finish *partCall
}

// genericPacks are the panels of a constant Y, packed when first used.
type genericPacks struct {
	panels []genericPack
}

type genericPack struct {
	once sync.Once
	b    generic.Packed
	err  error
}

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
func (s *genericStep) panel(w *genericWorker, batch, p int) (generic.Packed, error) {
	if s.packs == nil {
		b, err := s.pack(w, w.packed, batch, p)
		w.packed = b.Data()
		return b, err
	}
	kept := &s.packs.panels[(batch*s.panels+p)%len(s.packs.panels)]
	kept.once.Do(func() { kept.b, kept.err = s.pack(w, nil, batch, p) })
	return kept.b, kept.err
}

func (s *genericStep) pack(w *genericWorker, into []float32, batch, p int) (generic.Packed, error) {
	c := w.packY
	c.set(template.AtBatch, batch)
	c.set(template.FirstK, 0)
	c.set(template.EndK, s.k)
	c.set(template.FirstPanel, p)
	c.panel(unsafe.Pointer(unsafe.SliceData(w.b)), 4*len(w.b))
	if err := c.run(p, p+1); err != nil {
		return generic.Packed{}, err
	}
	return generic.PackB(into, w.b, genericCols, s.k, min(genericCols, s.cols-p*genericCols), false)
}

// block computes the results of some rows and a panel of columns.
func (s *genericStep) block(w *genericWorker, b generic.Packed, batch, col, r0, r1 int) error {
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
	if err := generic.Gemm(w.c, genericCols, w.a, s.k, b, r1-r0, false); err != nil {
		return err
	}
	c := w.finish
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.FirstCol, col)
	c.set(template.EndCol, min(s.cols, col+genericCols))
	c.set(template.Stride, genericCols)
	c.panel(unsafe.Pointer(unsafe.SliceData(w.c)), 4*len(w.c))
	return c.run(r0, r1)
}
