package ptx

import "fmt"

// dynamicShared is the name of the shared memory that a launch gives.
const dynamicShared = "dynamic"

// phasesStep is the bytes of two barriers: for a stage that is full, and for one
// that is free.
const phasesStep = 16

// ring is stages in the shared memory of a launch, which threads fill and groups of
// warps multiply in turns. Barriers of phases tell which stages are full and which
// may be filled again; nobody waits for the whole block.
type ring struct {
	b           *builder
	count, each int    // stages, and bytes of one
	stages      string // address
	phases      string // address of the barriers, behind all stages
}

// slot is a stage in registers: its address, that of its barriers, and the parity
// of the phase to wait for.
type slot struct{ stage, phase, parity string }

// ringBytes is what so many stages take up.
func ringBytes(count, bytes int) int { return count*(bytes+phasesStep) + patternLen }

// newRing begins at a multiple of patternLen.
func (b *builder) newRing(count, bytes int) ring {
	r := ring{b: b, count: count, each: bytes}
	r.stages = b.op(words, "add.u32", b.op(words, "mov.u32", dynamicShared), fmt.Sprint(patternLen-1))
	r.stages = b.op(words, "and.b32", r.stages, fmt.Sprint(-patternLen))
	r.phases = b.op(words, "add.u32", r.stages, fmt.Sprint(count*bytes))
	return r
}

// open makes the barriers: how many threads say that a stage is full, and that it
// is free. One thread does that.
func (r *ring) open(full string, free int) {
	for i := range r.count {
		r.b.line("mbarrier.init.shared.b64 [%s+%d], %s", r.phases, i*phasesStep, full)
		r.b.line("mbarrier.init.shared.b64 [%s+%d], %d", r.phases, i*phasesStep+phasesStep/2, free)
	}
}

// close gives their memory back.
func (r *ring) close() {
	for i := range 2 * r.count {
		r.b.line("mbarrier.inval.shared.b64 [%s+%d]", r.phases, i*phasesStep/2)
	}
}

// slot is the first stage, and the parity of the first phase that is waited for.
func (r *ring) slot(parity int) slot {
	return slot{r.b.op(words, "mov.u32", r.stages), r.b.op(words, "mov.u32", r.phases), r.b.op(words, "mov.u32", fmt.Sprint(parity))}
}

// next goes on to the stage behind, which is the first behind the last.
func (r *ring) next(s slot) {
	r.b.line("add.u32 %s, %s, %d", s.stage, s.stage, r.each)
	r.b.line("add.u32 %s, %s, %d", s.phase, s.phase, phasesStep)
	last := r.b.op(predicates, "setp.eq.u32", s.phase, r.b.op(words, "add.u32", r.phases, fmt.Sprint(r.count*phasesStep)))
	r.b.line("@%s mov.u32 %s, %s", last, s.stage, r.stages)
	r.b.line("@%s mov.u32 %s, %s", last, s.phase, r.phases)
	r.b.line("@%s xor.b32 %s, %s, 1", last, s.parity, s.parity)
}

// await waits until the phase of a parity has ended; the barrier is that of
// stages that are full, or free.
func (r *ring) await(s slot, free bool) {
	again := r.b.label()
	r.b.mark(again)
	p := r.b.reg(predicates)
	r.b.line("mbarrier.try_wait.parity.shared.b64 %s, [%s+%d], %s", p, s.phase, phaseOf(free), s.parity)
	r.b.line("@!%s bra %s", p, again)
}

// arrive says that a stage is full, or free.
func (r *ring) arrive(guard, phase string, free bool) {
	r.b.line("%smbarrier.arrive.shared.b64 %s, [%s+%d]", guard, r.b.reg(longs), phase, phaseOf(free))
}

func phaseOf(free bool) int {
	if free {
		return phasesStep / 2
	}
	return 0
}
