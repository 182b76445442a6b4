package cpu

import (
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/loop"
)

// mayBeLinear tells whether tile kernels do what the epilogue does. Unfinished sums of
// several blocks of k lie where results will: nothing that is to be added may be there, as
// a variable that is written in place is.
func (s *gemmStep) mayBeLinear(size gemmSize) (bool, error) {
	l := s.kernel.linear
	if l == nil {
		return false, nil
	}
	if cut := cutOf(s.kernel.tiles.format); ceilDiv(size.k, cut.group) <= cut.block {
		return true, nil
	}
	var added []int // params
	if l.Bias != nil {
		added = append(added, l.Bias.Param)
	}
	if l.Beside {
		added = append(added, s.kernel.beside.Param)
	}
	for _, p := range added {
		if same, err := s.overlap(p, s.kernel.out.Param); same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// overlap tells whether two params share memory.
func (s *gemmStep) overlap(a, b int) (bool, error) {
	var from, to [2]uintptr
	for i, p := range []int{a, b} {
		param := s.kernel.work.Params[p]
		n, err := param.Len.Eval(s.env)
		if err != nil {
			return false, err
		}
		from[i] = uintptr(s.ptrs[p])
		to[i] = from[i] + uintptr(n*param.DType.Size())
	}
	return from[0] < to[1] && from[1] < to[0], nil
}

// finish is the part that runs behind the sums, if any.
func (s *gemmStep) finish() *part {
	if s.linear {
		return nil
	}
	return s.kernel.finish
}

// handsOver is gemmKernel.handsOver in this run.
func (s *gemmStep) handsOver() bool { return !s.linear && s.kernel.handsOver() }

// linearOperands notes what tile kernels add to a batch's sums, and multiply them by.
func (s *gemmStep) linearOperands(a *addresses, batch int) (err error) {
	l := s.kernel.linear
	if l.Bias != nil {
		at, err := s.base(*l.Bias, batch)
		if err != nil {
			return err
		}
		rows, err := evalIndex(l.Bias.Row, s.env, batch)
		if err != nil {
			return err
		}
		if a.ldRowBias = s.word * rows; l.Bias.Col.IsInt(0) {
			a.rowBias = at
		} else {
			a.bias = at
		}
	}
	switch {
	case l.Scale == nil:
		a.scale = 1
	case l.Scale.Kind == loop.KindConst:
		a.scale = math.Float32frombits(uint32(l.Scale.Bits))
	default:
		at, err := evalIndex(l.Scale.Args[0], s.env, batch)
		if err != nil {
			return err
		}
		a.scale = *(*float32)(unsafe.Add(s.ptrs[l.Scale.Param], 4*at))
	}
	if l.Negated {
		a.scale = -a.scale
	}
	return nil
}
