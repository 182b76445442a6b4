package ptxsim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A group of four warps multiplies matrices in shared memory: each warp has 16
// of the 64 rows. That goes on beside the threads until they wait for it. Here it
// takes place when they do, as late as it may on a GPU; sums hold no numbers
// meanwhile, and who writes to a matrix fails.

// wgmmaCall is what the four warps have to agree on.
type wgmmaCall struct {
	source *instruction
	x, y   uint64 // descriptors
	add    bool   // to the sums
}

// wgmmaOp is a product that a warp has begun.
type wgmmaOp struct {
	*wgmmaCode
	wgmmaCall
	group int   // how many groups have been closed since; open: -1
	sums  []row // of the chain that it belongs to
	held  []row // X, where registers hold it
}

// wgmmaState is that of a warp.
type wgmmaState struct {
	begun  []wgmmaOp
	calls  int
	fenced []row // the function's sums when wgmma.fence was last; nil: not since a group was closed
}

// wgmmaCode is a decoded wgmma.mma_async.
type wgmmaCode struct {
	s       *step
	product       // of a warp's 16 rows with 8 columns
	cols    int   // of Y
	regs    []int // of the sums
	regsX   []int // of X, if it has no descriptor
	atX     int   // rows of descriptors
	atY     int
	turned  [2]bool // X and Y lie with rows and columns side by side, not k
	addWhen int     // predicate
}

// noNumber is what sums hold until their products have been waited for.
const noNumber = 0x7fbadbad

// wgmma decodes wgmma.
func (d *decoder) wgmma(x *instruction) (run, error) {
	d.f.phased = true
	s := &step{source: x}
	switch mods := strings.Join(x.mods, "."); {
	case mods == "fence.sync.aligned":
		return func(w *warp, m uint32) {
			if w.together(s, m) {
				w.fenceSums()
			}
		}, x.want(0)
	case mods == "commit_group.sync.aligned":
		return func(w *warp, m uint32) {
			if w.together(s, m) {
				w.commitProducts()
			}
		}, x.want(0)
	case mods == "wait_group.sync.aligned":
		if err := x.want(1); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(x.args[0])
		return func(w *warp, m uint32) {
			if w.together(s, m) {
				w.awaitProducts(n)
			}
		}, err
	case strings.HasPrefix(mods, "mma_async.sync.aligned."):
		return d.wgmmaProduct(x, s)
	}
	return nil, fmt.Errorf("no way to run wgmma.%s", strings.Join(x.mods, "."))
}

// wgmmaProduct decodes mma_async.sync.aligned.SHAPE.D.X.Y of two descriptors, or of
// registers that hold X and one.
func (d *decoder) wgmmaProduct(x *instruction, s *step) (run, error) {
	if len(x.mods) != 7 {
		return nil, errors.New("a shape and three types")
	}
	a, okA := elements[x.mods[5]]
	b, okB := elements[x.mods[6]]
	c := &wgmmaCode{s: s, product: product{bits: a.bits, floats: x.mods[4] == "f32", rows: 16, a: a, b: b}}
	rows := 0
	_, err := fmt.Sscanf(x.mods[3], "m%dn%dk%d", &rows, &c.cols, &c.k)
	half := c.floats && a.bits == 16 && x.mods[5] == x.mods[6]
	bytes := x.mods[4] == "s32" && a.bits == 8 && b.bits == 8
	if err != nil || !okA || !okB || rows != 64 || c.cols < 8 || c.cols > 256 || c.cols%8 != 0 || c.k*c.bits != 256 || !half && !bytes {
		return nil, fmt.Errorf("no way to run wgmma of %s", strings.Join(x.mods[3:], "."))
	}
	if mixed := x.mods[5] != x.mods[6]; mixed && d.since(8.4) != nil {
		return nil, d.since(8.4)
	}
	held := half && len(x.args) > 1 && strings.HasPrefix(x.args[1], "{")
	wanted, kind := 4, "b32"
	switch {
	case held: // which lies by k
		wanted, kind = 7, "f32"
	case half:
		wanted, kind = 8, "f32"
	}
	if err := x.want(wanted); err != nil {
		return nil, err
	}
	if c.regs, err = d.registersOf(x.args[0], kind, c.cols/2); err != nil {
		return nil, err
	}
	if held {
		c.regsX, err = d.registersOf(x.args[1], "b32", 4)
	} else {
		c.atX, err = d.register(x.args[1], "b64")
	}
	if err != nil {
		return nil, err
	}
	if c.atY, err = d.register(x.args[2], "b64"); err != nil {
		return nil, err
	}
	if c.addWhen, err = d.predicate(x.args[3]); err != nil {
		return nil, err
	}
	if half {
		if x.args[4] != "1" || x.args[5] != "1" {
			return nil, errors.New("only operands as they are")
		}
		turns := x.args[6:]
		for i := range turns {
			at := 2 - len(turns) + i
			if c.turned[at] = turns[i] == "1"; !c.turned[at] && turns[i] != "0" {
				return nil, errors.New("an operand is turned by 1, or not by 0")
			}
		}
	}
	for _, r := range slices.Concat(c.regs, c.regsX) {
		if !slices.Contains(d.f.sums, r) {
			d.f.sums = append(d.f.sums, r)
		}
	}
	return func(w *warp, m uint32) {
		if w.together(s, m) {
			w.beginProduct(c)
		}
	}, nil
}

// fenceSums orders what the warp did to registers before what comes.
func (w *warp) fenceSums() {
	w.wgmma.fenced = make([]row, len(w.b.f.sums))
	for i, at := range w.b.f.sums {
		w.wgmma.fenced[i] = w.rows[at]
	}
	w.tick()
}

// commitProducts closes the group of what was begun.
func (w *warp) commitProducts() {
	for i := range w.wgmma.begun {
		w.wgmma.begun[i].group++
	}
	w.wgmma.fenced = nil
	w.tick()
}

// beginProduct begins one.
func (w *warp) beginProduct(c *wgmmaCode) {
	op := wgmmaOp{wgmmaCode: c, wgmmaCall: wgmmaCall{source: c.s.source, y: w.rows[c.atY][0], add: w.preds[c.addWhen] != 0}, group: -1}
	if c.regsX == nil {
		op.x = w.rows[c.atX][0]
	}
	for lane := range lanes {
		if c.regsX == nil && w.rows[c.atX][lane] != op.x || w.rows[c.atY][lane] != op.y || w.preds[c.addWhen]>>lane&1 != 0 != op.add {
			w.fail(c.s, lane, "threads of a warp have different operands")
			return
		}
	}
	if err := w.alike(op.wgmmaCall); err != nil {
		w.fail(c.s, 0, "%v", err)
		return
	}
	if op.sums = w.chain(c); op.sums == nil {
		return
	}
	for _, at := range c.regsX {
		if !w.isFenced(at) {
			w.fail(c.s, 0, "registers of X were used, and no wgmma.fence has been since")
			return
		}
		op.held = append(op.held, w.rows[at])
	}
	err := op.each(w, func(at, _, _, _ int) error { return w.b.shared.beginAsync(at, 16, w) })
	if err != nil {
		w.fail(c.s, 0, "%v", err)
		return
	}
	w.wgmma.begun = append(w.wgmma.begun, op)
	w.tick()
}

// alike fails unless the warp does what the first of its four did.
func (w *warp) alike(call wgmmaCall) error {
	four := w.number / 4
	if 4*four+4 > len(w.b.warps) {
		return errors.New("a group of fewer than four warps")
	}
	n := w.wgmma.calls
	w.wgmma.calls++
	if n == len(w.b.called[four]) {
		w.b.called[four] = append(w.b.called[four], call)
	}
	if w.b.called[four][n] != call {
		return errors.New("the four warps of a group multiply different matrices")
	}
	return nil
}

// chain is the sums that a product adds to: those of the products before it, or
// what the registers hold, which nothing but a fence may have come after.
func (w *warp) chain(c *wgmmaCode) []row {
	for i := len(w.wgmma.begun) - 1; i >= 0; i-- {
		if op := w.wgmma.begun[i]; slices.Equal(op.regs, c.regs) {
			return op.sums
		} else if slices.ContainsFunc(c.regs, func(r int) bool { return slices.Contains(op.regs, r) }) {
			w.fail(c.s, 0, "a product has some sums of another that was not waited for")
			return nil
		}
	}
	sums := make([]row, len(c.regs))
	for i, at := range c.regs {
		if !w.isFenced(at) {
			w.fail(c.s, 0, "registers of sums were used, and no wgmma.fence has been since")
			return nil
		}
		sums[i] = w.rows[at]
		for lane := range lanes {
			w.rows[at][lane] = noNumber
		}
	}
	return sums
}

// isFenced tells whether a register is as it was at the last wgmma.fence.
func (w *warp) isFenced(at int) bool {
	return w.wgmma.fenced != nil && w.wgmma.fenced[slices.Index(w.b.f.sums, at)] == w.rows[at]
}

// awaitProducts does the products but those of the newest n groups.
func (w *warp) awaitProducts(n int) {
	var left []wgmmaOp
	for _, op := range w.wgmma.begun {
		if op.group < n {
			left = append(left, op)
			continue
		}
		for i, at := range op.regsX {
			if w.rows[at] != op.held[i] {
				w.fail(op.s, 0, "registers of X were written to before the product was waited for")
			}
		}
		op.run(w)
		_ = op.each(w, func(at, _, _, _ int) error { w.b.shared.endAsync(at, 16, w); return nil })
	}
	for _, op := range w.wgmma.begun {
		if slices.ContainsFunc(left, func(other wgmmaOp) bool { return &other.sums[0] == &op.sums[0] }) {
			continue
		}
		for i, at := range op.regs {
			w.rows[at] = op.sums[i]
		}
	}
	w.wgmma.begun = left
	w.tick()
}

// beginAsync notes that wgmma begins to read n bytes: what is there was written
// before, by who has fenced it.
func (s *sharedMemory) beginAsync(at, n int, w *warp) error {
	for u, end := s.units(at, n); u < end; u++ {
		v := s.writers[u]
		switch by := int(v.thread) / lanes; {
		case !s.before(v, w, everyone):
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and nothing tells this warp of that", u*s.unit, v.thread)
		case v.clock == 0 || v.clock > w.fenced[by]:
			return fmt.Errorf("byte %d of shared memory was written by thread %d, and no fence.proxy.async has been between that and wgmma", u*s.unit, v.thread)
		}
		s.busy[u]++
	}
	return nil
}

// endAsync notes that it has.
func (s *sharedMemory) endAsync(at, n int, w *warp) {
	for u, end := s.units(at, n); u < end; u++ {
		s.busy[u]--
		s.noteAsync(u, w)
	}
}

// noteAsync remembers a read by the whole warp.
func (s *sharedMemory) noteAsync(u int, w *warp) {
	if s.readers[u].clock <= s.floor {
		s.readers[u] = visit{0, everyone}
	}
	s.noteRead(u, w, everyone)
}
