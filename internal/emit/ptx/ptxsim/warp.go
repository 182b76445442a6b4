package ptxsim

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// lanes are the threads of a warp.
const lanes = 32

// row is a register in all lanes; one of fewer than 64 bits is zero-extended.
type row [lanes]uint64

// flow says what an instruction does to the order of instructions.
type flow uint8

const (
	goesOn flow = iota
	branches
	exits
	waits // at the block's barrier
)

// step is a decoded instruction. run executes it in the lanes of a mask.
type step struct {
	flow   flow
	guard  int // a predicate, -1: none
	not    bool
	to     int // where a branch goes
	run    func(w *warp, m uint32)
	source *instruction
}

// group is lanes that wait to go on at a step.
type group struct {
	pc   int
	mask uint32
}

// warp is 32 threads. Those that go different ways take turns, those furthest
// behind first: code whose joins lie behind its forks joins there again.
type warp struct {
	b      *block
	number int // in the block
	rows   []row
	preds  []uint32
	copies []*copyAsync // begun, by the order in which they were
	spare  row
	alive  uint32 // lanes that have not ended
	group         // those whose turn it is
	others []group
	fault  *Fault

	waiting bool // at the barrier of the block
	polled  bool // a phase has not ended: it is the others' turn
	clock   uint32
	seen    []uint32 // of other warps, see clocks.go
	fenced  []uint32
	wgmma   wgmmaState
}

// budget is the steps after which a warp looks whether the run was given up.
const budget = 1 << 14

// run goes on until all lanes wait or have ended, or ask for a phase that has not
// ended.
func (w *warp) run() {
	code := w.b.f.code
	for left := budget; w.fault == nil; left-- {
		if left == 0 {
			if err := w.b.ctx.Err(); err != nil {
				w.fail(&code[w.pc], 0, "given up: %v", err)
				return
			}
			left = budget
		}
		s := &code[w.pc]
		m := w.mask
		if s.guard >= 0 {
			if p := w.preds[s.guard]; s.not {
				m &^= p
			} else {
				m &= p
			}
		}
		switch s.flow {
		case goesOn:
			if m != 0 {
				s.run(w, m)
			}
			w.pc++
			if w.polled {
				w.polled = false
				return
			}
		case branches:
			w.branch(m, s.to)
		case exits:
			w.alive &^= m
			w.b.moves++
			switch {
			case len(w.wgmma.begun) > 0:
				w.fail(s, 0, "this thread ends before its products")
			case slices.ContainsFunc(w.copies, func(c *copyAsync) bool { return m>>c.lane&1 != 0 }):
				w.fail(s, bits.TrailingZeros32(m), "this thread ends before its copies")
			}
			if w.mask &^= m; w.mask != 0 {
				w.pc++
			} else if !w.another() {
				return
			}
		case waits:
			if m != w.alive {
				w.fail(s, bits.TrailingZeros32(w.alive&^m), "this thread is not at the barrier that others of its warp wait at")
			}
			w.waiting = true
			w.b.moves++
			return
		}
		if len(w.others) > 0 {
			w.join()
		}
	}
}

// branch sends the lanes of m elsewhere.
func (w *warp) branch(m uint32, to int) {
	switch rest := w.mask &^ m; {
	case rest == 0:
		w.pc = to
	case m == 0:
		w.pc++
	default:
		w.others = append(w.others, group{to, m})
		w.group = group{w.pc + 1, rest}
		w.join()
	}
}

// another takes the next group; it is false where there is none.
func (w *warp) another() bool {
	if len(w.others) == 0 {
		return false
	}
	sort.Slice(w.others, func(i, j int) bool { return w.others[i].pc < w.others[j].pc })
	w.group, w.others = w.others[0], w.others[1:]
	return true
}

// join makes lanes at one step go together and lets those furthest behind go
// first.
func (w *warp) join() {
	kept := w.others[:0]
	for _, g := range w.others {
		if g.pc == w.pc {
			w.mask |= g.mask
			continue
		}
		if g.pc < w.pc {
			g, w.group = w.group, g
		}
		kept = append(kept, g)
	}
	w.others = kept
	for i := 0; i < len(w.others); i++ { // of those that were passed over
		if g := w.others[i]; g.pc == w.pc {
			w.mask |= g.mask
			w.others = append(w.others[:i], w.others[i+1:]...)
			i--
		}
	}
}

// fail keeps the first error.
func (w *warp) fail(s *step, lane int, format string, args ...any) {
	if w.fault == nil {
		w.fault = &Fault{
			Kernel: w.b.f.Name, Line: s.source.line, Text: s.source.text, Block: w.b.id,
			Thread: w.number*lanes + lane, What: fmt.Sprintf(format, args...),
		}
	}
}

// result is where an instruction writes: the register, or, if not all lanes
// take part, a row that keep merges.
func (w *warp) result(d int, m uint32) *row {
	if m == ^uint32(0) {
		return &w.rows[d]
	}
	return &w.spare
}

// keep ends what result began.
func (w *warp) keep(d int, m uint32) {
	if m == ^uint32(0) {
		return
	}
	for to := &w.rows[d]; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to[i] = w.spare[i]
	}
}
