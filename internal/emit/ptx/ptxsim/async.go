package ptxsim

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// copyAsync is a copy from global to shared memory that a lane has begun. It
// takes place when the lane waits for it, as late as it may on a GPU.
type copyAsync struct {
	lane   int
	group  int // how many groups have been closed since it was begun; open: -1
	from   []byte
	at, n  int
	source *step
}

// copyAsync decodes cp.async and what waits for it.
func (d *decoder) copyAsync(x *instruction) (run, error) {
	if !x.has("async") {
		return nil, errors.New("only cp.async")
	}
	s := &step{source: x}
	switch strings.Join(x.mods[1:], ".") {
	case "commit_group":
		return func(w *warp, m uint32) { w.commit(m) }, x.want(0)
	case "wait_all":
		return func(w *warp, m uint32) { w.commit(m); w.finish(s, m, 0) }, x.want(0)
	case "wait_group":
		if err := x.want(1); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(x.args[0])
		return func(w *warp, m uint32) { w.finish(s, m, n) }, err
	case "cg.shared.global", "ca.shared.global":
		return d.beginCopy(x, s)
	}
	return nil, fmt.Errorf("no way to run %s.%s", x.name, strings.Join(x.mods, "."))
}

// beginCopy decodes a copy of n bytes, of which a last operand may say how many
// are read: the others become 0.
func (d *decoder) beginCopy(x *instruction, s *step) (run, error) {
	if len(x.args) != 3 && len(x.args) != 4 {
		return nil, x.want(3)
	}
	n, err := strconv.Atoi(x.args[2])
	if err != nil || n != 16 && (x.has("cg") || n != 4 && n != 8) {
		return nil, fmt.Errorf("no copy of %s bytes", x.args[2])
	}
	to := &access{s: s, size: n, rows: []int{0}}
	if to.base, to.offset, err = d.address(x.args[0], "u32"); err != nil {
		return nil, err
	}
	from := &access{s: s, memory: d.f.loads}
	d.f.loads++
	if from.base, from.offset, err = d.address(x.args[1], "u64"); err != nil {
		return nil, err
	}
	size := d.constant(uint64(n))
	if len(x.args) == 4 {
		if size, err = d.value(x.args[3], "u32"); err != nil {
			return nil, err
		}
	}
	d.f.unit = min(d.f.unit, n)
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & (lanes - 1)
			b := to.bytes(w, lane, true)
			if b == nil {
				return
			}
			c := &copyAsync{lane: lane, group: -1, n: n, source: s}
			c.at = int(uint32(w.rows[to.base][lane]+to.offset) - sharedBase)
			read := w.rows[size][lane]
			address := w.rows[from.base][lane] + from.offset
			switch {
			case read > uint64(n):
				w.fail(s, lane, "a copy of %d bytes that reads %d", n, read)
				return
			case address%uint64(n) != 0:
				w.fail(s, lane, "%d bytes at %#x, which is no multiple of that", n, address)
				return
			case read == 0: // nothing is read, wherever it is
			case read&(read-1) == 0:
				c.from = from.find(w, lane, address, int(read), false)
			default:
				if c.from = from.find(w, lane, address, 1, false); c.from != nil {
					c.from = from.find(w, lane, address+read-1, 1, false)
				}
				if c.from != nil {
					c.from, _ = w.b.l.Memory.Bytes(address, int(read))
				}
			}
			if w.fault != nil {
				return
			}
			w.b.shared.arriving(c.at, n)
			w.copies = append(w.copies, c)
		}
	}, nil
}

// commit closes the group of copies that the lanes have begun.
func (w *warp) commit(m uint32) {
	for _, c := range w.copies {
		if m>>c.lane&1 != 0 {
			c.group++
		}
	}
}

// finish does the copies of the lanes but those of the newest n groups.
func (w *warp) finish(s *step, m uint32, n int) {
	var kept []*copyAsync
	for _, c := range w.copies {
		if m>>c.lane&1 == 0 || c.group < n {
			kept = append(kept, c)
			continue
		}
		if err := w.b.shared.write(c.at, c.n, w, int32(w.number*lanes+c.lane)); err != nil {
			w.fail(s, c.lane, "%v", err)
			return
		}
		clear(w.b.shared.data[c.at:][:c.n])
		copy(w.b.shared.data[c.at:][:c.n], c.from)
	}
	w.copies = kept
}
