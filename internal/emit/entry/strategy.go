package entry

import (
	"slices"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Strategy is what can be chosen for a kernel without changing a bit of its
// results. A field that is 0 is left to the heuristic: the zero Strategy is what
// it chooses.
type Strategy struct {
	Tile  Tile `json:",omitzero"` // of a product
	Items int  `json:",omitzero"` // work-items of a group that shares lanes, where no order of a sum depends on it
	Flat  int  `json:",omitzero"` // work-items of a group whose iterations have nothing in common
	Tasks int  `json:",omitzero"` // groups for each compute unit; each does as many iterations as that leaves
	Far   bool `json:",omitzero"` // scratch memory lies in a slab, though it would fit near by
}

// MaxStrategies is how many are tried of a kernel at most.
const MaxStrategies = 64

// tasks are the numbers of groups for a unit that are worth a try. On GPUs groups
// are many and short where nothing is chosen.
var tasks = []int{1, 2, 4, 8, 16, 32, 64}

// With is the shape with a choice made for the kernels that it makes.
func (s Shape) With(c Strategy) Shape {
	s.Strategy = c
	return s
}

// Table lists the strategies for loops that make a kernel of its own each, the
// heuristic's first. Spread has more that share a kernel.
func (s Shape) Table(k *loop.Kernel) []Strategy {
	plain := s.With(Strategy{}).Kernel("", k)
	all := []Strategy{{}}
	switch {
	case s.Items == 1:
		all = append(all, flats(s.Flat, 1, 4, 8, 16, 64)...)
	case !plain.Groups():
		all = append(all, flats(s.Flat, 32, 64, 128, 256, 512)...)
	case len(plain.Work.Params) == len(k.Params): // no partial results, whose tree has as many leaves as there are work-items
		for n := min(16, s.Items); n <= s.Items; n *= 2 {
			if n != plain.Items {
				all = append(all, Strategy{Items: n})
			}
		}
	}
	if slices.Contains(plain.Near, true) {
		for _, c := range all {
			c.Far = true
			all = append(all, c)
		}
	}
	return all
}

func flats(usual int, sizes ...int) []Strategy {
	var all []Strategy
	for _, n := range sizes {
		if n != usual {
			all = append(all, Strategy{Flat: n})
		}
	}
	return all
}

// ProductTable is Table for a product.
func (s Shape) ProductTable(g *template.Gemm) []Strategy {
	if f, ok := s.With(Strategy{}).few(g); ok {
		return f.table(s)
	}
	if s.Product == nil {
		return s.Table(spread(g.Loops()))
	}
	all := []Strategy{{}}
	usual := s.With(Strategy{}).Tiled("", g).Tile
	for _, t := range s.Tiles {
		if t != usual && len(all) < MaxStrategies-len(tasks) {
			all = append(all, Strategy{Tile: t})
		}
	}
	return all
}

// Spread lists c and strategies that differ from it in how work is dealt out
// alone: their kernel is the same.
func Spread(c Strategy) []Strategy {
	c.Tasks = 0
	all := []Strategy{c}
	for _, n := range tasks {
		c.Tasks = n
		all = append(all, c)
	}
	return all
}
