package jit

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/effort"
)

// stressTime is how long each of the tests below runs.
func stressTime() time.Duration {
	return effort.Of(500*time.Millisecond, 500*time.Millisecond, time.Second, time.Minute)
}

// round computes y += x*a on fresh memory, half of it on the Go heap, in tasks of
// the pool, and returns y: whatever a collector or a moving stack could spoil.
func round(c *Code, p *Pool, a *Allocator, seed uint64) ([]float32, error) {
	const tasks, perTask = 8, 512
	r := rand.New(rand.NewPCG(seed, 1))
	fill := func(x []float32) []float32 {
		for i := range x {
			x[i] = r.Float32() - 0.5
		}
		return x
	}
	y, x := fill(make([]float32, tasks*perTask)), fill(make([]float32, tasks*perTask))
	m, err := a.Alloc(4 * tasks * perTask)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	w := fill(unsafe.Slice((*float32)(m.Pointer()), tasks*perTask))
	entry := c.Entry(0)
	err = p.Run(context.Background(), tasks, 2, func(worker, task int) error {
		at := task * perTask
		args := fmaArgs{unsafe.Pointer(&y[at]), unsafe.Pointer(&x[at]), unsafe.Pointer(&w[at]), perTask}
		Call(entry, unsafe.Pointer(&args))
		return nil
	})
	runtime.KeepAlive(m)
	return y, err
}

// deep calls f with n more frames on the stack, so that the stack grows.
//
//go:noinline
func deep(n int, f func()) byte {
	var pad [128]byte
	pad[n%128] = byte(n)
	if n == 0 {
		f()
		return pad[0]
	}
	return deep(n-1, f) + pad[(n+1)%128]
}

// TestStress runs kernels from many goroutines with the collector forced, the
// CPU profiler and the tracer on, stacks growing and code mapped and unmapped,
// and compares every result bit for bit.
func TestStress(t *testing.T) {
	c := load(t, "fma")
	withProcs(t, 4)
	var p Pool
	defer p.Close()
	var a Allocator
	var want [4][]float32
	for s := range want {
		var err error
		if want[s], err = round(c, &p, &a, uint64(s)); err != nil {
			t.Fatal(err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	defer observe(t)()

	stop := time.Now().Add(stressTime())
	var wg sync.WaitGroup
	var rounds, mapped, collections atomic.Int64
	for g := range 32 {
		wg.Go(func() {
			for i := g; time.Now().Before(stop); i++ {
				s := i % len(want)
				var got []float32
				var err error
				work := func() { got, err = round(c, &p, &a, uint64(s)) }
				if i%8 == 0 { // a fresh stack, grown until the kernel runs near its end
					var one sync.WaitGroup
					one.Go(func() { deep(i%200, work) })
					one.Wait()
				} else {
					work()
				}
				if err != nil || !slices.Equal(got, want[s]) {
					t.Errorf("a result differs (%v)", err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	wg.Go(func() {
		for time.Now().Before(stop) {
			runtime.GC()
			collections.Add(1)
		}
	})
	wg.Go(func() {
		for time.Now().Before(stop) {
			fresh, err := Map(kernels[runtime.GOARCH]["ret"].code())
			if err != nil {
				t.Error(err)
				return
			}
			Call(fresh.Entry(0), nil)
			if err := fresh.Close(); err != nil {
				t.Error(err)
			}
			mapped.Add(1)
		}
	})
	wg.Go(func() { // walk all stacks, stop the world
		buf := make([]byte, 1<<20)
		var ms runtime.MemStats
		for ; time.Now().Before(stop); time.Sleep(3 * time.Millisecond) {
			runtime.Stack(buf, true)
			runtime.ReadMemStats(&ms)
		}
	})
	wg.Wait()
	t.Logf("%d rounds, %d collections, %d codes mapped and unmapped", rounds.Load(), collections.Load(), mapped.Load())
	if s := a.Stats(); s.Live != 0 {
		t.Errorf("%d bytes were never freed", s.Live)
	}
}

// observe turns on all that looks at running goroutines, and returns what
// turns it off again.
func observe(t *testing.T) (off func()) {
	var profile, events bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Log("no CPU profile:", err) // go test -cpuprofile has one already
	}
	if err := trace.Start(&events); err != nil {
		t.Log("no trace:", err)
	}
	runtime.SetBlockProfileRate(1)
	before := runtime.SetMutexProfileFraction(1)
	return func() {
		runtime.SetMutexProfileFraction(before)
		runtime.SetBlockProfileRate(0)
		trace.Stop()
		pprof.StopCPUProfile()
		t.Logf("profile of %d bytes, trace of %d", profile.Len(), events.Len())
	}
}

// A loop of calls lets the world stop: the trampoline's prologue is where it is
// preempted. Through a NOSPLIT trampoline this took seconds.
func TestStopTheWorldLatency(t *testing.T) {
	c := load(t, "busy")
	withProcs(t, 2)
	entry := c.Entry(0)
	args := busyArgs{n: 100_000} // some 30 to 100 microseconds
	begin := time.Now()
	for range 100 {
		Call(entry, unsafe.Pointer(&args))
	}
	one := time.Since(begin) / 100
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		own := args
		for !stop.Load() {
			Call(entry, unsafe.Pointer(&own))
		}
	})
	var waits []time.Duration
	for end := time.Now().Add(stressTime() / 4); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var ms runtime.MemStats
		begin := time.Now()
		runtime.ReadMemStats(&ms)
		waits = append(waits, time.Since(begin))
	}
	stop.Store(true)
	wg.Wait()
	slices.Sort(waits)
	median := waits[len(waits)/2]
	t.Logf("a call takes %v; stopping the world %v in the median, at most %v", one, median, waits[len(waits)-1])
	// Far above what it takes even where others want the processors, and far
	// below the seconds of a loop that cannot be stopped.
	if limit := 20*one + 50*time.Millisecond; median > limit {
		t.Errorf("stopping the world took %v, more than %v", median, limit)
	}
}
