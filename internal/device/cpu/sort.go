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
	descending          bool
}

func (k *sortKernel) bind(r *binding) (jit.Step, error) {
	shape, err := k.host.Shape.Eval(r.env)
	if err != nil {
		return nil, err
	}
	n := k.host.Node
	axis := n.Attr.Axis()
	s := &sortStep{d: n.DType, in: r.ptrs[0], values: r.ptrs[1], indices: r.ptrs[2], n: shape[axis], lines: 1, inner: 1, descending: n.Attr.Descending}
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

// sortLine sorts the n elements from start on, inner apart, given as bits.
func sortLine[T uint8 | uint16 | uint32 | uint64](s *sortStep, start int) {
	type item struct {
		key  uint64
		bits T
		at   int64
	}
	total := s.lines * s.n
	in, values := unsafe.Slice((*T)(s.in), total), unsafe.Slice((*T)(s.values), total)
	indices := unsafe.Slice((*int64)(s.indices), total)
	line := make([]item, s.n)
	for i := range line {
		bits := in[start+i*s.inner]
		line[i] = item{sortKey(s.d, uint64(bits), s.descending), bits, int64(i)}
	}
	slices.SortStableFunc(line, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	for i, it := range line {
		values[start+i*s.inner], indices[start+i*s.inner] = it.bits, it.at
	}
}

// sortKey maps a value to a number that orders as it sorts.
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
