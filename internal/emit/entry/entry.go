// Package entry describes entry points of programs for devices of work-groups:
// what each computes, how its work-items share that, and what arguments it has.
// Emitters turn them into text or machine code, devices launch them.
package entry

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Kernel is an entry point of a program.
type Kernel struct {
	Entry string       // its name
	Work  *loop.Kernel // as loop.Grouped and loop.Expand have made it
	// Items is how many work-items a group has if Groups says that an iteration
	// of the Global loop is its work; else it is that of a work-item.
	Items int
	// Near says of each scratch param whether it is memory that the group, or
	// the work-item, has close by. Others lie in a slab.
	Near []bool
	// Own, if set, says of each scratch param how many elements a work-item has
	// to itself, see OwnOf: those of item i lie from i*Own on, and every access
	// says which by a constant. Such a param is Near.
	Own []int
	// Gemm, if set, is what the kernel computes; Work is its meaning, with the
	// params. The work of a worker is a panel of columns times ArgRows rows:
	// panels of a block of rows follow each other, then come the next block and
	// the next batch.
	Gemm *template.Gemm
	Tile Tile
	// OneStage says that a group has shared memory for one stage of a product, the
	// operands for Tile.Depth values of k: the next has to wait until it has been
	// multiplied. Else there is room for two.
	OneStage bool
	// Attended, if set, is what the kernel computes: an iteration of the Global
	// loop is a tile. Work is its meaning, whose scratch memory is not used.
	Attended *Attended
	// Shares says of each param whether its memory may be that of another, one
	// that is read and one that is written: an element is read before it is
	// written, by the work-item that does both. Nil: of none.
	Shares []bool
	// Wide are loads of the kernel that are done together with others.
	Wide map[*loop.Expr]Wide
	// WideStores are the first of stores that are done together.
	WideStores map[*loop.Store]WideStore
	// Packed, if set, is the epilogue of Gemm for several columns at once.
	Packed *Packed
	// Maps are those of matrices that the kernel may have copied by them.
	Maps []Map
	// Strategy is what was chosen for the kernel. What it says of tiles,
	// work-items that share lanes and scratch memory is in the fields above too.
	Strategy Strategy
}

// Stages is how many stages of a product lie in shared memory at a time.
func (k *Kernel) Stages() int {
	if k.OneStage {
		return 1
	}
	return 2
}

// Shared tells whether the memory of a param may be that of another.
func (k *Kernel) Shared(param int) bool { return param < len(k.Shares) && k.Shares[param] }

// Groups tells whether a worker is a group, not a work-item.
func (k *Kernel) Groups() bool {
	return k.Gemm != nil && k.Items > 1 || k.Attended != nil || hasRange(k.Work.Body, loop.Item)
}

func hasRange(body []loop.Stmt, r loop.Range) bool {
	for _, s := range body {
		if l, ok := s.(*loop.Loop); ok && (l.Range == r || hasRange(l.Body, r)) {
			return true
		}
	}
	return false
}

// Product is the entry point of a product by workers of so many work-items and
// such a tile, in the operations that every target has.
func Product(name string, g *template.Gemm, items int, tile Tile) *Kernel {
	p := *g
	p.X, p.Y, p.Epilogue = expanded(g.X), expanded(g.Y), loop.Expand(&loop.Kernel{Body: g.Epilogue}).Body
	work := p.Loops()
	return &Kernel{Entry: name, Work: work, Items: items, Gemm: &p, Tile: tile, Near: make([]bool, len(work.Params))}
}

func expanded(e *loop.Expr) *loop.Expr {
	k := loop.Expand(&loop.Kernel{Body: []loop.Stmt{&loop.Set{Value: e}}})
	return k.Body[0].(*loop.Set).Value
}

// Member is a kernel that shares an entry point with others: one that gets, behind
// the arguments, the number of the kernel that is meant, an i64.
type Member struct {
	Of     string // the entry point
	Number int
}

// Arg is one argument of an entry point.
type Arg struct {
	Kind  ArgKind
	Param int    // ArgBuffer, ArgOffset, ArgStride, ArgMap: of Kernel.Work; -1: the status words
	Size  ir.Dim // ArgSize
	Map   int    // ArgMap: of Kernel.Maps
}

// ArgKind says what an argument is. All but ArgBuffer and ArgMap are 64-bit
// integers.
type ArgKind uint8

const (
	ArgBuffer ArgKind = iota + 1 // memory that a param lies in; for scratch the slab
	ArgOffset                    // where it begins, in elements
	ArgStride                    // for a scratch param, elements from worker to worker
	ArgSize                      // a size that the kernel needs
	ArgStart                     // the first iteration of the Global loop
	ArgEnd                       // the one behind the last
	ArgChunk                     // how many a worker does
	ArgRows                      // of a product, for a task
	ArgMap                       // a Map as the device's driver encodes it, MapBytes of them
	ArgMapped                    // a bit for each of Kernel.Maps: it is there
)

// MapBytes is the bytes of an ArgMap, which begins at a multiple of MapAlign.
const (
	MapBytes = 128
	MapAlign = 64
)

// Args lists the arguments of k in order: every buffer with its offset, and a
// stride where it is a slab, the sizes that its text needs, the iterations, maps.
func (k *Kernel) Args(sizes []ir.Dim) []Arg {
	var all []Arg
	for i, p := range k.Work.Params {
		switch {
		case p.Use != loop.Scratch:
			all = append(all, Arg{Kind: ArgBuffer, Param: i}, Arg{Kind: ArgOffset, Param: i})
		case !k.Near[i]:
			all = append(all, Arg{Kind: ArgBuffer, Param: i}, Arg{Kind: ArgOffset, Param: i}, Arg{Kind: ArgStride, Param: i})
		}
	}
	if k.Work.Slots > 0 {
		all = append(all, Arg{Kind: ArgBuffer, Param: -1}, Arg{Kind: ArgOffset, Param: -1})
	}
	for _, d := range sizes {
		all = append(all, Arg{Kind: ArgSize, Size: d})
	}
	all = append(all, Arg{Kind: ArgStart}, Arg{Kind: ArgEnd}, Arg{Kind: ArgChunk})
	if k.Gemm != nil {
		all = append(all, Arg{Kind: ArgRows})
	}
	for i, m := range k.Maps {
		all = append(all, Arg{Kind: ArgMap, Param: m.Param, Map: i})
	}
	if len(k.Maps) > 0 {
		all = append(all, Arg{Kind: ArgMapped})
	}
	return all
}
