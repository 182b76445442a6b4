package jit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkStep is a plan of 100 empty steps of 2 tasks: the time a step.
//
// "idle" tasks are empty, so that mostly the caller does both; "busy" ones take
// some microseconds, so that each worker does one: what a step takes beyond one
// task is the cost of the barrier.
func BenchmarkStep(b *testing.B) {
	b.Run("busy", func(b *testing.B) {
		const pauses = 64
		var p Pool
		defer p.Close()
		steps := make([]Step, 100)
		for i := range steps {
			steps[i] = funcStep{2, func(int, int) error { pause(pauses); return nil }}
		}
		var both, task time.Duration
		for b.Loop() {
			begin := time.Now()
			for range steps {
				pause(pauses)
			}
			task += time.Since(begin)
			begin = time.Now()
			p.RunSteps(context.Background(), steps, 2)
			both += time.Since(begin)
		}
		perStep := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N*len(steps)) }
		b.ReportMetric(perStep(task), "ns/task")
		b.ReportMetric(perStep(both-task), "ns-barrier/step")
	})
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("idle/threads=%d", threads), func(b *testing.B) {
			var p Pool
			defer p.Close()
			steps := make([]Step, 100)
			for i := range steps {
				steps[i] = funcStep{2, func(int, int) error { return nil }}
			}
			for b.Loop() {
				p.RunSteps(context.Background(), steps, threads)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/step")
		})
	}
}

// BenchmarkWake is a run of two tasks, the caller's lasting until the helper has
// done the other: hot right after the last run, cold once the helper has parked.
func BenchmarkWake(b *testing.B) {
	both := func(p *Pool) time.Duration {
		var here atomic.Int32
		begin := time.Now()
		err := p.Run(context.Background(), 2, 2, func(int, int) error {
			for here.Add(1); here.Load() < 2; {
				if pause(1); time.Since(begin) > time.Second {
					return errors.New("the helper did not come")
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	for _, cold := range []bool{false, true} {
		b.Run(fmt.Sprintf("cold=%t", cold), func(b *testing.B) {
			var p Pool
			defer p.Close()
			both(&p)
			var spent []time.Duration
			for b.Loop() {
				if cold {
					time.Sleep(200 * time.Microsecond)
				}
				spent = append(spent, both(&p))
			}
			slices.Sort(spent)
			b.ReportMetric(float64(spent[len(spent)/2].Nanoseconds()), "ns-median/run")
		})
	}
}
