package ptxsim

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// phaseBarrier is an mbarrier: a phase ends when as many threads as it counts
// have arrived, and the next begins. Who waits for a phase learns what those knew
// who arrived in it, no more.
type phaseBarrier struct {
	count, left int
	// Bytes that copies are to bring before the phase ends, and those of them that
	// are on their way.
	expected, coming int
	phase            uint32
	init             visit
	// What arriving threads knew, in the phase that goes on and up to the last
	// that ended: see clocks.go.
	seen, fenced         []uint32
	doneSeen, doneFenced []uint32
}

const phaseBytes = 8

// fence decodes fence.proxy.async.
func (d *decoder) fence(x *instruction) (run, error) {
	if m := strings.Join(x.mods, "."); m != "proxy.async" && m != "proxy.async.shared::cta" {
		return nil, errors.New("only fence.proxy.async")
	}
	d.f.phased = true
	s := &step{source: x}
	return func(w *warp, m uint32) {
		if w.together(s, m) {
			w.fence()
		}
	}, x.want(0)
}

// phase decodes what is done with barriers of phases.
func (d *decoder) phase(x *instruction) (run, error) {
	d.f.phased = true
	d.f.unit = min(d.f.unit, phaseBytes)
	at, wanted := 0, 2
	tell := false // of bytes to come
	switch mods := strings.Join(x.mods, "."); mods {
	case "init.shared.b64":
	case "inval.shared.b64":
		wanted = 1
	case "arrive.shared.b64":
		at = 1
	case "arrive.expect_tx.shared.b64":
		at, wanted, tell = 1, 3, true
	case "expect_tx.relaxed.cta.shared::cta.b64":
		tell = true
	case "try_wait.parity.shared.b64":
		at, wanted = 1, 3
	default:
		return nil, fmt.Errorf("no way to run mbarrier.%s", mods)
	}
	if err := x.want(wanted); err != nil {
		return nil, err
	}
	a := &access{s: &step{source: x}, size: phaseBytes, rows: []int{0}}
	var err error
	if a.base, a.offset, err = d.address(x.args[at], "u32"); err != nil {
		return nil, err
	}
	bytes := d.constant(0)
	if tell {
		if bytes, err = d.value(x.args[at+1], "u32"); err != nil {
			return nil, err
		}
	}
	switch x.mods[0] {
	case "expect_tx":
		return func(w *warp, m uint32) { w.expect(a, m, bytes) }, nil
	case "init":
		count, err := d.value(x.args[1], "u32")
		return func(w *warp, m uint32) { w.makePhase(a, m, count, true) }, err
	case "inval":
		return func(w *warp, m uint32) { w.makePhase(a, m, 0, false) }, nil
	case "arrive":
		_, err := d.register(x.args[0], "b64") // the state, which nobody asks for
		return func(w *warp, m uint32) {
			if !tell || w.expect(a, m, bytes) {
				w.arrive(a, m)
			}
		}, err
	}
	p, err := d.predicate(x.args[0])
	if err != nil {
		return nil, err
	}
	parity, err := d.value(x.args[2], "u32")
	return func(w *warp, m uint32) { w.awaitPhase(a, m, p, parity) }, err
}

// makePhase makes a barrier, or ends it.
func (w *warp) makePhase(a *access, m uint32, count int, begin bool) {
	lane := bits.TrailingZeros32(m)
	if m&(m-1) != 0 {
		w.fail(a.s, lane, "several threads do what one is to do")
		return
	}
	b := a.bytes(w, lane, true)
	if b == nil {
		return
	}
	at := int(uint32(w.rows[a.base][lane]+a.offset) - sharedBase)
	if there := w.b.phases[at] != nil; there == begin {
		w.fail(a.s, lane, "is there a barrier at byte %d of shared memory: %v", at, there)
		return
	}
	if !begin {
		if w.b.phases[at].expected > 0 {
			w.fail(a.s, lane, "the barrier still expects %d bytes", w.b.phases[at].expected)
		}
		delete(w.b.phases, at)
		return
	}
	n := int(w.rows[count][lane])
	if n < 1 || n >= 1<<20 {
		w.fail(a.s, lane, "a barrier of %d threads", n)
		return
	}
	warps := len(w.b.warps) + 1
	w.b.phases[at] = &phaseBarrier{count: n, left: n, init: visit{w.clock, int32(w.number*lanes + lane)},
		seen: make([]uint32, warps), fenced: make([]uint32, warps), doneSeen: make([]uint32, warps), doneFenced: make([]uint32, warps)}
}

// phaseAt finds the barrier that the lanes of m name, which is one.
func (w *warp) phaseAt(a *access, m uint32) *phaseBarrier {
	lane := bits.TrailingZeros32(m)
	address := uint32(w.rows[a.base][lane] + a.offset)
	for left := m; left != 0; left &= left - 1 {
		if other := bits.TrailingZeros32(left); uint32(w.rows[a.base][other]+a.offset) != address {
			w.fail(a.s, other, "threads of a warp name several barriers")
			return nil
		}
	}
	p := w.b.phases[int(address)-sharedBase]
	switch {
	case p == nil:
		w.fail(a.s, lane, "there is no barrier at %d of shared memory", int(address)-sharedBase)
		return nil
	case !w.b.shared.before(p.init, w, int32(w.number*lanes+lane)):
		w.fail(a.s, lane, "a race: thread %d has made the barrier, and nothing has been since that all wait at", p.init.thread)
		return nil
	}
	return p
}

// arrive tells what the warp has done: if all its lanes arrive, up to now, else up
// to when they were last together.
func (w *warp) arrive(a *access, m uint32) {
	p := w.phaseAt(a, m)
	if p == nil {
		return
	}
	learn(p.seen, w.seen)
	learn(p.fenced, w.fenced)
	p.seen[w.number] = max(p.seen[w.number], w.clock-1)
	if m == ^uint32(0) {
		p.seen[w.number] = w.clock
		w.tick()
	}
	w.b.moves++
	if p.left -= bits.OnesCount32(m); p.left < 0 {
		w.fail(a.s, bits.TrailingZeros32(m), "more threads arrive than the %d that the barrier counts", p.count)
		return
	}
	p.end()
}

// end ends the phase if nothing is missing.
func (p *phaseBarrier) end() {
	if p.left > 0 || p.expected > 0 {
		return
	}
	learn(p.doneSeen, p.seen)
	learn(p.doneFenced, p.fenced)
	p.phase, p.left = p.phase+1, p.count
}

// mostBytes is how many a barrier counts.
const mostBytes = 1<<20 - 1

// expect has the phase not end before copies have brought so many bytes.
func (w *warp) expect(a *access, m uint32, bytes int) bool {
	p := w.phaseAt(a, m)
	if p == nil {
		return false
	}
	for left := m; left != 0; left &= left - 1 {
		n := w.rows[bytes][bits.TrailingZeros32(left)]
		if n > uint64(mostBytes-p.expected) {
			w.fail(a.s, bits.TrailingZeros32(left), "%d bytes more than a barrier counts", n)
			return false
		}
		p.expected += int(n)
	}
	w.b.moves++
	return true
}

// awaitPhase tells whether the phase of a parity has ended. If not, others have
// their turn.
func (w *warp) awaitPhase(a *access, m uint32, to, parity int) {
	if !w.together(a.s, m) {
		return
	}
	p := w.phaseAt(a, m)
	if p == nil {
		return
	}
	want := uint32(w.rows[parity][0])
	for lane, v := range w.rows[parity] {
		if want > 1 || v != uint64(want) {
			w.fail(a.s, lane, "the parity %d", v)
			return
		}
	}
	w.preds[to] = 0
	if p.phase&1 == want {
		w.polled = true
		return
	}
	w.preds[to] = ^uint32(0)
	learn(w.seen, p.doneSeen)
	learn(w.fenced, p.doneFenced)
	w.b.moves++
}
