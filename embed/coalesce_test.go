package embed

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo is a coalescer whose vectors are the texts themselves. A batch takes as
// long as gate says; a text that begins with -1 is an error.
type echo struct {
	coalescer
	gate    func()
	mu      sync.Mutex
	batches [][]int // tokens of each text
}

var errBad = errors.New("a bad text")

func newEcho(tokens int, gate func()) *echo {
	e := &echo{gate: gate}
	e.tokens = tokens
	e.run = func(ctx context.Context, texts [][]int32, total int) ([][]float32, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var sizes []int
		var vectors [][]float32
		sum := 0
		for _, t := range texts {
			sizes = append(sizes, len(t))
			sum += len(t)
			if t[0] == -1 {
				return nil, errBad
			}
		}
		if sum != total {
			return nil, errors.New("the tokens do not add up")
		}
		e.gate()
		for _, t := range texts { // read to the end of a run
			vectors = append(vectors, []float32{float32(t[0])})
		}
		e.mu.Lock()
		e.batches = append(e.batches, sizes)
		e.mu.Unlock()
		return vectors, nil
	}
	return e
}

func text(first int32, tokens int) []int32 {
	t := make([]int32, tokens)
	t[0] = first
	return t
}

// oneLeader makes one batch run at a time for the rest of the test.
func oneLeader(t *testing.T) {
	old := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// waitFor waits until n requests are in the queue.
func (e *echo) waitFor(t *testing.T, n int) {
	t.Helper()
	for range 5000 {
		e.coalescer.mu.Lock()
		have := len(e.waiting)
		e.coalescer.mu.Unlock()
		if have == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the queue never held %d requests", n)
}

// What comes while a batch runs goes into the next ones, in order, none larger
// than allowed; one bad text is an error for its caller alone.
func TestCoalesce(t *testing.T) {
	oneLeader(t)
	started, release := make(chan struct{}, 10), make(chan struct{})
	e := newEcho(10, func() { started <- struct{}{}; <-release })
	var wg sync.WaitGroup
	ask := func(first int32, tokens int, want error) {
		wg.Go(func() {
			v, err := e.do(context.Background(), [][]int32{text(first, tokens)}, tokens)
			if !errors.Is(err, want) || err == nil && (len(v) != 1 || v[0][0] != float32(first)) {
				t.Errorf("text %d: %v, %v", first, v, err)
			}
		})
	}
	ask(1, 4, nil)
	<-started
	for i, r := range []struct {
		first  int32
		tokens int
		want   error
	}{{2, 4, nil}, {3, 4, nil}, {4, 4, nil}, {-1, 3, errBad}, {6, 25, nil}, {7, 1, nil}} {
		ask(r.first, r.tokens, r.want)
		e.waitFor(t, i+1)
	}
	close(release)
	wg.Wait()
	if want := [][]int{{4}, {4, 4}, {4}, {25}, {1}}; !slices.EqualFunc(e.batches, want, slices.Equal) {
		t.Errorf("batches %v, want %v", e.batches, want)
	}
	if e.leaders != 0 || len(e.waiting) != 0 {
		t.Errorf("%d leaders and %d requests are left", e.leaders, len(e.waiting))
	}
}

// Whoever gives up while waiting leaves at once; the others get their results.
func TestCoalesceCancel(t *testing.T) {
	oneLeader(t)
	started, release := make(chan struct{}, 10), make(chan struct{})
	e := newEcho(100, func() { started <- struct{}{}; <-release })
	var wg sync.WaitGroup
	var done atomic.Int32
	ask := func(ctx context.Context, first int32) {
		wg.Go(func() {
			v, err := e.do(ctx, [][]int32{text(first, 1)}, 1)
			if err == nil && v[0][0] == float32(first) {
				done.Add(1)
			} else if !errors.Is(err, context.Canceled) {
				t.Error(v, err)
			}
		})
	}
	ask(context.Background(), 1)
	<-started
	ctx, cancel := context.WithCancel(context.Background())
	ask(ctx, 2)
	e.waitFor(t, 1)
	ask(context.Background(), 3)
	e.waitFor(t, 2)
	cancel()
	e.waitFor(t, 1)
	close(release)
	wg.Wait()
	if done.Load() != 2 || e.leaders != 0 {
		t.Errorf("%d of 2 done, %d leaders", done.Load(), e.leaders)
	}
}

// Random arrivals and cancellations: every caller gets its own result or its
// context's error, and the coalescer ends idle.
func TestCoalesceStress(t *testing.T) {
	for _, procs := range []int{1, 4, 16} {
		old := runtime.GOMAXPROCS(procs)
		e := newEcho(7, runtime.Gosched)
		var wg sync.WaitGroup
		for g := range int32(24) {
			wg.Go(func() {
				for i := range int32(200) {
					ctx, cancel := context.WithCancel(context.Background())
					if (g+i)%5 == 0 {
						go cancel()
					}
					first := g*1000 + i
					texts := [][]int32{text(first, int(i%4)+1), text(first, 1)}
					v, err := e.do(ctx, texts, int(i%4)+2)
					cancel()
					texts[0][0], texts[1][0] = 0, 0 // the caller's again, though its batch may still run
					if err != nil && !errors.Is(err, context.Canceled) || err == nil && (len(v) != 2 || v[1][0] != float32(first)) {
						t.Errorf("text %d: %v, %v", first, v, err)
					}
				}
			})
		}
		wg.Wait()
		e.coalescer.mu.Lock()
		if e.leaders != 0 || len(e.waiting) != 0 {
			t.Errorf("%d leaders and %d requests are left", e.leaders, len(e.waiting))
		}
		e.coalescer.mu.Unlock()
		runtime.GOMAXPROCS(old)
	}
}

// A caller that gives up while another runs its texts has its slices back: the
// race detector watches.
func TestCoalesceLeavesTexts(t *testing.T) {
	oneLeader(t)
	started, release := make(chan struct{}), make(chan struct{})
	e := newEcho(100, func() { started <- struct{}{}; <-release })
	var wg sync.WaitGroup
	ask := func(ctx context.Context, first int32, want error) {
		wg.Go(func() {
			mine := text(first, 1)
			if _, err := e.do(ctx, [][]int32{mine}, 1); !errors.Is(err, want) {
				t.Errorf("text %d: %v", first, err)
			}
			mine[0] = 0
		})
	}
	ask(context.Background(), 1, nil)
	<-started
	ask(context.Background(), 2, nil)
	e.waitFor(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ask(ctx, 3, context.Canceled)
	e.waitFor(t, 2)
	release <- struct{}{}
	<-started // 2 runs its text and that of 3
	cancel()
	time.Sleep(10 * time.Millisecond) // 3 returns, and writes
	release <- struct{}{}
	wg.Wait()
}

// A batch runs as long as one of its requests is waited for, and no longer.
func TestCoalesceWaitedFor(t *testing.T) {
	type key struct{}
	var batch []*request
	var cancels []context.CancelCauseFunc
	for i := range 3 {
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, i))
		defer cancel(nil)
		batch, cancels = append(batch, &request{ctx: ctx, texts: [][]int32{text(1, 2)}, tokens: 2}), append(cancels, cancel)
	}
	errGone := errors.New("the last one left")
	runs := 0
	c := &coalescer{tokens: 100, run: func(ctx context.Context, texts [][]int32, _ int) ([][]float32, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		runs++
		if len(texts) != 3 || ctx.Value(key{}) != 0 {
			t.Errorf("%d texts run with the values of %v", len(texts), ctx.Value(key{}))
		}
		cancels[1](nil)
		cancels[0](nil)
		select {
		case <-ctx.Done():
			t.Error("a batch ended that one waits for")
		case <-time.After(20 * time.Millisecond):
		}
		cancels[2](errGone)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	c.runBatch(batch, 6)
	if runs != 1 || !errors.Is(batch[2].err, errGone) || !errors.Is(batch[0].err, context.Canceled) {
		t.Errorf("%d runs, errors %v, %v", runs, batch[0].err, batch[2].err)
	}
}
