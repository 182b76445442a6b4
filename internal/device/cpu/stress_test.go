package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// stressTime is how long TestStress runs.
func stressTime() time.Duration {
	return effort.Of(300*time.Millisecond, 700*time.Millisecond, 2*time.Second, 2*time.Minute)
}

// stressed is a program of the stress test and what it must give.
type stressed struct {
	graph  *ir.Graph
	leaves [][]byte
	env    ir.Env
	module device.Module
	want   [][]byte
}

// run runs it with leaves on the Go heap and fresh outputs.
func (s *stressed) run(d *Device) error {
	b := &device.Bound{Module: s.module, Env: s.env}
	for _, l := range s.leaves {
		buf, err := d.Import(bytes.Clone(l))
		if err != nil {
			return err
		}
		b.Leaves = append(b.Leaves, buf)
	}
	for _, w := range s.want {
		buf, err := d.Alloc(len(w))
		if err != nil {
			return err
		}
		b.Outputs = append(b.Outputs, buf)
	}
	ev, err := d.Submit(context.Background(), b)
	if err == nil {
		err = ev.Wait(context.Background())
	}
	if err != nil {
		return err
	}
	for i, o := range b.Outputs {
		if !bytes.Equal(o.Bytes(), s.want[i]) {
			return fmt.Errorf("output %d differs\n%v", i, s.graph)
		}
		if err := o.Close(); err != nil {
			return err
		}
	}
	return nil
}

// programs draws n random programs that run.
func programs(t *testing.T, d *Device, n int) []*stressed {
	var all []*stressed
	for seed := uint64(0); len(all) < n; seed++ {
		c := irtest.Config{Symbolic: seed%2 == 0, MaxElements: 8000, MaxNodes: 12}
		s := &stressed{}
		s.graph, s.leaves, s.env = irtest.Random(rand.New(rand.NewPCG(seed, 23)), c)
		var err error
		if s.want, err = evaluate(d, s.graph, s.env, s.leaves, device.Options{}); err != nil {
			continue // an index out of range, a division by zero
		}
		if s.module, err = d.CompileGraph(context.Background(), s.graph, device.Options{}); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
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

// TestStress runs whole programs from many goroutines while the collector runs
// all the time, the profiler interrupts, stacks grow and other programs are
// compiled and closed. Every result must have the bits it has alone.
func TestStress(t *testing.T) {
	d := machines(t)[0]
	all := programs(t, d, 24)
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Log("no CPU profile:", err) // go test -cpuprofile has one already
	}
	defer pprof.StopCPUProfile()

	stop := time.Now().Add(stressTime())
	var wait sync.WaitGroup
	var runs, compiled atomic.Int64
	for g := range 24 {
		wait.Go(func() {
			for i := g; time.Now().Before(stop); i++ {
				s := all[i%len(all)]
				var err error
				if i%4 == 0 { // a fresh stack, grown until the kernel runs near its end
					var one sync.WaitGroup
					one.Go(func() { deep(i%200, func() { err = s.run(d) }) })
					one.Wait()
				} else {
					err = s.run(d)
				}
				if err != nil {
					t.Error(err)
					return
				}
				runs.Add(1)
			}
		})
	}
	for g := range 2 {
		wait.Go(func() { // programs that come and go
			for i := g; time.Now().Before(stop); i++ {
				s := *all[i%len(all)]
				var err error
				if s.module, err = d.CompileGraph(context.Background(), s.graph, device.Options{}); err == nil {
					if err = s.run(d); err == nil {
						err = s.module.Close()
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				compiled.Add(1)
			}
		})
	}
	wait.Go(func() {
		for time.Now().Before(stop) {
			runtime.GC()
		}
	})
	wait.Wait()
	t.Logf("%d runs, %d programs compiled and closed", runs.Load(), compiled.Load())
	for _, s := range all {
		if err := s.module.Close(); err != nil {
			t.Error(err)
		}
	}
	runtime.GC()
	if live := d.Stats().Allocated; live != 0 {
		t.Errorf("%d bytes were never freed", live)
	}
}
