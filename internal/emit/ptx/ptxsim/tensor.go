package ptxsim

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// paramBase is where params lie in the generic address space.
const paramBase = 0x6000_0000_0000

// tensorCopy is a copy of a box of a tensor to shared memory, which goes on beside
// the threads and tells a barrier of phases of its bytes. It takes place when no
// thread can go on without, as late as it may on a GPU.
type tensorCopy struct {
	source  *step
	at, n   int // bytes of shared memory
	box     *TensorMap
	corner  []int64
	barrier *phaseBarrier
}

// tensorCode is a decoded cp.async.bulk.tensor.
type tensorCode struct {
	s              *step
	rank           int
	to, barrier    *access
	descriptor     int // row
	descriptorPlus uint64
	corner         []int // rows
}

// copyTensor decodes a copy from global to shared memory: [to], [map, {corner}],
// [barrier].
func (d *decoder) copyTensor(x *instruction) (run, error) {
	mods := strings.Join(x.mods, ".")
	dim, rest, _ := strings.Cut(strings.TrimPrefix(mods, "async.bulk.tensor."), ".")
	rank, err := strconv.Atoi(strings.TrimSuffix(dim, "d"))
	if err != nil || rank < 1 || rank > 5 || rest != "shared::cluster.global.mbarrier::complete_tx::bytes" {
		return nil, fmt.Errorf("no way to run cp.%s", mods)
	}
	if err := x.want(3); err != nil {
		return nil, err
	}
	d.f.phased = true
	d.f.unit = min(d.f.unit, phaseBytes)
	s := &step{source: x}
	c := &tensorCode{s: s, rank: rank, to: &access{s: s}, barrier: &access{s: s, size: phaseBytes, rows: []int{0}}}
	if c.to.base, c.to.offset, err = d.address(x.args[0], "u32"); err != nil {
		return nil, err
	}
	if c.barrier.base, c.barrier.offset, err = d.address(x.args[2], "u32"); err != nil {
		return nil, err
	}
	descriptor, corner, ok := strings.Cut(strings.TrimSuffix(x.args[1], "]"), ", {")
	if !ok {
		return nil, errors.New("a map and a corner")
	}
	if c.descriptor, c.descriptorPlus, err = d.address(descriptor+"]", "u64"); err != nil {
		return nil, err
	}
	names := vector("{" + corner)
	if len(names) != rank {
		return nil, fmt.Errorf("a corner of %d numbers, not %d", len(names), rank)
	}
	for _, name := range names {
		at, err := d.value(name, "s32")
		if err != nil {
			return nil, err
		}
		c.corner = append(c.corner, at)
	}
	return func(w *warp, m uint32) { w.beginTensor(c, m) }, nil
}

// prefetch decodes prefetch.tensormap.
func (d *decoder) prefetch(x *instruction) (run, error) {
	if strings.Join(x.mods, ".") != "tensormap" {
		return nil, errors.New("only prefetch.tensormap")
	}
	if err := x.want(1); err != nil {
		return nil, err
	}
	s := &step{source: x}
	base, offset, err := d.address(x.args[0], "u64")
	return func(w *warp, m uint32) {
		lane := bits.TrailingZeros32(m) & (lanes - 1)
		if _, err := w.tensorMap(w.rows[base][lane] + offset); err != nil {
			w.fail(s, lane, "%v", err)
		}
	}, err
}

// tensorMap reads a map among the arguments.
func (w *warp) tensorMap(address uint64) (*TensorMap, error) {
	args := w.b.l.Args
	at := address - paramBase
	if at > uint64(len(args)) || uint64(len(args))-at < TensorMapBytes || at%TensorMapAlign != 0 {
		return nil, fmt.Errorf("%#x is no place of a tensor map: only params are, at multiples of %d", address, TensorMapAlign)
	}
	return decodeTensorMap(args[at:][:TensorMapBytes])
}

// beginTensor begins a copy.
func (w *warp) beginTensor(c *tensorCode, m uint32) {
	lane := bits.TrailingZeros32(m) & (lanes - 1)
	if m&(m-1) != 0 {
		w.fail(c.s, lane, "several threads do what one is to do")
		return
	}
	t, err := w.tensorMap(w.rows[c.descriptor][lane] + c.descriptorPlus)
	if err == nil && (len(t.Sizes) != c.rank || t.Swizzle != swizzle128) {
		err = fmt.Errorf("a map of %d axes with swizzle %d", len(t.Sizes), t.Swizzle)
	}
	if err != nil {
		w.fail(c.s, lane, "%v", err)
		return
	}
	op := &tensorCopy{source: c.s, box: t, n: typeBytes[t.Type], at: int(uint32(w.rows[c.to.base][lane]+c.to.offset) - sharedBase)}
	for i, at := range c.corner {
		op.corner = append(op.corner, int64(int32(uint32(w.rows[at][lane]))))
		op.n *= int(t.Box[i])
		if t.Steps[i] != 1 {
			w.fail(c.s, lane, "only boxes without gaps")
		}
	}
	if op.barrier = w.phaseAt(c.barrier, m); op.barrier == nil {
		return
	}
	if err := w.mayCopy(op, lane); err != nil {
		w.fail(c.s, lane, "%v", err)
		return
	}
	op.barrier.coming += op.n
	w.b.shared.arriving(op.at, op.n)
	w.b.bulk = append(w.b.bulk, op)
	w.b.moves++
}

// mayCopy refuses a copy that a GPU would do wrong, now and then or always.
func (w *warp) mayCopy(op *tensorCopy, lane int) error {
	p, s, thread := op.barrier, &w.b.shared, int32(w.number*lanes+lane)
	switch {
	case op.at%128 != 0 || op.at < 0 || op.at+op.n > len(s.data):
		return fmt.Errorf("%d bytes to byte %d of shared memory", op.n, op.at)
	case p.init.clock > w.fenced[p.init.thread/lanes]:
		return errors.New("no fence.proxy.async has been since the barrier was made")
	case p.coming+op.n > p.expected:
		return fmt.Errorf("a copy of %d bytes to a barrier that expects %d, of which %d are on their way", op.n, p.expected, p.coming)
	}
	for u, end := s.units(op.at, op.n); u < end; u++ {
		v := s.writers[u]
		switch {
		case s.busy[u] > 0:
			return fmt.Errorf("a race: byte %d of shared memory is being read by wgmma, which nobody has waited for", u*s.unit)
		case !s.unread(u, w, thread):
			return fmt.Errorf("a race: byte %d of shared memory was read by %s, and nothing has been since that this warp waited for", u*s.unit, who(s.readers[u].thread))
		case !s.before(v, w, thread):
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and nothing has been since that this warp waited for", u*s.unit, v.thread)
		case v.clock > w.fenced[v.thread/lanes]:
			return fmt.Errorf("byte %d of shared memory was written by thread %d, and no fence.proxy.async has been between that and the copy", u*s.unit, v.thread)
		}
	}
	return op.each(func(at int, from uint64, n int) error {
		_, err := w.b.l.Memory.Bytes(from, n)
		if err == nil && w.b.l.Uses != nil {
			w.b.l.Uses(w.b.l.Memory.Begin(from), false)
		}
		return err
	})
}

// each visits what of the box is in the tensor, rows of it, and the place of each
// in the box.
func (op *tensorCopy) each(visit func(at int, from uint64, n int) error) error {
	t := op.box
	size := typeBytes[t.Type]
	row := int(t.Box[0]) * size
	lo, hi := max(0, -op.corner[0]), min(int64(t.Box[0]), int64(t.Sizes[0])-op.corner[0])
	for r := range op.n / row {
		from, inside, left := t.Address+uint64((op.corner[0]+lo)*int64(size)), lo < hi, r
		for i := 1; i < len(t.Sizes); i++ {
			at := op.corner[i] + int64(left%int(t.Box[i]))
			left /= int(t.Box[i])
			inside = inside && at >= 0 && at < int64(t.Sizes[i])
			from += uint64(at) * t.Strides[i-1]
		}
		if !inside {
			continue
		}
		if err := visit(r*row+int(lo)*size, from, int(hi-lo)*size); err != nil {
			return err
		}
	}
	return nil
}

// endCopy does the newest copy.
func (b *block) endCopy() {
	op := b.bulk[len(b.bulk)-1]
	b.bulk = b.bulk[:len(b.bulk)-1]
	s := &b.shared
	clear(s.data[op.at:][:op.n])
	_ = op.each(func(at int, from uint64, n int) error { // it was there when the copy began
		data, err := b.l.Memory.Bytes(from, n)
		for i, v := range data {
			to := sharedBase + op.at + at + i
			s.data[(to^to>>7&7<<4)-sharedBase] = v
		}
		return err
	})
	me := len(b.warps)
	b.async = max(b.async, s.floor) + 1
	for u, end := s.units(op.at, op.n); u < end; u++ {
		s.writers[u] = visit{b.async, int32(me * lanes)}
	}
	p := op.barrier
	p.seen[me], p.fenced[me] = b.async, b.async
	p.expected -= op.n
	p.coming -= op.n
	p.end()
}
