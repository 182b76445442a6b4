package jit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// withProcs sets GOMAXPROCS for a test; more than the machine has is fine.
func withProcs(t testing.TB, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	if runtime.GOMAXPROCS(0) != n {
		t.Skip("this platform has no threads")
	}
}

// sumSteps is a plan in which each step needs all of the one before: task t of
// step s writes the sum over the previous step's values, plus t.
type sumSteps struct {
	values  [][]int
	threads int
	busy    []atomic.Int32 // by worker: no two tasks at once
}

type sumStep struct {
	plan *sumSteps
	step int
}

func (s sumStep) Tasks() int { return len(s.plan.values[s.step]) }

func (s sumStep) Do(worker, task int) error {
	p := s.plan
	if worker < 0 || worker >= p.threads {
		return fmt.Errorf("worker %d of %d", worker, p.threads)
	}
	if p.busy[worker].Add(1) != 1 {
		return fmt.Errorf("worker %d has two tasks at once", worker)
	}
	defer p.busy[worker].Add(-1)
	sum := 0
	for i := s.step - 1; i >= 0 && sum == 0; i-- { // past empty steps
		for _, v := range p.values[i] {
			sum = (sum + v) % 1_000_003
		}
	}
	p.values[s.step][task] = sum + task + 1
	return nil
}

func newSumSteps(threads int, tasks ...int) (*sumSteps, []Step) {
	p := &sumSteps{threads: threads, busy: make([]atomic.Int32, threads)}
	var steps []Step
	for i, n := range tasks {
		p.values = append(p.values, make([]int, n))
		steps = append(steps, sumStep{p, i})
	}
	return p, steps
}

func TestRunStepsBarrier(t *testing.T) {
	tasks := []int{3, 1, 17, 0, 2, 64, 0, 0, 5, 1, 1, 40, 0}
	alone, steps := newSumSteps(1, tasks...)
	var p Pool
	defer p.Close()
	if err := p.RunSteps(context.Background(), steps, 1); err != nil {
		t.Fatal(err)
	}
	for _, procs := range []int{1, 2, 5} {
		withProcs(t, procs)
		for _, spin := range []time.Duration{0, -1, time.Millisecond} {
			p := Pool{Spin: spin}
			for range 300 {
				many, steps := newSumSteps(4, tasks...)
				if err := p.RunSteps(context.Background(), steps, 4); err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(many.values) != fmt.Sprint(alone.values) {
					t.Fatalf("procs %d, spin %v: a step began before the one before it was done", procs, spin)
				}
			}
			p.Close()
		}
	}
}

// The worker that began a step may ask for helpers after others have done that
// step and the rest.
func TestEndedRunAsksForHelpers(t *testing.T) {
	_, steps := newSumSteps(2, 2)
	counts, _, err := countTasks(steps)
	if err != nil {
		t.Fatal(err)
	}
	const procs = 1 // no helper may start
	var p Pool
	r := newRun(context.Background(), &p, steps, counts, 2, procs)
	p.recruit(r, 2)
	if len(p.short) != 1 {
		t.Fatal("a run under way is not listed")
	}
	p.forget(r)
	r.cursor.Store(uint64(len(steps)) << stepShift)
	r.listed.Store(false)
	p.recruit(r, 2)
	if len(p.short) != 0 {
		t.Error("an ended run is listed, and nobody will take it off")
	}
}

func TestRunFromManyGoroutines(t *testing.T) {
	withProcs(t, 4)
	var p Pool
	defer p.Close()
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 200 {
				n := (g*31 + i) % 50
				done := make([]atomic.Int32, n)
				err := p.Run(context.Background(), n, 3, func(worker, task int) error {
					if done[task].Add(1) != 1 || worker > 2 {
						return fmt.Errorf("task %d twice or worker %d", task, worker)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				for task := range done {
					if done[task].Load() != 1 {
						t.Errorf("task %d of %d was left out", task, n)
					}
				}
			}
		})
	}
	wg.Wait()
	if live := p.live.Load(); live > 3 {
		t.Errorf("%d helpers for GOMAXPROCS 4", live)
	}
}

// A helper that comes free joins a run under way: here the second run begins
// while the only helper is still on its way out of the first.
func TestFreedHelpersJoin(t *testing.T) {
	withProcs(t, 2)
	var p Pool
	defer p.Close()
	for range 2000 {
		var here atomic.Int32
		err := p.Run(context.Background(), 2, 2, func(int, int) error {
			here.Add(1)
			for end := time.Now().Add(10 * time.Second); here.Load() < 2; pause(1) {
				if time.Now().After(end) {
					return errors.New("the helper did not come")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A run that finds all helpers busy goes on alone.
func TestRunNeverWaitsForHelpers(t *testing.T) {
	withProcs(t, 2)
	var p Pool
	defer p.Close()
	release := make(chan struct{})
	var started, ended sync.WaitGroup
	started.Add(2)
	ended.Go(func() {
		p.Run(context.Background(), 2, 2, func(worker, task int) error {
			started.Done()
			<-release
			return nil
		})
	})
	started.Wait() // the only helper is stuck
	n := 0
	if err := p.Run(context.Background(), 10, 2, func(worker, task int) error { n++; return nil }); err != nil || n != 10 {
		t.Errorf("%d tasks of 10, %v", n, err)
	}
	close(release)
	ended.Wait()
}

func TestOneThreadStartsNothing(t *testing.T) {
	withProcs(t, 4)
	var p Pool
	goroutines := runtime.NumGoroutine()
	for same := 0; same < 20; same++ { // those of earlier tests have ended then
		time.Sleep(time.Millisecond)
		if n := runtime.NumGoroutine(); n != goroutines {
			goroutines, same = n, 0
		}
	}
	for _, f := range []func() error{
		func() error { return p.Run(context.Background(), 100, 1, func(w, _ int) error { return nil }) },
		func() error { return p.Run(context.Background(), 1, 4, func(w, _ int) error { return nil }) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if n := runtime.NumGoroutine(); n != goroutines || p.live.Load() != 0 {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	withProcs(t, 3)
	var p Pool
	defer p.Close()
	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(context.Background())
	type kind struct {
		name  string
		fail  func() error
		check func(error) bool
	}
	for _, threads := range []int{1, 3} {
		for _, k := range []kind{
			{"error", func() error { return boom }, func(err error) bool { return errors.Is(err, boom) }},
			{"panic", func() error { panic("ouch") }, func(err error) bool {
				var pe *PanicError
				return errors.As(err, &pe) && pe.Value == "ouch" && len(pe.Stack) > 0
			}},
			{"panic with error", func() error { panic(boom) }, func(err error) bool { return errors.Is(err, boom) }},
			{"cancel", func() error { cancel(boom); return nil }, func(err error) bool { return errors.Is(err, boom) }},
		} {
			ctx := context.Context(context.Background())
			if k.name == "cancel" {
				ctx, cancel = context.WithCancelCause(ctx)
			}
			var running, later atomic.Int32
			fail := func(worker, task int) error {
				running.Add(1)
				defer running.Add(-1)
				if task == 7 {
					return k.fail()
				}
				return nil
			}
			next := func(worker, task int) error { later.Add(1); return nil }
			err := p.RunSteps(ctx, []Step{funcStep{50, fail}, funcStep{50, next}}, threads)
			if err == nil || !k.check(err) {
				t.Errorf("%s on %d threads: %v", k.name, threads, err)
			}
			if running.Load() != 0 || later.Load() != 0 {
				t.Errorf("%s on %d threads: %d tasks still running, %d of the next step done", k.name, threads, running.Load(), later.Load())
			}
		}
	}
	cancel(nil)
	_ = ctx
	if err := p.Run(context.Background(), 20, 3, func(int, int) error { return nil }); err != nil {
		t.Errorf("the pool after errors: %v", err)
	}
}

func TestHelpersEnd(t *testing.T) {
	withProcs(t, 4)
	busy := func(p *Pool) {
		var all sync.WaitGroup
		all.Add(4)
		err := p.Run(context.Background(), 4, 4, func(int, int) error { all.Done(); all.Wait(); return nil })
		if err != nil || p.live.Load() != 3 {
			t.Fatalf("%v, %d helpers", err, p.live.Load())
		}
	}
	wait := func(p *Pool, want int32, why string) {
		for end := time.Now().Add(5 * time.Second); p.live.Load() > want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d helpers left", why, p.live.Load())
			}
		}
	}
	goroutines := runtime.NumGoroutine()
	idle := &Pool{Linger: 20 * time.Millisecond}
	busy(idle)
	wait(idle, 0, "idle")
	busy(idle) // and start again

	closed := &Pool{}
	busy(closed)
	closed.Close()
	wait(closed, 0, "closed")
	n := 0
	if err := closed.Run(context.Background(), 5, 4, func(int, int) error { n++; return nil }); err != nil || n != 5 {
		t.Errorf("a closed pool did %d tasks of 5: %v", n, err)
	}

	shrunk := &Pool{}
	busy(shrunk)
	runtime.GOMAXPROCS(2)
	for end := time.Now().Add(5 * time.Second); shrunk.live.Load() > 1 && time.Now().Before(end); {
		shrunk.Run(context.Background(), 100, 4, func(int, int) error { return nil })
	}
	if live := shrunk.live.Load(); live > 1 {
		t.Errorf("%d helpers after GOMAXPROCS went from 4 to 2", live)
	}
	shrunk.Close()
	idle.Close()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
}

// A goroutine that is held up within start rouses a helper which has done that
// job since, and is idle and parked: it must not take it for the end.
func TestRousedWithoutAJob(t *testing.T) {
	withProcs(t, 2)
	p := &Pool{Spin: -1}
	defer p.Close()
	together := func() {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var here atomic.Int32
		err := p.Run(ctx, 2, 2, func(int, int) error {
			for here.Add(1); here.Load() < 2; runtime.Gosched() {
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("two tasks at once: %v", err)
		}
	}
	idle := func() *helper {
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
			p.mu.Lock()
			if len(p.idle) > 0 && p.idle[0].parked.Load() {
				defer p.mu.Unlock()
				return p.idle[0]
			}
			p.mu.Unlock()
		}
		t.Fatal("the helper did not become idle")
		return nil
	}
	for range 20 {
		together()
		h := idle()
		h.rouse(&endOfWork)
		if again := idle(); again != h {
			t.Fatal("another helper")
		}
	}
	together()
}

// Workers let helpers in only while some are on their way.
func TestWokenHelpersArrive(t *testing.T) {
	withProcs(t, 2)
	p := &Pool{Spin: -1}
	defer p.Close()
	for range 50 {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		var here atomic.Int32
		steps := []Step{funcStep{2, func(int, int) error { // both at once
			for here.Add(1); here.Load() < 2 && ctx.Err() == nil; runtime.Gosched() {
			}
			return ctx.Err()
		}}}
		r := newRun(ctx, p, steps, []uint32{2}, 2, 2)
		err := r.lead()
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if n := r.coming.Load(); n != 0 {
			t.Fatalf("%d helpers are on their way after all have come", n)
		}
	}
}

// Where others take the time that a worker yields, it does not go on with that.
func TestLetIn(t *testing.T) {
	var p Pool
	n := 0
	for range 3 {
		p.letIn(func() { n++; time.Sleep(2 * slowYield) })
	}
	if n != 1 {
		t.Errorf("%d of 3 yields to others, want 1", n)
	}
	// As after a while. A yield may be slow by chance, but not each of a hundred.
	for range 100 {
		p.yieldAt.Store(0)
		n = 0
		p.letIn(func() { n++ })
		if n == 0 {
			t.Fatal("no yield after a pause")
		}
		if p.yieldAt.Load() == 0 {
			return
		}
	}
	t.Error("a pause after each yield that took no time")
}

func TestTooManyTasks(t *testing.T) {
	withProcs(t, 2)
	var p Pool
	defer p.Close()
	for _, n := range []int{-1, 1 << 31} {
		if err := p.Run(context.Background(), n, 2, func(int, int) error { return nil }); err == nil {
			t.Errorf("%d tasks were accepted", n)
		}
	}
}
