package entry

import (
	"cmp"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Shape is what kernels for a device look like.
type Shape struct {
	// Items spreads the lanes of a group's work over so many work-items at most;
	// 1: a processor, whose groups are one work-item with vectors, and whose
	// caches need no memory of groups beside them.
	Items int
	Near  int // bytes of a kernel's scratch memory that lie close to its workers
	// Shared is how many bytes a group may have there, where a kernel needs
	// more to run at all; 0: none does.
	Shared int
	Own    int // words that a work-item may keep in registers; 0: as many as anywhere
	Flat   int // work-items of a group whose iterations have nothing in common
	Units  int // compute units; 0: not known
	// Pack is how many bytes a work-item loads and stores at once, where lanes side
	// by side allow it; 0: each element by itself.
	Pack int
	// Ahead is how many bytes a work-item has on their way at once in a product of few
	// rows, where a compiler keeps them as they are until they are multiplied; 0: so
	// many as become factors that registers hold.
	Ahead int
	// Product makes the entry point of a product, with the tile that is usual if
	// none is given; nil: it is loops like all else.
	Product func(name string, g *template.Gemm, t Tile) *Kernel
	Tiles   []Tile // of products that are worth a try
	Half    bool   // products and attentions have instructions for f16, and take it as it is
	// Usual is Product without what one generation of devices alone has; nil: there
	// is no such thing.
	Usual func(name string, g *template.Gemm, t Tile) *Kernel
	// Attend lists the tiles of an attention that instructions for matrices take,
	// the best first; none: it goes by tiles or rows like elsewhere. nil: none does.
	Attend func(a *template.Attention) []Tile
	// UsualAttend is Attend in the same way as Usual is Product.
	UsualAttend func(a *template.Attention) []Tile
	// Strategy is the choice for the kernels that are made; zero: the heuristic's.
	Strategy Strategy
	// Unmapped has no kernel copy by maps.
	Unmapped bool
}

// stripLanes is how many partial results a processor keeps of a sum.
const stripLanes = 16

// Kernel makes the entry point of loops.
func (s Shape) Kernel(name string, k *loop.Kernel) *Kernel {
	e := &Kernel{Entry: name, Strategy: s.Strategy}
	g := loop.Grouping{Width: stripLanes}
	k = loop.MoveBits(k)
	if s.Items > 1 {
		g = s.grouping(k)
		e.Items = g.Width / max(g.Each, 1)
	}
	e.Work = loop.Expand(loop.Grouped(k, g))
	if g.Each > 1 {
		e.Wide, e.WideStores = wideLoads(e.Work, true), wideStores(e.Work)
	}
	if !e.Groups() {
		e.Items = 1
	}
	s.place(e)
	return e
}

// Plain is the shape without what one generation of devices alone has.
func (s Shape) Plain() Shape {
	if s.Usual != nil {
		s.Product = s.Usual
	}
	if s.UsualAttend != nil {
		s.Attend = s.UsualAttend
	}
	return s
}

// Gemm makes the entry point of a product.
func (s Shape) Gemm(name string, g *template.Gemm) *Kernel {
	if f, ok := s.few(g); ok {
		return s.fewKernel(name, f)
	}
	return s.Tiled(name, g)
}

// Tiled makes that of a product of any size by tiles, if the shape has them.
func (s Shape) Tiled(name string, g *template.Gemm) *Kernel {
	if s.Product == nil {
		return s.Kernel(name, spread(g.Loops()))
	}
	e := s.Product(name, g, s.Strategy.Tile)
	if e.Tile == GroupTile && !s.holdsStages(e, 1) {
		e = s.Product(name, g, WideTile)
	}
	e.OneStage = !s.holdsStages(e, 2)
	e.Strategy = s.Strategy
	if s.Unmapped {
		e.Maps = nil
	}
	s.place(e)
	return e
}

// holdsStages tells whether a group may have shared memory for so many stages of a
// product.
func (s Shape) holdsStages(e *Kernel, stages int) bool {
	return s.Shared == 0 || stages*e.Tile.Elements()*e.Gemm.DType.Compute().Size() <= s.Shared
}

// spread makes the serial loop in a Global one part of it: the iterations of
// both are independent.
func spread(k *loop.Kernel) *loop.Kernel {
	outer := k.Body[0].(*loop.Loop)
	flat := loop.Flatten(outer, outer.Body[0].(*loop.Loop))
	flat.Range = loop.Global
	return loop.Share(&loop.Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: []loop.Stmt{flat}})
}

// GroupItems is how many work-items a group has where the kernel runs.
func (s Shape) GroupItems(e *Kernel) int {
	switch {
	case e.Groups():
		return e.Items
	case e.Gemm != nil:
		return 1
	}
	return cmp.Or(e.Strategy.Flat, s.Flat)
}

// place decides which scratch memory is near.
func (s Shape) place(e *Kernel) {
	e.Near = make([]bool, len(e.Work.Params))
	if s.Strategy.Far {
		return
	}
	left := s.Near
	for i := len(e.Work.Params) - 1; i >= 0; i-- { // partial results come last and are used most
		p := e.Work.Params[i]
		n, ok := p.Len.Const()
		if p.Use != loop.Scratch || !ok || n*p.DType.Size() > left || s.Items > 1 && e.Items == 1 {
			continue
		}
		e.Near[i] = true
		left -= n * p.DType.Size()
	}
}
