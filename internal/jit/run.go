package jit

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
)

// run is one call of RunSteps on several workers.
//
// A worker claims a task by adding one to cursor, which holds the step in its
// upper half and the next task in its lower: so a claim always belongs to the
// step that is current at that moment, and a helper that comes late, or after the
// end, finds nothing to take. The worker that does the last task of a step moves
// the cursor on. That is the barrier: it waits for tasks, never for workers.
type run struct {
	pool    *Pool
	steps   []Step
	counts  []uint32        // tasks of each step
	done    <-chan struct{} // of ctx; nil if it cannot end
	ctx     context.Context
	threads int
	procs   int           // GOMAXPROCS when the run began
	free    []int         // worker numbers nobody has; guarded by pool.mu
	listed  atomic.Bool   // in pool.short, or about to be; written under pool.mu
	wake    chan struct{} // holds one: sent by whoever turns parked to false

	present atomic.Int32 // workers, the caller included
	coming  atomic.Int32 // helpers that were woken and have not arrived
	yielded atomic.Int32 // how often a worker let them in
	parked  atomic.Bool  // the caller sleeps until the cursor moves on
	err     atomic.Pointer[error]

	_        cacheLine
	cursor   atomic.Uint64
	_        cacheLine
	finished atomic.Uint32 // tasks of the current step
	_        cacheLine
	shares   []share // of the current step, by worker
}

// cacheLine keeps what follows off the line of what precedes it; x86 fetches
// lines in pairs.
type cacheLine [128]byte

const stepShift = 32

// countTasks asks each step for its tasks.
func countTasks(steps []Step) (counts []uint32, most int, err error) {
	counts = make([]uint32, len(steps))
	for i, s := range steps {
		n := s.Tasks()
		if n < 0 || n > math.MaxInt32 {
			return nil, 0, fmt.Errorf("jit: step %d has %d tasks; split it", i, n)
		}
		counts[i] = uint32(n)
		most = max(most, n)
	}
	return counts, most, nil
}

func newRun(ctx context.Context, p *Pool, steps []Step, counts []uint32, threads, procs int) *run {
	r := &run{
		pool: p, steps: steps, counts: counts, ctx: ctx, done: ctx.Done(),
		threads: threads, procs: procs,
		free: make([]int, threads-1), wake: make(chan struct{}, 1), shares: make([]share, threads),
	}
	for i := range r.free {
		r.free[i] = threads - 1 - i // the lowest is taken first
	}
	r.present.Store(1)
	return r
}

// lead does the run as its caller.
func (r *run) lead() error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r.begin(0)
	r.work(0, true)
	if r.listed.Load() {
		r.pool.forget(r)
	}
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

// join gives a worker number to a helper, under pool.mu. There is one: no run
// asks for more workers than threads.
func (r *run) join() (worker int) {
	last := len(r.free) - 1
	worker = r.free[last]
	r.free = r.free[:last]
	r.present.Add(1)
	return worker
}

// leave takes the number back, under pool.mu.
func (r *run) leave(worker int) {
	r.free = append(r.free, worker)
	r.present.Add(-1)
}

// ended reports whether no task will be taken any more.
func (r *run) ended() bool { return int(r.cursor.Load()>>stepShift) == len(r.steps) }

// hasTasks reports whether the current step has tasks that nobody took.
func (r *run) hasTasks() bool {
	c := r.cursor.Load()
	step := int(c >> stepShift)
	return step < len(r.steps) && uint32(c) < r.counts[step]
}

// begin makes step current, or the next that has tasks, or the end, and calls
// for the workers it can use.
func (r *run) begin(step int) {
	for step < len(r.steps) && r.counts[step] == 0 {
		step++
	}
	if r.err.Load() != nil {
		step = len(r.steps)
	}
	r.finished.Store(0)
	for i := range r.shares {
		r.shares[i].taken.Store(0)
	}
	r.cursor.Store(uint64(step) << stepShift)
	if r.parked.CompareAndSwap(true, false) {
		wake(r.wake)
	}
	if step < len(r.steps) {
		r.pool.recruit(r, min(r.threads, int(r.counts[step])))
	}
}

// work does tasks until the run has ended, which it says, or, for a helper,
// until there was nothing to do for a while.
func (r *run) work(worker int, leader bool) (ended bool) {
	for {
		c := r.cursor.Load()
		step := int(c >> stepShift)
		if step == len(r.steps) {
			return true
		}
		if uint32(c) >= r.counts[step] {
			if !r.await(step, leader) {
				return false
			}
			continue
		}
		if r.coming.Load() > 0 && r.yielded.Load() < mostYields {
			r.yielded.Add(1)
			r.pool.letIn(yieldCPU)
		}
		// The look above keeps the lower half from overflowing: each worker
		// adds in vain at most once a step.
		c = r.cursor.Add(1) - 1
		step = int(c >> stepShift)
		if step == len(r.steps) || uint32(c) >= r.counts[step] {
			continue
		}
		if r.err.Load() == nil {
			if err := r.do(step, worker, r.deal(worker, step)); err != nil {
				r.fail(err)
			}
		}
		if r.finished.Add(1) == r.counts[step] {
			r.begin(step + 1)
		}
	}
}

// fail ends the run with err, if it is the first.
func (r *run) fail(err error) { r.err.CompareAndSwap(nil, &err) }

func (r *run) do(step, worker, task int) (err error) {
	if r.done != nil {
		select {
		case <-r.done:
			return context.Cause(r.ctx)
		default:
		}
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	return r.steps[step].Do(worker, task)
}

// await returns true once another step is current. A helper waits for a short
// while only: begin calls it back.
func (r *run) await(step int, leader bool) bool {
	moved := func() bool { return int(r.cursor.Load()>>stepShift) != step }
	if spinUntil(r.pool.stepSpin(), moved) {
		return true
	}
	if !leader {
		return false
	}
	r.parked.Swap(true) // see helper.await
	if moved() && r.parked.CompareAndSwap(true, false) {
		return true
	}
	<-r.wake
	return true
}
