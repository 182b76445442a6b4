package entry

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Map describes a matrix to a unit of the device that copies boxes of it by
// itself, and writes 0 for what is beyond its ends. Elements lie side by side
// along the inner axis.
type Map struct {
	Param        int
	Base         *loop.Expr // where it begins, in elements: of sizes alone, as all here
	Inner, Outer ir.Dim
	Apart        *loop.Expr // elements from one to the next along Outer
	Batches      ir.Dim
	Batch        *loop.Expr // elements from one batch to the next; nil: all are the same
	Box          [2]int     // elements of a copy along Inner and Outer
}

// Mapped is a Map at the sizes of a run.
type Mapped struct {
	Bytes   int // of an element
	Offset  int // bytes from the buffer's first to the matrix's
	Sizes   []int
	Strides []int // bytes from one to the next along each axis but the inner one
	Box     []int // elements
}

// Mapped evaluates one of k.Maps.
func (k *Kernel) Mapped(i int, env ir.Env) (Mapped, error) {
	m := k.Maps[i]
	size := k.Work.Params[m.Param].DType.Size()
	at := Mapped{Bytes: size, Box: []int{m.Box[0], m.Box[1]}}
	dims, apart := []ir.Dim{m.Inner, m.Outer}, []*loop.Expr{m.Apart}
	if m.Batch != nil {
		dims, apart, at.Box = append(dims, m.Batches), append(apart, m.Batch), append(at.Box, 1)
	}
	for _, d := range dims {
		n, err := d.Eval(env)
		if err != nil {
			return at, err
		}
		at.Sizes = append(at.Sizes, n)
	}
	for _, e := range apart {
		n, err := loop.EvalIndex(e, env, nil)
		if err != nil {
			return at, err
		}
		at.Strides = append(at.Strides, int(n)*size)
	}
	base, err := loop.EvalIndex(m.Base, env, nil)
	at.Offset = int(base) * size
	return at, err
}
