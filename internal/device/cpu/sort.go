package cpu

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/schedule"
)

// sortKernel sorts lines along an axis in Go, a line a task: stable, NaN last
// in both directions.
type sortKernel struct{ host *schedule.Host }

func compileSort(h *schedule.Host) (kernel, error) { return &sortKernel{h}, nil }

type sortStep struct {
	d                   ir.DType
	in, values, indices unsafe.Pointer
	lines, inner, n     int // inner: lines that lie side by side, and so the step along one
	first               int // of each line that are wanted
	descending          bool
}

func (k *sortKernel) bind(r *binding) (jit.Step, error) {
	shape, err := k.host.Shape.Eval(r.env)
	if err != nil {
		return nil, err
	}
	first, err := k.host.First.Eval(r.env)
	if err != nil {
		return nil, err
	}
	n := k.host.Node
	axis := n.Attr.Axis()
	s := &sortStep{d: n.DType, in: r.ptrs[0], values: r.ptrs[1], indices: r.ptrs[2], n: shape[axis], first: min(first, shape[axis]), lines: 1, inner: 1, descending: n.Attr.Descending}
	for i, size := range shape {
		if i != axis {
			s.lines *= size
		}
		if i > axis {
			s.inner *= size
		}
	}
	return s, nil
}

func (s *sortStep) Tasks() int { return s.lines }

// Do sorts one line.
func (s *sortStep) Do(_, line int) error {
	start := line/s.inner*s.inner*s.n + line%s.inner
	switch s.d.Size() {
	case 1:
		sortLine[uint8](s, start)
	case 2:
		sortLine[uint16](s, start)
	case 4:
		sortLine[uint32](s, start)
	default:
		sortLine[uint64](s, start)
	}
	return nil
}

// sortLine sorts the n elements from start on, inner apart, given as bits. Keys of
// 32 bits go with their places into one number each, which sort several times as
// fast as pairs do. Places make equal keys keep their order.
func sortLine[T uint8 | uint16 | uint32 | uint64](s *sortStep, start int) {
	total := s.lines * s.n
	in, values := unsafe.Slice((*T)(s.in), total), unsafe.Slice((*T)(s.values), total)
	indices := unsafe.Slice((*int64)(s.indices), total)
	bits := make([]T, s.n) // values may lie where the operand does
	for i := range bits {
		bits[i] = in[start+i*s.inner]
	}
	put := func(i int, at int64) { values[start+i*s.inner], indices[start+i*s.inner] = bits[at], at }
	if s.d.Size() <= 4 && uint64(s.n) <= math.MaxUint32 {
		line := make(smallest, 0, s.first)
		for i, b := range bits {
			line.add(uint64(shortKey(s.d, uint64(b), s.descending))<<32|uint64(i), s.n)
		}
		slices.Sort(line)
		for i, k := range line {
			put(i, int64(uint32(k)))
		}
		return
	}
	type item struct {
		key uint64
		at  int64
	}
	line := make([]item, s.n)
	for i := range line {
		line[i] = item{sortKey(s.d, uint64(bits[i]), s.descending), int64(i)}
	}
	slices.SortFunc(line, func(a, b item) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	for i, it := range line[:s.first] {
		put(i, it.at)
	}
}

// smallest are as many numbers as it has room for, the smallest of those added. Once it is
// full it is a heap, the largest first.
type smallest []uint64

// add is called for each of n numbers.
func (h *smallest) add(v uint64, n int) {
	room := cap(*h)
	switch {
	case len(*h) < room:
		*h = append(*h, v)
		if len(*h) == room && room < n {
			for i := room/2 - 1; i >= 0; i-- {
				h.sink(i)
			}
		}
	case room > 0 && v < (*h)[0]:
		(*h)[0] = v
		h.sink(0)
	}
}

// sink moves number i below larger ones.
func (h smallest) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1] > h[child] {
			child++
		}
		if h[i] >= h[child] {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// shortKey maps a value of at most 32 bits to a number that orders as it sorts.
func shortKey(d ir.DType, bits uint64, descending bool) uint32 {
	var key uint32
	switch {
	case d.IsFloat():
		f := math.Float32frombits(uint32(bits))
		if d != ir.F32 {
			f = float32(ir.Float(d, bits))
		}
		if f != f {
			return math.MaxUint32
		}
		b := math.Float32bits(f + 0) // -0 and 0 are equal
		key = b | 1<<31
		if b>>31 == 1 {
			key = ^b
		}
	case d.IsUnsigned():
		key = uint32(bits)
	default:
		key = uint32(ir.Int(d, bits)) ^ 1<<31
	}
	if descending {
		return ^key
	}
	return key
}

// sortKey is shortKey for values of 64 bits.
func sortKey(d ir.DType, bits uint64, descending bool) uint64 {
	var key uint64
	switch {
	case d.IsFloat():
		f := ir.Float(d, bits)
		if f != f {
			return math.MaxUint64
		}
		b := math.Float64bits(f + 0) // -0 and 0 are equal
		key = b | 1<<63
		if b>>63 == 1 {
			key = ^b
		}
	case d.IsUnsigned():
		key = bits
	default:
		key = uint64(ir.Int(d, bits)) ^ 1<<63
	}
	if descending {
		return ^key
	}
	return key
}
