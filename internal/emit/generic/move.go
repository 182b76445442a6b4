package generic

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// mover makes the steps that move elements without looking into them.
type mover interface {
	constant(dst int, bits uint64) step
	copy(dst, src int, lanes bool) step
	repeat(dst, src int, n func(*state) int) step
	choose(to operand, x [3]int) step
	load(dst int, a *access) step
	store(src int, a *access) step
	hasZero(s *state, r, n int) bool
}

func moverOf(d ir.DType) mover {
	switch d.Size() {
	case 1:
		return move[uint8]{}
	case 2:
		return move[uint16]{}
	case 4:
		return move[uint32]{}
	}
	return move[uint64]{}
}

type move[T word] struct{}

func (move[T]) constant(dst int, bits uint64) step {
	return func(s *state) { define[T](s, dst, 1)[0] = T(bits) }
}

func (move[T]) copy(dst, src int, lanes bool) step {
	return func(s *state) { copy(define[T](s, dst, s.count(lanes)), view[T](s, src)) }
}

func (move[T]) repeat(dst, src int, n func(*state) int) step {
	return func(s *state) {
		x := view[T](s, src)[0]
		d := define[T](s, dst, n(s))
		for i := range d {
			d[i] = x
		}
	}
}

func (move[T]) choose(to operand, x [3]int) step {
	return func(s *state) {
		c, x, y := view[uint8](s, x[0]), view[T](s, x[1]), view[T](s, x[2])
		d := define[T](s, to.reg, s.count(to.lanes))
		c, x, y = c[:len(d)], x[:len(d)], y[:len(d)]
		for i := range d {
			v := y[i]
			if c[i] != 0 {
				v = x[i]
			}
			d[i] = v
		}
	}
}

func (move[T]) hasZero(s *state, r, n int) bool {
	return slices.Contains(view[T](s, r)[:n], 0)
}

// access is how the lanes of a load or store reach their elements: lane i at
// base + stride*(v+i) for the variable v of the Vector loop, or at index[i].
type access struct {
	param  int
	lanes  bool
	slot   int // of v
	base   int // registers; -1: none
	stride int
	index  int
	valid  int
}

// access compiles an index and its condition.
func (c *compiler) access(param int, index, valid *loop.Expr, lanes bool) *access {
	a := &access{param: param, lanes: lanes, base: -1, stride: -1, index: -1, valid: -1}
	if valid != nil {
		a.valid = c.operand(valid, lanes)
	}
	if lanes {
		base, stride, ok := loop.Affine(index, c.vector.v)
		if ok && (c.classify(base)|c.classify(stride))&perLane == 0 {
			a.slot = c.vars[c.vector.v].slot
			a.base, a.stride = c.value(base).reg, c.value(stride).reg
			return a
		}
	}
	a.index = c.operand(index, lanes)
	return a
}

// at gives the index of lane 0 and the step to the next; in an index that has
// neither, the indices themselves.
func (a *access) at(s *state) (first, step int64, each []int64) {
	if a.index >= 0 {
		return 0, 0, view[int64](s, a.index)
	}
	step = scalar(s, a.stride)
	return scalar(s, a.base) + step*s.vars[a.slot], step, nil
}

func (c *compiler) load(e *loop.Expr, to operand) {
	var valid *loop.Expr
	if len(e.Args) == 2 {
		valid = e.Args[1]
	}
	c.emit(moverOf(e.DType).load(to.reg, c.access(e.Param, e.Args[0], valid, to.lanes)))
}

func (c *compiler) store(s *loop.Store) {
	lanes := c.vector != nil
	src := c.operand(s.Value, lanes)
	c.emit(moverOf(s.Value.DType).store(src, c.access(s.Param, s.Index, s.Valid, lanes)))
}

// inside tells whether n elements from first on are in a buffer of size.
func inside(first int64, n, size int) bool {
	return first >= 0 && first <= int64(size-n)
}

func (move[T]) load(dst int, a *access) step {
	return func(s *state) {
		p, n := elements[T](s, a.param), s.count(a.lanes)
		first, stride, each := a.at(s)
		if each == nil && stride == 1 && a.valid < 0 && inside(first, n, len(p)) {
			s.regs[dst] = register{unsafe.Pointer(&p[first]), n}
			return
		}
		var valid []uint8
		if a.valid >= 0 {
			valid = view[uint8](s, a.valid)[:n]
		}
		d := define[T](s, dst, n)
		at := first
		for i := range d {
			if each != nil {
				at = each[i]
			}
			switch {
			case valid != nil && valid[i] == 0:
				d[i] = 0
			case uint64(at) < uint64(len(p)):
				d[i] = p[at]
			default:
				s.outside(a.param, at)
				d[i] = 0
			}
			at += stride
		}
	}
}

func (move[T]) store(src int, a *access) step {
	return func(s *state) {
		p, n := elements[T](s, a.param), s.count(a.lanes)
		x := view[T](s, src)[:n]
		first, stride, each := a.at(s)
		var valid []uint8
		if a.valid >= 0 {
			valid = view[uint8](s, a.valid)[:n]
		}
		if each == nil && stride == 1 && inside(first, n, len(p)) && (valid == nil || bytes.IndexByte(valid, 0) < 0) {
			copy(p[first:], x)
			return
		}
		at := first
		for i := range x {
			if each != nil {
				at = each[i]
			}
			switch {
			case valid != nil && valid[i] == 0:
			case uint64(at) < uint64(len(p)):
				p[at] = x[i]
			default:
				s.outside(a.param, at)
			}
			at += stride
		}
	}
}
