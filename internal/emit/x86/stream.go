package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// A plain store first reads the line that it changes, so that a kernel bound by
// memory moves a third more bytes than it has to, or half as many again. A
// streaming store (VMOVNTPS) of whole lines does not, but what it wrote is then
// in memory, not in a cache: it pays for results too large for the caches. Parts
// of lines cost more than they save, and the instruction needs an aligned
// address: a loop streams if its registers fill lines by the form of the index.

// StreamAlign is what the addresses of params that stream are multiples of: the
// size of a line.
const StreamAlign = 64

// lineElems is the 32-bit elements of a line.
const lineElems = StreamAlign / 4

// EmitStreaming is Emit, and gives the code a second time with streaming stores
// to Streams; nil where there is nothing to stream. Both forms take the same
// arguments and leave the same bits. Registers are given out once for both.
func EmitStreaming(k *loop.Kernel, isa ISA) (plain, streaming *Code, err error) {
	return emit(k, isa, emitOptions{stream: true})
}

// SumsLike tells whether c accumulates in the order of another code of the same
// loops. Locals of c stand for the others that named gives, or are the same.
func (c *Code) SumsLike(other *Code, named map[*loop.Local]*loop.Local) bool {
	for l, n := range c.chains {
		if named[l] != nil {
			l = named[l]
		}
		if m, ok := other.chains[l]; !ok || m != n || n == mixedChains {
			return false
		}
	}
	return true
}

// mixedChains is of a local that two loops accumulate in different ways.
const mixedChains = -1

// accumulates notes how the Vector loop l reduces: into so many registers, and
// what is left over as its plan says.
func (e *emitter) accumulates(l *loop.Loop, copies int) {
	n := copies<<2 | int(e.plan[l])
	for _, a := range native.ReducedBy(l) {
		if m, ok := e.chains[a.Local]; ok && m != n {
			n = mixedChains
		}
		e.chains[a.Local] = n
	}
}

// onlyWritten are the params that the kernel writes and never reads.
func (e *emitter) onlyWritten() uint64 {
	var read, written uint64
	for _, n := range e.Graph.ByKey {
		read |= n.Deps.Params
	}
	for i, p := range e.Kernel.Params {
		if p.Use == loop.Write {
			written |= e.Graph.ParamBit(i)
		}
	}
	return written &^ read
}

// mayStream tells whether the copies of a full register at access a, whose lanes
// lie one after the other, are whole lines if the param begins at one.
func (e *emitter) mayStream(param int, a native.Access) bool {
	bit := e.Graph.ParamBit(param)
	if e.streamable&bit == 0 || e.Lanes.Copies*e.wide()%lineElems != 0 {
		return false
	}
	lane := e.Scopes[e.Lanes.Level].Loop
	rest := a.Index.Plus(native.Atom(e.Graph.Node(lane.Var.Ref())), -1)
	if lane.Lo != nil {
		rest = rest.Plus(e.Graph.PolyOf(e.Graph.Node(lane.Lo)), 1)
	}
	if !rest.MultipleOf(lineElems) {
		return false
	}
	e.streams |= bit
	return true
}

// stream has the writer assemble list anew, with streaming stores.
func (w *writer) stream(list []*inst) {
	w.streaming = true
	w.a = asm.New(w.e.isa)
	last := asm.Label(0)
	for _, in := range list {
		for last < in.label {
			last = w.a.NewLabel()
		}
	}
}
