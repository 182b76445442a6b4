package jit

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Step is one kernel of a plan: independent tasks, done in any order.
type Step interface {
	// Tasks is the number of tasks, the same whenever a run asks.
	Tasks() int
	// Do does one task. No two tasks run with the same worker at once, and
	// worker is below the run's threads, so it may index scratch memory. Do must
	// not end its goroutine (runtime.Goexit, testing.T.FailNow).
	Do(worker, task int) error
}

// Pool lends helpers to runs: at most GOMAXPROCS-1 goroutines, started when
// first wanted and gone after a while without work. A run takes the helpers that
// are idle and never waits for others: its caller alone can do all the work.
// The zero value is ready. A Pool serves any number of goroutines at once.
type Pool struct {
	// Spin is how long a worker without work burns its processor before it
	// parks. Waking a parked helper takes longer than a small kernel. Zero
	// means 30 microseconds between runs and 100 within one, below zero none.
	Spin time.Duration
	// Linger is how long a parked helper waits before it ends. Zero means 5 s.
	Linger time.Duration

	// Written under mu, read without it to see whether the lock is worth taking.
	idleCount atomic.Int32 // len(idle)
	live      atomic.Int32 // helpers that have not ended

	yieldAt atomic.Int64 // when a worker may yield again, since processStart

	mu     sync.Mutex
	idle   []*helper // last in, first out: the one still spinning comes first
	short  []*run    // runs that found too few
	closed bool
}

const (
	defaultSpin   = 30 * time.Microsecond
	stepSpin      = 100 * time.Microsecond // tasks take up to 60, and those of the next step come for sure
	defaultLinger = 5 * time.Second
)

// A helper that was woken may wait for the processor of a worker, which lets it in before
// it takes a task: see helper.arrive. Where another process takes that time instead,
// nothing is let in for a while.
const (
	mostYields = 2 // a run, or one more by each of its workers
	slowYield  = time.Millisecond
	yieldPause = time.Second / 2
)

var processStart = time.Now()

// letIn lets a thread run that may wait for the caller's processor.
func (p *Pool) letIn(yield func()) {
	begin := time.Since(processStart)
	if int64(begin) < p.yieldAt.Load() {
		return
	}
	yield()
	if end := time.Since(processStart); end-begin > slowYield {
		p.yieldAt.Store(int64(end + yieldPause))
	}
}

func (p *Pool) spin() time.Duration {
	if p.Spin == 0 {
		return defaultSpin
	}
	return p.Spin
}

// stepSpin is spin for a worker that waits for others to end a step.
func (p *Pool) stepSpin() time.Duration {
	if p.Spin == 0 {
		return stepSpin
	}
	return p.Spin
}

func (p *Pool) linger() time.Duration {
	if p.Linger <= 0 {
		return defaultLinger
	}
	return p.Linger
}

// Run calls f for each task below n on up to threads workers; threads below 1
// means GOMAXPROCS. See RunSteps.
func (p *Pool) Run(ctx context.Context, n, threads int, f func(worker, task int) error) error {
	return p.RunSteps(ctx, []Step{funcStep{n, f}}, threads)
}

type funcStep struct {
	n int
	f func(worker, task int) error
}

func (s funcStep) Tasks() int                { return s.n }
func (s funcStep) Do(worker, task int) error { return s.f(worker, task) }

// RunSteps does the steps one after the other, each on up to threads workers,
// the caller being worker 0. All tasks of a step are done, and their writes
// visible, before the next begins. It returns once no task is running.
//
// The first error ends the run: of a task, of ctx (looked at before every
// task), or of a panic or memory fault in a task (PanicError, FaultError).
func (p *Pool) RunSteps(ctx context.Context, steps []Step, threads int) error {
	if threads == 1 || !slices.ContainsFunc(steps, func(s Step) bool { return uint(s.Tasks()) > 1 }) {
		return runAlone(ctx, steps)
	}
	procs := runtime.GOMAXPROCS(0)
	if threads < 1 {
		threads = procs
	}
	counts, most, err := countTasks(steps)
	if err != nil {
		return err
	}
	threads = min(threads, procs, most)
	if threads <= 1 {
		return runAlone(ctx, steps)
	}
	return newRun(ctx, p, steps, counts, threads, procs).lead()
}

// runAlone is RunSteps on the calling goroutine.
func runAlone(ctx context.Context, steps []Step) error {
	return Protect(func() error {
		done := ctx.Done()
		for _, s := range steps {
			for t := range s.Tasks() {
				select {
				case <-done:
					return context.Cause(ctx)
				default:
				}
				if err := s.Do(0, t); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Close ends the helpers that are idle now; busy ones end with their run. Runs
// after Close use their caller alone.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.closed = true
	p.setIdle(nil)
	p.live.Add(-int32(len(idle)))
	p.mu.Unlock()
	for _, h := range idle {
		h.start(&endOfWork, 0)
	}
}

// recruit gives r idle helpers, and new ones while the pool may grow, until it
// has want workers. Where they are too few, helpers that come free will join r.
func (p *Pool) recruit(r *run, want int) {
	for int(r.present.Load()) < want && (p.mayHelp(r.procs) || !r.listed.Load()) {
		h, worker := p.take(r, want)
		if h == nil {
			return
		}
		h.start(r, worker)
	}
}

// mayHelp is the look without the lock that keeps a busy pool cheap.
func (p *Pool) mayHelp(procs int) bool {
	return p.idleCount.Load() > 0 || int(p.live.Load()) < procs-1
}

// take returns a helper out of the idle list, or a new one, and the number it
// has in r.
func (p *Pool) take(r *run, want int) (h *helper, worker int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || int(r.present.Load()) >= want {
		return nil, 0
	}
	if n := len(p.idle); n > 0 {
		h = p.idle[n-1]
		p.setIdle(p.idle[:n-1])
	} else if int(p.live.Load()) < r.procs-1 {
		h = &helper{pool: p, wake: make(chan struct{}, 1)}
		p.live.Add(1)
		h.expect(r)
		go h.loop()
		go nothing()
	} else {
		p.list(r)
		return nil, 0
	}
	return h, r.join()
}

// list notes, under mu, that r is short of helpers. The worker that asks may be
// behind: others can have gone on to the end meanwhile. Then either it sees that
// here, or the caller, who looks at listed after the end, waits in forget.
func (p *Pool) list(r *run) {
	if r.listed.Swap(true) || r.ended() {
		return
	}
	p.short = append(p.short, r)
}

// release takes back the worker number of a helper that leaves r. The helper
// goes on to the run it returns, or becomes idle; it ends if stay is false.
func (p *Pool) release(r *run, h *helper) (next *run, stay bool) {
	procs := runtime.GOMAXPROCS(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	r.leave(h.worker)
	if p.closed || int(p.live.Load()) > procs-1 {
		p.live.Add(-1)
		return nil, false
	}
	// It is among the idle before it looks: a run that begins a step looks at their
	// number after that, so that one of the two sees the other.
	p.setIdle(append(p.idle, h))
	for _, next := range p.short {
		if len(next.free) > 0 && next.hasTasks() {
			p.setIdle(p.idle[:len(p.idle)-1])
			h.worker = next.join()
			return next, true
		}
	}
	return nil, true
}

// forget takes a run that has ended off the list of those short of helpers.
func (p *Pool) forget(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.short, r); i >= 0 {
		p.short = slices.Delete(p.short, i, i+1)
	}
}

// retire ends an idle helper; it is false where a run has just taken it.
func (p *Pool) retire(h *helper) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, h)
	if i < 0 {
		return false
	}
	p.setIdle(slices.Delete(p.idle, i, i+1))
	p.live.Add(-1)
	return true
}

func (p *Pool) setIdle(idle []*helper) {
	p.idle = idle
	p.idleCount.Store(int32(len(idle)))
}
